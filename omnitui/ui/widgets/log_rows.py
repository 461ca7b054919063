"""Which rows of which lines are on the screen, and how much of them differs from what is drawn. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import get_character_cell_size
from textual.strip import Strip

_SEGMENT_BYTES = 46
"""What a piece of one style costs beside its text: colours of 24 bits and their end."""
_MOVE_BYTES = 10


class Row(NamedTuple):
    """One row of the screen: the `part`-th row, from 0, of line number `line` of a page."""

    line: int
    part: int


class Place(NamedTuple):
    """What is at the top: a byte that begins a line, and how many rows of that line are above."""

    offset: int
    part: int = 0


def rows_of(heights: Sequence[int]) -> list[Row]:
    """Return every row of lines that are so many rows high."""
    return [Row(index, part) for index, height in enumerate(heights) for part in range(height)]


def changed_until(before: Strip | None, after: Strip) -> int:
    """Return behind which cell the two are the same; 0 when nothing differs.

    Textual sends every row from its left, so where the difference begins saves nothing.
    """
    if before is None:
        return after.cell_length
    if before == after:
        return 0
    old, new = _cells(before), _cells(after)
    if len(old) != len(new):
        return max(len(old), len(new))
    return next((cell for cell in range(len(new), 0, -1) if old[cell - 1] != new[cell - 1]), 0)


def cost(strip: Strip, until: int) -> int:
    """Return about how many bytes it takes to draw the cells up to `until`."""
    sent = strip.crop(0, until)
    return _MOVE_BYTES + _SEGMENT_BYTES * len(list(sent)) + len(sent.text.encode(errors="replace"))


def _cells(strip: Strip) -> list[tuple[str, object]]:
    """Return what each cell shows; both cells of a wide character tell which one it is."""
    cells: list[tuple[str, object]] = []
    for segment in strip:
        if segment.text.isascii():
            cells += [(char, segment.style) for char in segment.text]
            continue
        for char in segment.text:
            width = get_character_cell_size(char)
            if width or not cells:
                cells += [(char, segment.style), (f"{char}>", segment.style)][:width]
            else:
                wide = 1 + cells[-1][0].endswith(">")
                cells[-wide:] = [(text + char, style) for text, style in cells[-wide:]]
    return cells
