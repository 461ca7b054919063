"""Small plots made of block characters: one column for so many seconds, at fixed times. Pure.

Columns stand at multiples of their span, so that the picture moves once in a span, not with every sample.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from omnitui.ui.signs import Tone
from omnitui.ui.widgets.rows import Cell

BLOCKS = " ▁▂▃▄▅▆▇█"
_LINE = "╌"


def columns(
    points: Iterable[tuple[float, float | None]], count: int, span_s: float, last_at: float, *, mean: bool = False
) -> list[float | None]:
    """The greatest value (or the mean) in each of `count` spans, of which the last holds `last_at`.

    None where nothing was told.
    """
    first = int(last_at // span_s) - count + 1
    found: list[list[float]] = [[] for _ in range(count)]
    for at, value in points:
        column = int(at // span_s) - first
        if value is not None and 0 <= column < count:
            found[column].append(value)
    return [(sum(one) / len(one) if mean else max(one)) if one else None for one in found]


def plot(
    values: Sequence[float | None], top: float, height: int = 1, limit: float = 0.0, tone: Tone = ""
) -> list[tuple[Cell, ...]]:
    """Lines of cells, the uppermost first. Values below `limit` are green, and a line marks it where it is free.

    A value of 0 has the lowest block; what was not told is blank.
    """
    levels = [_level(value, top, height) for value in values]
    line_at = int(limit / top * height) if limit < top else -1
    rows = []
    for row in reversed(range(height)):
        marks = list(_marks(values, levels, row, limit, tone, line=bool(limit) and row == line_at and height > 1))
        rows.append(tuple(_runs(marks)))
    return rows


def _level(value: float | None, top: float, height: int) -> int:
    if value is None or top <= 0:
        return 0
    return max(1, round(min(value / top, 1.0) * height * 8))


def _marks(
    values: Sequence[float | None], levels: Sequence[int], row: int, limit: float, tone: Tone, *, line: bool
) -> Iterator[tuple[str, Tone]]:
    for value, level in zip(values, levels, strict=True):
        block = BLOCKS[max(0, min(level - row * 8, 8))]
        below = value is not None and value < limit
        if line and (block == " " or below):
            yield _LINE, "green" if below else "muted"
        else:
            yield block, "green" if below else tone


def _runs(marks: list[tuple[str, Tone]]) -> Iterator[Cell]:
    for tone, run in groupby(marks, key=lambda mark: mark[1]):
        yield Cell("".join(block for block, _ in run), tone)
