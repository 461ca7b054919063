"""A list of one-line rows with a cursor. It draws only what changes."""

from collections.abc import Sequence

from textual.geometry import Size

from omnitui.ui.widgets.cursor_rows import CursorRows
from omnitui.ui.widgets.rows import Row


class RowList(CursorRows):
    """Shows `rows`; the cursor stays on the row with the same key when they change, and on none without a key."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._rows: tuple[Row, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def row_at(self, index: int) -> Row:
        """One of them."""
        return self._rows[index]

    def takes(self, index: int) -> bool:
        """Whether the row has a key."""
        return index < len(self._rows) and bool(self._rows[index].key)

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show other rows; those that are the same are not drawn again."""
        before, at, key = self._rows, self.cursor, self.key
        self._rows = tuple(rows)
        keys = [row.key for row in self._rows]
        cursor = keys.index(key) if key and key in keys else self.nearest(self.cursor)
        self.set_reactive(RowList.cursor, cursor)
        if len(before) != len(self._rows):
            self.virtual_size = Size(0, len(self._rows))
            self.refresh()
            return
        if regions := self.changed_regions(before, self._rows):
            self.refresh(*regions)
        if cursor != at:
            self.draw_again(at, cursor)

    def move_to(self, key: str) -> None:
        """Put the cursor on the row with this key, if it is there, and bring it into view."""
        for index, row in enumerate(self._rows):
            if row.key == key:
                self.cursor = index
                self.call_after_refresh(self.into_view)
