"""A table of any number of rows. Only the rows on the screen are made; their source may not have read them yet."""

from collections.abc import Callable
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from omnitui.ui.widgets.cursor_rows import CursorRows
from omnitui.ui.widgets.rows import Cell, Row

_NOT_READ = Row("", (Cell("…", "muted"),))


def _nothing(_index: int) -> Row | None:
    return None


class Table(CursorRows):
    """Shows `total` rows below a head that stays; `row_of` makes the row at an index, or None while it is read."""

    HEAD: ClassVar[int] = 1
    COMPONENT_CLASSES: ClassVar[set[str]] = {"table--head"}

    class Seen(Message):
        """Other rows are on the screen."""

        def __init__(self, table: "Table") -> None:
            super().__init__()
            self.table = table

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
        self._strips: dict[tuple[int, Style, int], Strip] = {}

    @property
    def total(self) -> int:
        """How many rows there are."""
        return self._total

    def row_at(self, index: int) -> Row:
        """The row at an index, or dots while it is read."""
        return self._row_of(index) or _NOT_READ

    @property
    def seen(self) -> tuple[int, int]:
        """The first row on the screen, and the one after the last."""
        # Of fewer rows than there were, the last ones will be: Textual scrolls up to them a little later.
        first = max(0, min(self.scroll_offset.y, self._total - self.shown))
        return first, min(self._total, first + self.shown)

    @property
    def cursor_is_seen(self) -> bool:
        """Whether the row with the cursor is on the screen; the wheel may have left it behind."""
        first, end = self.seen
        return first <= self.cursor < end

    @property
    def text(self) -> str:
        """What is on the screen, without its colours."""
        lines = (self._head, *(self.row_at(index) for index in range(*self.seen)))
        return "\n".join(" ".join("".join(cell.text for cell in part) for part in row[1:]) for row in lines)

    def show(
        self,
        total: int,
        row_of: Callable[[int], Row | None],
        head: Row,
        cursor: int | None = None,
        *,
        follow: bool = True,
    ) -> None:
        """Show other rows. The cursor stays at its index unless one is given; `follow` brings it into view."""
        self._row_of, self._head = row_of, head
        if total != self._total:
            self._total = total
            self.virtual_size = Size(0, total + self.HEAD)
        self._strips.clear()
        self.set_reactive(Table.cursor, self.nearest(self.cursor if cursor is None else cursor))
        self.refresh()
        if follow and not self.cursor_is_seen:
            self.call_after_refresh(self.into_view)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell which rows are on the screen now."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Seen(self))
            self.call_after_refresh(self._look_ahead)

    def _look_ahead(self) -> None:
        first, end = max(0, self.seen[0] - self.shown), min(self._total, self.seen[1] + self.shown)
        self._strips = {key: strip for key, strip in self._strips.items() if first <= key[0] < end}
        # The next page is then only drawn.
        for index in range(first, end):
            self.strip_at(index, self._base)

    def strip_at(self, index: int, base: Style) -> Strip:
        """The row at an index as it is drawn. It is kept: making its cells costs a third of that."""
        key = (index, base, self.scrollable_content_region.width)
        if key not in self._strips:
            self._strips[key] = super().strip_at(index, base)
        return self._strips[key]

    def notify_style_update(self) -> None:
        """Make all rows anew: the tones have other colours."""
        self._strips.clear()
        super().notify_style_update()

    # Textual calls the handlers of all classes in turn, from the last one up: none of them calls `super`.
    def on_resize(self) -> None:
        """Tell which rows are on the screen now."""
        self.post_message(self.Seen(self))

    def on_click(self, event: events.Click) -> None:
        """Tell of a click on the head."""
        offset = event.get_content_offset(self)
        if offset is not None and offset.y == 0:
            self.post_message(self.HeadClicked(self, offset.x))

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget."""
        if y:
            return super().render_line(y)
        base = self._base + self.get_component_rich_style("table--head", partial=True)
        return self.strip(self._head, self.scrollable_content_region.width, base)
