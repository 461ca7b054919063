"""Which cells of a line have changed: what stays the same is not sent through a slow line again."""

from itertools import takewhile

from rich.cells import cell_len
from textual.strip import Strip


def changed_span(before: Strip, after: Strip) -> tuple[int, int]:
    """The first cell that differs, and how many cells from there on do. Both strips are equally wide."""
    old, new = _characters(before), _characters(after)
    first = _same(old, new)
    if first == after.cell_length:
        return 0, 0
    last = min(_same(old[::-1], new[::-1]), after.cell_length - first)
    return first, after.cell_length - first - last


def _characters(strip: Strip) -> list[tuple[str, object]]:
    return [(character, segment.style) for segment in strip for character in segment.text]


def _same(old: list[tuple[str, object]], new: list[tuple[str, object]]) -> int:
    """How many cells are the same at the beginning."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
    return sum(cell_len(character) for (character, _), _ in same)
