"""Lines of readings that change once a second: only the cells that changed are drawn again."""

from collections.abc import Sequence
from typing import ClassVar

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from omnitui.ui.widgets.rows import Row, Toned


class Readings(ScrollView, Toned, can_focus=True):
    """Shows rows that cannot be chosen; scrolls where they do not fit."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {*Toned.COMPONENT_CLASSES}

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._rows: tuple[Row, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown."""
        return self._rows

    @property
    def text(self) -> str:
        """What is shown, without its colours."""
        return "\n".join(" ".join("".join(c.text for c in part) for part in row[1:]) for row in self.rows)

    def show_rows(self, rows: Sequence[Row], *, slack: int = 0) -> None:
        """Show other rows; cells that stay the same are not drawn again.

        Another height is a new layout, and a pane drawn whole: up to `slack` rows that have gone keep their room.
        """
        before, self._rows = self._rows, tuple(rows)
        room, count = self.virtual_size.height, len(self._rows)
        if not room - slack <= count <= room:
            self.virtual_size = Size(0, count)
            self.refresh()
            return
        whole = max(count, len(before))
        blank = Row("", ())
        old, new = (shown + (blank,) * (whole - len(shown)) for shown in (before, self._rows))
        if regions := list(self.changed_regions(old, new)):
            self.refresh(*regions)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the widget."""
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        if index >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        return self.strip(self._rows[index], width, self.rich_style)
