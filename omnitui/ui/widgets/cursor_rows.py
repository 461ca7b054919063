"""Rows with a cursor that keys and the mouse move. Only the rows on the screen are drawn."""

from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from omnitui.ui.widgets.rows import Row, Toned


class CursorRows(ScrollView, Toned, can_focus=True):
    """Draws `total` rows, made by `row_at`, below `HEAD` lines that stay."""

    ALLOW_SELECT = False
    HEAD: ClassVar[int] = 0
    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--cursor", *Toned.COMPONENT_CLASSES}
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
    """The index of the row that the cursor is on."""

    class Highlighted(Message):
        """The user moved the cursor to a row."""

        def __init__(self, rows: "CursorRows", index: int, key: str) -> None:
            super().__init__()
            self.rows = rows
            self.index = index
            self.key = key

        @property
        def control(self) -> "CursorRows":
            """The widget."""
            return self.rows

    class Chosen(Highlighted):
        """The user pressed enter on a row, or clicked the one that the cursor was on."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._base = Style.null()

    @property
    def total(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def row_at(self, index: int) -> Row:
        """The row at an index below `total`."""
        raise NotImplementedError

    def takes(self, index: int) -> bool:
        """Whether the cursor can stand on this row."""
        return index < self.total

    @property
    def key(self) -> str:
        """The key of the row that the cursor is on, or an empty string."""
        return self.row_at(self.cursor).key if self.cursor < self.total else ""

    @property
    def shown(self) -> int:
        """How many rows there is room for."""
        return max(1, self.scrollable_content_region.height - self.HEAD)

    def watch_cursor(self, before: int, after: int) -> None:
        """Draw the two rows that changed."""
        self.draw_again(before, after)
        self.into_view()

    def draw_again(self, *indices: int) -> None:
        """Draw these rows, as far as they are on the screen."""
        for index in indices:
            y = index - self.scroll_offset.y + self.HEAD
            if self.HEAD <= y < self.size.height:
                self.refresh(Region(0, y, self.size.width, 1))

    def into_view(self) -> None:
        """Scroll to the cursor. What has no size yet is resized soon."""
        first = self.scroll_offset.y
        to = max(min(first, self.cursor), self.cursor - self.shown + 1)
        if to != first and self.size:
            self.scroll_to(y=to, animate=False, force=True, immediate=True)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.call_after_refresh(self.into_view)

    def action_move(self, by: int) -> None:
        """Move the cursor, over rows that it cannot stand on."""
        index = self.cursor + by
        while 0 <= index < self.total and not self.takes(index):
            index += by
        self.go(index if 0 <= index < self.total else self.cursor)

    def action_page(self, pages: int) -> None:
        """Move the cursor by whole screens."""
        self.go(self.nearest(self.cursor + pages * max(1, self.shown - 1)))

    def action_go(self, index: int) -> None:
        """Move the cursor to the first or the last row."""
        self.go(self.nearest(index if index >= 0 else self.total - 1))

    def nearest(self, index: int) -> int:
        """The closest row that the cursor can stand on; 0 when there is none."""
        index = max(0, min(index, self.total - 1))
        around = (near for away in range(self.total) for near in (index - away, index + away))
        return next((near for near in around if 0 <= near < self.total and self.takes(near)), 0)

    def go(self, index: int) -> None:
        """Move the cursor for the user, and tell it."""
        if self.total and index != self.cursor:
            self.cursor = index
            self.post_message(self.Highlighted(self, index, self.key))
        # The wheel may have left it behind.
        self.into_view()

    def action_choose(self) -> None:
        """Tell that the row under the cursor was chosen."""
        if self.takes(self.cursor):
            self.post_message(self.Chosen(self, self.cursor, self.key))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the row, or choose it when the cursor is there."""
        y = event.get_content_offset_capture(self).y
        index = y - self.HEAD + self.scroll_offset.y
        if not self.HEAD <= y < self.size.height or index >= self.total or not self.takes(index):
            return
        if index == self.cursor:
            self.action_choose()
        else:
            self.go(index)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw some lines; the style that they share is looked up once."""
        self._base = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget."""
        index = y - self.HEAD + self.scroll_offset.y
        if index >= self.total:
            return Strip.blank(self.scrollable_content_region.width, self._base)
        base = self._base
        if index == self.cursor and self.takes(index):
            base += self.get_component_rich_style("rows--cursor", partial=True)
        return self.strip_at(index, base)

    def strip_at(self, index: int, base: Style) -> Strip:
        """The row at an index as it is drawn."""
        return self.strip(self.row_at(index), self.scrollable_content_region.width, base)
