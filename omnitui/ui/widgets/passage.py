"""Rows to be read to their ends: what does not fit a line goes on in the next one."""

from collections.abc import Sequence

from omnitui.ui.widgets.readings import Readings
from omnitui.ui.widgets.rows import Row, wrapped


class Passage(Readings):
    """Shows rows that cannot be chosen, wrapped to the room that there is."""

    _whole: tuple[Row, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is shown, before it is wrapped."""
        return self._whole

    def show_rows(self, rows: Sequence[Row], *, slack: int = 0) -> None:
        """Show other rows."""
        self._whole = tuple(rows)
        # A pane that is hidden has no width yet, and is resized when it is shown.
        width = self.scrollable_content_region.width
        lines = [line for row in self._whole for line in wrapped(row, width)] if width else self._whole
        super().show_rows(lines, slack=slack)

    def on_resize(self) -> None:
        """Wrap them anew."""
        self.show_rows(self._whole)
