"""Lines made of cells: how they are cut, padded and coloured. Every text is cleaned here; no markup is read."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar, NamedTuple

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from omnitui.sanitise import plain
from omnitui.ui.signs import Tone
from omnitui.ui.widgets.spans import changed_span

_GAP = 2
_LEAST = 8
_KEPT = 256
"""More rows than a screen has, as they were and as they are."""
_TONES = ("strong", "muted", "green", "red", "warn", "blue")


class Cell(NamedTuple):
    """A piece of a line. `width` is at least how many cells it takes; 0 is as many as its text."""

    text: str
    tone: Tone = ""
    width: int = 0
    yields: bool = False
    """At the right: this piece is cut before anything at the left is."""


class Row(NamedTuple):
    """One line: `left` is cut where `right` begins. `key` names it; a row without one cannot be chosen."""

    key: str
    left: tuple[Cell, ...]
    right: tuple[Cell, ...] = ()


class Toned(Widget):
    """A widget that draws cells; the app's stylesheet gives each tone its theme colour."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"tone--{tone}" for tone in _TONES}

    @cached_property
    def _made(self) -> LRUCache[tuple[Row, int, Style], Strip]:
        # A row that changes is asked for three times: as it was, as it is, and when it is drawn.
        return LRUCache(_KEPT)

    @cached_property
    def _tones(self) -> dict[str, Style]:
        # Textual forgets them at each refresh; a tone is the stylesheet's alone.
        return {}

    def notify_style_update(self) -> None:
        """Make all rows anew: the tones have other colours."""
        self._made.clear()
        self._tones.clear()
        super().notify_style_update()

    def segment(self, cell: Cell, base: Style, *, align_right: bool = False) -> Segment:
        """A cell as it is drawn."""
        text = plain(cell.text)
        padding = " " * max(0, cell.width - cell_len(text))
        text = padding + text if align_right else text + padding
        if not cell.tone:
            return Segment(text, base)
        if cell.tone not in self._tones:
            self._tones[cell.tone] = self.get_component_rich_style(f"tone--{cell.tone}", partial=True)
        return Segment(text, base + self._tones[cell.tone])

    def strip(self, row: Row, width: int, base: Style) -> Strip:
        """A row in `width` cells. Where they are few, a right piece that yields is cut, then the left."""
        strip = self._made.get((row, width, base))
        if strip is None:
            strip = self._made[row, width, base] = self._make(row, width, base)
        return strip

    def _make(self, row: Row, width: int, base: Style) -> Strip:
        left = [self.segment(cell, base) for cell in row.left]
        right = [self.segment(cell, base, align_right=True) for cell in row.right]
        room = max(0, width - _cells(right) - _GAP * bool(right))
        if row.right and row.right[0].yields and _cells(left) > room:
            least = max(0, right[0].cell_length - (_cells(left) - room))
            room += right[0].cell_length
            right[0] = cut(Segment(right[0].text.strip(), right[0].style), max(least, _LEAST))
            room -= right[0].cell_length
        shown: list[Segment] = []
        for segment in left:
            shown.append(cut(segment, room))
            room -= shown[-1].cell_length
        space = Segment(" " * (room + _GAP * bool(right)), base)
        return Strip(Segment.simplify([*shown, space, *right])).crop_extend(0, width, base)

    def changed_regions(self, before: Sequence[Row], after: Sequence[Row]) -> list[Region]:
        """The cells on the screen in which two lists of as many rows differ, one row below the other."""
        width, top, base = self.scrollable_content_region.width, self.scroll_offset.y, self.rich_style
        regions = []
        for y, (old, new) in enumerate(zip(before, after, strict=True), -top):
            if old != new and 0 <= y < self.size.height:
                first, count = changed_span(self.strip(old, width, base), self.strip(new, width, base))
                regions += [Region(first, y, count, 1)] * bool(count)
        return regions


def _cells(segments: list[Segment]) -> int:
    return sum(segment.cell_length for segment in segments)


def cut(segment: Segment, room: int) -> Segment:
    """A segment that is at most `room` cells wide, with an ellipsis where it was cut."""
    if segment.cell_length <= room:
        return segment
    return Segment(set_cell_size(segment.text, max(0, room - 1)) + "…" * (room > 0), segment.style)


def wrapped(row: Row, width: int) -> Iterator[Row]:
    """A row in lines of at most `width` cells; they go on below where the piece that does not fit begins.

    One with something at its right stays as it is.
    """
    texts = [plain(cell.text) for cell in row.left]
    texts = [text + " " * (cell.width - cell_len(text)) for text, cell in zip(texts, row.left, strict=True)]
    if row.right or sum(map(cell_len, texts)) <= width:
        yield row
        return
    indent = _hanging(texts, width)
    line, used = list[Cell](), 0
    for text, cell in zip(texts, row.left, strict=True):
        for word in re.findall(r"\s+|\S+", text):
            wide = cell_len(word)
            if used + wide > width and word.isspace():
                used = width
                continue
            for part in chop_cells(word, width - indent) if used + wide > width else (word,):
                if used + cell_len(part) > width:
                    yield Row(row.key, tuple(line))
                    line, used = [Cell(" " * indent)], indent
                line.append(Cell(part, cell.tone))
                used += cell_len(part)
    yield Row(row.key, tuple(line))


def _hanging(texts: Sequence[str], width: int) -> int:
    begins = 0
    for text in texts:
        if begins + cell_len(text.rstrip()) > width:
            begins += len(text) - len(text.lstrip())
            break
        begins += cell_len(text)
    return begins if begins <= width * 2 // 3 else min(2, width // 2)


class RowLine(Toned):
    """One line of the screen: something at its left, something at its right."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._row = Row("", ())

    @property
    def row(self) -> Row:
        """What is shown."""
        return self._row

    def show(self, row: Row) -> None:
        """Show another row; the same one is not drawn again."""
        if row != self._row:
            before, self._row = self._row, row
            if regions := self.changed_regions((before,), (row,)):
                self.refresh(*regions)

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        if y:
            return Strip.blank(self.size.width, self.rich_style)
        return self.strip(self._row, self.size.width, self.rich_style)
