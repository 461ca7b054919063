"""How a line of a log looks in a pane: one row that is cut where it ends, or as many as it needs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import get_character_cell_size
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
    wrap: bool = False


class LogStrips:
    """The strips of the lines on the screen, each made once for one look."""

    def __init__(self) -> None:
        self._look = Look(0, 0, Style.null(), Style.null())
        self._texts: dict[LogLine, str] = {}
        self._strips: dict[LogLine, list[Strip]] = {}

    def keep(self, lines: Iterable[LogLine]) -> None:
        """Forget all other lines."""
        kept = set(lines)
        self._texts = {line: text for line, text in self._texts.items() if line in kept}
        self._strips = {line: strips for line, strips in self._strips.items() if line in kept}

    def rows(self, line: LogLine, look: Look) -> list[Strip]:
        """Return the rows of a line: one, whose last cell tells when more follows, or all of them in turn."""
        if look != self._look:
            self._look, self._strips = look, {}
        if line not in self._strips:
            self._strips[line] = self.made(line, look)
        return self._strips[line]

    def reaches(self, line: LogLine, cell: int) -> bool:
        """Whether the line is longer than `cell` cells."""
        return _beginning(self._parts(line, self._look), cell + 1).cell_length > cell

    def made(self, line: LogLine, look: Look) -> list[Strip]:
        """Return what `rows` returns, made anew: for a look that only some lines have."""
        if look.wrap:
            return list(_wrapped(self._parts(line, look), look))
        right = look.left + look.width
        beginning = _beginning(self._parts(line, look), right + 1)
        if beginning.cell_length <= right:
            return [beginning.crop_extend(look.left, right, look.base)]
        shown = beginning.crop_extend(look.left, right - 1, look.base)
        return [Strip.join([shown, Strip([Segment(_MORE, look.mark)])])]

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


def _wrapped(parts: Iterable[Segment], look: Look) -> Iterator[Strip]:
    width = max(2, look.width)
    row: list[Segment] = []
    used = 0
    for part in parts:
        at = 0
        while at < len(part.text):
            taken, cells = _fitting(part.text[at : at + width], width - used)
            if taken:
                row.append(Segment(part.text[at : at + taken], part.style))
                at, used = at + taken, used + cells
            if at < len(part.text):
                yield Strip(row, used).adjust_cell_length(look.width, look.base)
                row, used = [], 0
    yield Strip(row, used).adjust_cell_length(look.width, look.base)


def _fitting(text: str, room: int) -> tuple[int, int]:
    """Return how many characters fit into so many cells, and how many cells they take."""
    if text.isascii():
        taken = min(len(text), room)
        return taken, taken
    cells = 0
    for taken, char in enumerate(text):
        width = get_character_cell_size(char)
        if cells + width > room:
            return taken, cells
        cells += width
    return len(text), cells
