"""How the rows of a log are drawn: what stands beside a line, and which lines stand out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from omnitui.logs import LogLine
from omnitui.logs.pages import Page
from omnitui.ui.widgets.log_rows import Row
from omnitui.ui.widgets.log_strips import LogStrips, Look


@dataclass(frozen=True)
class Signs:
    """What is told of lines beside their text. Lines are named by the byte at which they begin."""

    digits: int = 0
    """How wide the numbers are; 0 where none are shown."""
    signs: Mapping[int, str] = field(default_factory=dict)
    """One character for a line: no colour is the only sign."""
    hit: int = -1
    chosen: range = range(0)

    def with_hit(self, start: int) -> "Signs":
        """Return the same with a line that stands out."""
        return replace(self, hit=start, signs={**self.signs, start: "▶"})

    def with_marks(self, marks: Sequence[int], chosen: range) -> "Signs":
        """Return the same with lines that are marked and lines that are chosen."""
        return replace(self, signs={**dict.fromkeys(marks, "●"), **self.signs}, chosen=chosen)

    @property
    def width(self) -> int:
        """How many cells they take."""
        return (2 if self.signs or self.chosen else 0) + (self.digits + 1 if self.digits else 0)

    def of(self, line: LogLine, number: int | None, part: int) -> str:
        """Return what stands before one row of a line."""
        first = part == 0
        sign = self.signs.get(line.start, " ") if first else " "
        if line.start in self.chosen and sign == " ":
            sign = "┃"
        told = f"{sign} " if self.signs or self.chosen else ""
        if self.digits:
            shown = f"{number:,}" if first and number is not None and not line.continued else ""
            told += f"{shown:>{self.digits}} "
        return told


@dataclass(frozen=True)
class Tones:
    """The styles of what stands out."""

    mark: Style
    hit: Style
    chosen: Style


def drawn(
    lines: LogStrips, page: Page, rows: Sequence[Row], signs: Signs, look: Look, tones: Tones
) -> Iterator[Strip]:
    """Yield each row of the screen."""
    special: dict[int, list[Strip]] = {}
    for index, part in rows:
        line = page.lines[index]
        tone = _tone(line, signs, tones)
        if tone is None:
            strips = lines.rows(line, look)
        else:
            if index not in special:
                special[index] = lines.made(line, replace(look, base=look.base + tone))
            strips = special[index]
        text = strips[part] if part < len(strips) else Strip.blank(look.width, look.base)
        beside = signs.of(line, page.numbers[index] if index < len(page.numbers) else None, part)
        yield Strip.join([Strip([Segment(beside, tones.mark)]), text]) if beside else text


def _tone(line: LogLine, signs: Signs, tones: Tones) -> Style | None:
    if line.start == signs.hit:
        return tones.hit
    return tones.chosen if line.start in signs.chosen else None
