"""A table of any number of rows. Only the rows on the screen are made; their source may not have read them yet."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from omnitui.ui.widgets.rows import Cell, Row, Toned

_NOT_READ = Row("", (Cell("…", "muted"),))


def _nothing(_index: int) -> Row | None:
    return None


class Table(ScrollView, Toned, can_focus=True):
    """Shows `total` rows below a head that stays; `row_of` makes the row at an index, or None while it is read."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--cursor", "table--head", *Toned.COMPONENT_CLASSES}
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
        """The cursor is on another row."""

        def __init__(self, table: "Table", index: int) -> None:
            super().__init__()
            self.table = table
            self.index = index

        @property
        def control(self) -> "Table":
            """The table."""
            return self.table

    class Chosen(Highlighted):
        """The user pressed enter on a row, or clicked the one that the cursor was on."""

    class Seen(Message):
        """Other rows are on the screen: from `first` to before `end`."""

        def __init__(self, table: "Table", first: int, end: int) -> None:
            super().__init__()
            self.table = table
            self.first = first
            self.end = end

        @property
        def control(self) -> "Table":
            """The table."""
            return self.table

    class HeadClicked(Message):
        """The head was clicked, so many cells from the left."""

        def __init__(self, table: "Table", x: int) -> None:
            super().__init__()
            self.table = table
            self.x = x

        @property
        def control(self) -> "Table":
            """The table."""
            return self.table

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._total = 0
        self._row_of: Callable[[int], Row | None] = _nothing
        self._head = Row("", ())

    @property
    def total(self) -> int:
        """How many rows there are."""
        return self._total

    @property
    def seen(self) -> tuple[int, int]:
        """The first row on the screen, and the one after the last."""
        first = int(self.scroll_offset.y)
        return first, min(self._total, first + self._shown)

    @property
    def text(self) -> str:
        """What is on the screen, without its colours."""
        lines = (self._head, *(self._row_of(index) or _NOT_READ for index in range(*self.seen)))
        return "\n".join(" ".join("".join(cell.text for cell in part) for part in row[1:]) for row in lines)

    @property
    def _shown(self) -> int:
        return max(1, self.scrollable_content_region.height - 1)

    def show(self, total: int, row_of: Callable[[int], Row | None], head: Row, cursor: int | None = None) -> None:
        """Show other rows; the cursor stays at its index unless another is given."""
        self._row_of, self._head = row_of, head
        if total != self._total:
            self._total = total
            self.virtual_size = Size(0, total + 1)
        at = self.cursor if cursor is None else cursor
        self.set_reactive(Table.cursor, max(0, min(at, total - 1)))
        self.refresh()
        self.call_after_refresh(self._into_view)

    def watch_cursor(self, before: int, after: int) -> None:
        """Draw the two rows that changed."""
        first = int(self.scroll_offset.y)
        for index in (before, after):
            self.refresh_line(index - first + 1)
        self._into_view()
        self.post_message(self.Highlighted(self, after))

    def _into_view(self) -> None:
        first = int(self.scroll_offset.y)
        if self.cursor < first:
            self.scroll_to(y=self.cursor, animate=False, force=True, immediate=True)
        elif self.cursor >= first + self._shown:
            self.scroll_to(y=self.cursor - self._shown + 1, animate=False, force=True, immediate=True)

    def refresh_line(self, y: int) -> None:
        """Draw one line of the widget; lines beyond it are left alone."""
        if 0 <= y < self.size.height:
            # The ancestor means a line of the content, and takes away where that is scrolled to.
            super().refresh_line(y + int(self.scroll_offset.y))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell which rows are on the screen now."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Seen(self, *self.seen))

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.call_after_refresh(self._into_view)
        self.post_message(self.Seen(self, *self.seen))

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self._go(self.cursor + by)

    def action_page(self, pages: int) -> None:
        """Move the cursor by whole screens."""
        self._go(self.cursor + pages * max(1, self._shown - 1))

    def action_go(self, index: int) -> None:
        """Move the cursor to the first or the last row."""
        self._go(index if index >= 0 else self._total - 1)

    def _go(self, index: int) -> None:
        if self._total:
            self.cursor = max(0, min(index, self._total - 1))

    def action_choose(self) -> None:
        """Tell that the row under the cursor was chosen."""
        if self._total:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the row, or choose it when the cursor is there."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y == 0:
            self.post_message(self.HeadClicked(self, offset.x))
            return
        index = offset.y - 1 + int(self.scroll_offset.y)
        if index == self.cursor:
            self.action_choose()
        elif index < self._total:
            self._go(index)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget."""
        width, base = self.scrollable_content_region.width, self.rich_style
        if y == 0:
            return self.strip(self._head, width, base + self.get_component_rich_style("table--head", partial=True))
        index = y - 1 + int(self.scroll_offset.y)
        if index >= self._total:
            return Strip.blank(width, base)
        if index == self.cursor:
            base += self.get_component_rich_style("table--cursor", partial=True)
        return self.strip(self._row_of(index) or _NOT_READ, width, base)
