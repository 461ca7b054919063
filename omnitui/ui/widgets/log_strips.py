"""How a line of a log looks in a pane."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from omnitui.logs import LogLine
from omnitui.sanitise import visible_line
from omnitui.ui.widgets.ansi import segments

_MORE = "…"


@dataclass(frozen=True)
class Look:
    """What the strips of a pane have in common; `left` and `width` in cells."""

    left: int
    width: int
    base: Style
    mark: Style


class LogStrips:
    """The strips of the lines on the screen, each made once for one look."""

    def __init__(self) -> None:
        self._look = Look(0, 0, Style.null(), Style.null())
        self._texts: dict[LogLine, str] = {}
        self._strips: dict[LogLine, Strip] = {}

    def keep(self, lines: Iterable[LogLine]) -> None:
        """Forget all other lines."""
        kept = set(lines)
        self._texts = {line: text for line, text in self._texts.items() if line in kept}
        self._strips = {line: strip for line, strip in self._strips.items() if line in kept}

    def strip(self, line: LogLine, look: Look) -> Strip:
        """Return the part of the line that is seen; its last cell tells when more follows."""
        if look != self._look:
            self._look, self._strips = look, {}
        if line not in self._strips:
            self._strips[line] = self._made(line, look)
        return self._strips[line]

    def reaches(self, line: LogLine, cell: int) -> bool:
        """Whether the line is longer than `cell` cells."""
        return _beginning(self._parts(line, self._look), cell + 1).cell_length > cell

    def _made(self, line: LogLine, look: Look) -> Strip:
        right = look.left + look.width
        beginning = _beginning(self._parts(line, look), right + 1)
        if beginning.cell_length <= right:
            return beginning.crop_extend(look.left, right, look.base)
        shown = beginning.crop_extend(look.left, right - 1, look.base)
        return Strip.join([shown, Strip([Segment(_MORE, look.mark)])])

    def _parts(self, line: LogLine, look: Look) -> Iterator[Segment]:
        if line not in self._texts:
            open_end = not line.cut and line.end - line.start == len(line.raw)
            self._texts[line] = visible_line(line.raw, open_end=open_end)
        if line.continued:
            yield Segment(_MORE, look.mark)
        yield from segments(self._texts[line], look.base)
        if line.cut:
            yield Segment(_MORE, look.mark)


def _beginning(parts: Iterable[Segment], cells: int) -> Strip:
    taken, left = [], cells
    for part in parts:
        taken.append(part)
        left -= part.cell_length
        if left <= 0:
            break
    return Strip(taken, cells - left)


def changed_rows(before: Sequence[LogLine], after: Sequence[LogLine]) -> tuple[int, int] | None:
    """Return the first and the last row that differ, or None."""
    pairs = enumerate(zip_longest(before, after))
    different = [y for y, (old, new) in pairs if old != new]
    return (different[0], different[-1]) if different else None
