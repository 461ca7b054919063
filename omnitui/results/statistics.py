"""Statistics over the scored, complete passes of a series. An incomplete pass is named and left out."""

import statistics
from collections.abc import Sequence

from msgspec import Struct

from omnitui.results.passes import PassResult


class Row(Struct, frozen=True):
    """One metric of one series. `mean` is None without values, `stdev` (sample, n - 1) for fewer than two."""

    metric: str
    unit: str
    direction: str
    mean: float | None
    stdev: float | None
    values: tuple[float, ...]
    passes: tuple[str, ...]


class Summary(Struct, frozen=True):
    """One series: its rows, and the passes that are not in them, with the reason."""

    series: str
    rows: tuple[Row, ...]
    averaged: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    rehearsal: bool = False
    """Over rehearsed passes: stand-ins made its figures up."""

    @property
    def complete(self) -> bool:
        """Whether every scored pass is in the averages."""
        return bool(self.averaged) and all(reason == "not scored" for _, reason in self.left_out)


def summarize(passes: Sequence[PassResult], metrics: Sequence[tuple[str, str, str]]) -> tuple[Summary, ...]:
    """One summary for each series, in the order of their first pass; `metrics` are (id, unit, direction).

    Rehearsed passes of a series have a summary of their own: they are never averaged with real ones.
    """
    found = []
    for series, rehearsal in dict.fromkeys((one.series, one.rehearsal) for one in passes):
        mine = [one for one in passes if (one.series, one.rehearsal) == (series, rehearsal)]
        good = [one for one in mine if one.complete and not one.left_out]
        rows = tuple(_row(metric, good) for metric in metrics)
        left_out = tuple((one.label, one.left_out) for one in mine if one not in good)
        found.append(Summary(series, rows, tuple(one.label for one in good), left_out, rehearsal))
    return tuple(found)


def _row(metric: tuple[str, str, str], passes: Sequence[PassResult]) -> Row:
    name, unit, direction = metric
    have = [one for one in passes if name in one.metrics]
    values = tuple(one.metrics[name] for one in have)
    mean = statistics.mean(values) if values else None
    stdev = statistics.stdev(values) if len(values) > 1 else None
    return Row(name, unit, direction, mean, stdev, values, tuple(one.label for one in have))
