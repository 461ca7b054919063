"""How a line of a log looks in a pane."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from omnitui.logfile import LogLine
from omnitui.sanitise import visible_line
from omnitui.ui.widgets.ansi import segments

_MORE = "…"


class LogStrips:
    """Strips of the lines on the screen, each made once for one pair of styles."""

    def __init__(self) -> None:
        self._made: dict[LogLine, Strip] = {}
        self._styles = (Style.null(), Style.null())

    def restyle(self, base: Style, mark: Style) -> None:
        """Draw text in `base` from now on, and the sign that a line goes on in `mark`."""
        if (base, mark) != self._styles:
            self._made, self._styles = {}, (base, mark)

    def keep(self, lines: Iterable[LogLine]) -> None:
        """Forget all other lines."""
        self._made = {line: self._made[line] for line in lines if line in self._made}

    def cells(self, line: LogLine) -> int:
        """Return how wide the line is, whatever the pane."""
        return self._whole(line).cell_length

    def row(self, line: LogLine, left: int, width: int) -> Strip:
        """Return `width` cells of the line from cell `left` on; the last one tells when more follows."""
        whole, (base, mark) = self._whole(line), self._styles
        if whole.cell_length <= left + width:
            return whole.crop_extend(left, left + width, base)
        shown = whole.crop_extend(left, left + width - 1, base)
        return Strip.join([shown, Strip([Segment(_MORE, mark)])])

    def _whole(self, line: LogLine) -> Strip:
        if line not in self._made:
            base, mark = self._styles
            more = Segment(_MORE, mark)
            open_end = not line.cut and line.end - line.start == len(line.raw)
            text = segments(visible_line(line.raw, open_end=open_end), base)
            self._made[line] = Strip([*[more] * line.continued, *text, *[more] * line.cut])
        return self._made[line]


def changed_rows(before: Sequence[LogLine], after: Sequence[LogLine]) -> tuple[int, int] | None:
    """Return the first and the last row that differ, or None."""
    pairs = enumerate(zip_longest(before, after))
    different = [y for y, (old, new) in pairs if old != new]
    return (different[0], different[-1]) if different else None
