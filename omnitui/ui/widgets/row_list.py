"""A list of one-line rows with a cursor. It draws only the rows on the screen, and only when they change."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from omnitui.ui.widgets.rows import Row, Toned


class RowList(ScrollView, Toned, can_focus=True):
    """Shows `rows`; the cursor stays on the row with the same key when they change."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"row-list--cursor", *Toned.COMPONENT_CLASSES}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home,g", "go(0)", "first row", show=False),
        Binding("end,G", "go(-1)", "last row", show=False),
        Binding("enter", "choose", "open", tooltip="Open what the cursor is on"),
    ]
    cursor: var[int] = var(0, init=False)
    """The row that the cursor is on."""

    class Highlighted(Message):
        """The user moved the cursor to a row."""

        def __init__(self, rows: "RowList", key: str) -> None:
            super().__init__()
            self.rows = rows
            self.key = key

        @property
        def control(self) -> "RowList":
            """The list."""
            return self.rows

    class Chosen(Highlighted):
        """The user pressed enter on a row, or clicked the one that the cursor was on."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._rows: tuple[Row, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    @property
    def key(self) -> str:
        """The key of the row that the cursor is on, or an empty string."""
        return self._rows[self.cursor].key if self.cursor < len(self._rows) else ""

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows; those that are the same are not drawn again."""
        before, at = self._rows, self.key
        self._rows = tuple(rows)
        keys = [row.key for row in self._rows]
        if at and at in keys:
            self.set_reactive(RowList.cursor, keys.index(at))
        else:
            self.set_reactive(RowList.cursor, self._nearest(min(self.cursor, len(keys) - 1)))
        if len(before) != len(self._rows):
            self.virtual_size = Size(0, len(self._rows))
            self.refresh()
            return
        width, top = self.scrollable_content_region.width, self.scroll_offset.y
        for y, (old, new) in enumerate(zip(before, self._rows, strict=True)):
            if old != new:
                first, count = self.changed_cells(old, new, width)
                self.refresh(Region(first, y - top, count, 1))

    def move_to(self, key: str) -> None:
        """Put the cursor on the row with this key, if it is there, and bring it into view."""
        for y, row in enumerate(self._rows):
            if row.key == key:
                self.cursor = y
                self.call_after_refresh(self._into_view)

    def watch_cursor(self, before: int, after: int) -> None:
        """Draw the two rows that changed."""
        self.refresh_line(before)
        self.refresh_line(after)
        self._into_view()

    def _into_view(self) -> None:
        self.scroll_to_region(Region(0, self.cursor, 1, 1), animate=False, force=True)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.call_after_refresh(self._into_view)

    def action_move(self, by: int) -> None:
        """Move the cursor, over rows that cannot be chosen."""
        y = self.cursor + by
        while 0 <= y < len(self._rows) and not self._rows[y].key:
            y += by
        if 0 <= y < len(self._rows):
            self._user_goes(y)

    def action_page(self, pages: int) -> None:
        """Move the cursor by whole screens."""
        self._user_goes(self._nearest(self.cursor + pages * max(1, self.size.height - 1)))

    def action_go(self, y: int) -> None:
        """Move the cursor to the first or the last row."""
        self._user_goes(self._nearest(y if y >= 0 else len(self._rows) - 1))

    def _nearest(self, y: int) -> int:
        y = max(0, min(y, len(self._rows) - 1))
        fits = [other for other, row in enumerate(self._rows) if row.key]
        return min(fits, key=lambda other: abs(other - y), default=0)

    def action_choose(self) -> None:
        """Tell that the row under the cursor was chosen."""
        if self.key:
            self.post_message(self.Chosen(self, self.key))

    def _user_goes(self, y: int) -> None:
        if self._rows and y != self.cursor:
            self.cursor = y
            self.post_message(self.Highlighted(self, self.key))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the row, or choose it when the cursor is there."""
        y = event.y - self.gutter.top + self.scroll_offset.y
        if 0 <= y < len(self._rows) and self._rows[y].key:
            if y == self.cursor:
                self.action_choose()
            else:
                self._user_goes(y)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget."""
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        if index >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        base = self.rich_style
        if index == self.cursor and self._rows[index].key:
            base += self.get_component_rich_style("row-list--cursor", partial=True)
        return self.strip(self._rows[index], width, base)
