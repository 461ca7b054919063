"""Values as dots on a line of characters, with their mean and the noise floor. Pure.

Own drawing: a plotting library draws whole canvases, and here a line of a list has one for each group.
"""

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from omnitui.ui.signs import Tone
from omnitui.ui.widgets.rows import Cell


class Scale(Struct, frozen=True):
    """From the least to the greatest value, in so many cells."""

    low: float
    high: float
    cells: int

    def at(self, value: float) -> int:
        """The cell of a value."""
        # By halves: the whole difference may be no float.
        span = self.high / 2 - self.low / 2
        share = (value / 2 - self.low / 2) / span if span else 0.5
        return max(0, min(self.cells - 1, round(share * (self.cells - 1))))


def scale(values: Sequence[float], cells: int) -> Scale:
    """A scale for all of these; one value, or many alike, stand in the middle."""
    return Scale(min(values, default=0.0), max(values, default=0.0), max(3, cells))


def dots(
    values: Sequence[float],
    on: Scale,
    tone: Tone = "",
    band: tuple[float, float] | None = None,
    mean: float | None = None,
) -> tuple[Cell, ...]:
    """One line: `●` a value, a number where several fall together, `│` the mean, `░` the band."""
    marks: list[tuple[str, Tone]] = [("─", "muted")] * on.cells
    if band is not None:
        for cell in range(on.at(band[0]), on.at(band[1]) + 1):
            marks[cell] = ("░", "muted")
    if mean is not None:
        marks[on.at(mean)] = ("│", "strong")
    places = [on.at(value) for value in values]
    for place in set(places):
        count = places.count(place)
        marks[place] = ("●" if count == 1 else str(count) if count < 10 else "#", tone)
    return tuple(
        Cell("".join(m for m, _ in run), shown) for shown, run in groupby(marks, key=lambda mark: mark[1])
    )
