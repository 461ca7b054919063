"""How far the running step is, as one line: a bar, the figures, the rate and the time left."""

from omnitui.progress import Progress, told
from omnitui.ui.widgets.rows import Cell, Row, RowLine

_BAR_CELLS = 24


class ProgressLine(RowLine):
    """Hidden while nothing tells how far a step is."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.display = False

    def show_progress(self, progress: Progress | None) -> None:
        """Show it, or hide."""
        self.display = progress is not None
        if progress:
            self.show(progress_row(progress))


def progress_row(progress: Progress) -> Row:
    """The line."""
    bar: tuple[Cell, ...] = ()
    if progress.share is not None:
        filled = int(progress.share * _BAR_CELLS)
        bar = (Cell("━" * filled, "blue"), Cell("─" * (_BAR_CELLS - filled), "muted"), Cell(" "))
    label = (Cell(f"{progress.label}  ", "muted"),) if progress.label else ()
    return Row("", (*bar, Cell(told(progress), "strong"), Cell("  "), *label))
