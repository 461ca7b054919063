"""Statistics over the scored, complete passes of a series. An incomplete pass is named and left out."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from omnitui.results.passes import AUDIO, PassResult
from omnitui.runbook.measured import Metric

Told = tuple[str, str, str]
"""A metric's id, unit and direction."""


TWICE = "the same measurement as another one"
"""Why a pass is left out that would count a second time."""


class Measurement(Protocol):
    """What tells which measurement a pass is of."""

    @property
    def origin(self) -> str:
        """`run`, or how it was taken in."""
        ...

    @property
    def sha256(self) -> str:
        """Of its result files."""
        ...


M = TypeVar("M", bound=Measurement)


class Row(Struct, frozen=True):
    """One metric of one series. `mean` is None without values, `stdev` (sample, n - 1) for fewer than two."""

    metric: str
    unit: str
    direction: str
    mean: float | None
    stdev: float | None
    values: tuple[float, ...]
    passes: tuple[str, ...]
    minimum: float | None = None
    maximum: float | None = None

    def without_mean(self) -> "Row":
        """The same of passes that were not measured alike."""
        return replace(self, mean=None, stdev=None)


class Unlike(Struct, frozen=True):
    """A key of provenance that is not the same for all passes of a series: each value with its passes."""

    key: str
    values: tuple[tuple[str | None, tuple[str, ...]], ...]
    """A value of None is not known."""


class Summary(Struct, frozen=True):
    """One series: its rows, and the passes that are not in them, with the reason."""

    series: str
    rows: tuple[Row, ...]
    averaged: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    rehearsal: bool = False
    """Over rehearsed passes: stand-ins made its figures up."""
    unlike: tuple[Unlike, ...] = ()
    """What forbids one average over its passes: the rows have their values, and no mean."""

    @property
    def complete(self) -> bool:
        """Whether every scored pass is in the averages."""
        whole = all(reason == "not scored" for _, reason in self.left_out)
        return bool(self.averaged) and whole and not self.unlike

    def without_mean(self, unlike: tuple[Unlike, ...]) -> "Summary":
        """The same of passes that were not measured alike."""
        return replace(self, rows=tuple(one.without_mean() for one in self.rows), unlike=unlike)


def summarize(passes: Sequence[PassResult], metrics: Sequence[Told]) -> tuple[Summary, ...]:
    """One summary for each series, in the order of their first pass.

    Rehearsed passes of a series have a summary of their own: they are never averaged with real ones.
    """
    found = []
    for series, rehearsal in dict.fromkeys((one.series, one.rehearsal) for one in passes):
        mine = [one for one in passes if (one.series, one.rehearsal) == (series, rehearsal)]
        good = averaged(mine)
        rows = tuple(row(metric, good) for metric in metrics)
        left_out = tuple((one.label, one.left_out or TWICE) for one in mine if one not in good)
        found.append(Summary(series, rows, tuple(one.label for one in good), left_out, rehearsal))
    return tuple(found)


def averaged(passes: Iterable[PassResult]) -> list[PassResult]:
    """The passes that may be averaged: scored, complete, not marked, and each measurement once."""
    return each_once(one for one in passes if one.complete and not one.left_out)


def same_measurement(one: Measurement, other: Measurement) -> bool:
    """Whether both are one measurement, such as a folder that was taken in twice, also as a copy.

    A run may find what an earlier one has left, or have nothing to tell but a count: two runs' passes never are.
    """
    runs = one.origin == other.origin == "run"
    return one.sha256 == other.sha256 != "" and not runs


def each_once(passes: Iterable[M]) -> list[M]:
    """The passes in their order, without those that are of the same measurement as one before."""
    kept: list[M] = []
    alike: dict[str, list[M]] = {}
    for one in passes:
        before = alike.setdefault(one.sha256, [])
        if not any(same_measurement(one, other) for other in before):
            kept.append(one)
            # One of each origin tells all: thousands of runs may have written the same.
            if one.sha256 and all(one.origin != other.origin for other in before):
                before.append(one)
    return kept


def told_metrics(metrics: Iterable[Metric], passes: Iterable[PassResult]) -> list[Told]:
    """The metrics of a runbook, and those of every pass with audio where there are such passes."""
    audio = any(name in one.metrics for one in passes for name in AUDIO)
    own = [(metric.id, metric.unit, metric.direction) for metric in metrics]
    return [*own, *((name, "files", "none") for name in AUDIO if audio)]


def stdev(values: Sequence[float]) -> float | None:
    """Of the sample, n - 1; None for fewer than two values, and for those so far apart that it is no float."""
    try:
        return statistics.stdev(values) if len(values) > 1 else None
    except OverflowError:
        return None


def row(metric: Told, passes: Sequence[PassResult]) -> Row:
    """One metric over passes that may be averaged."""
    name, unit, direction = metric
    have = [one for one in passes if name in one.metrics]
    values = tuple(one.metrics[name] for one in have)
    mean = statistics.mean(values) if values else None
    least, most = (min(values), max(values)) if values else (None, None)
    return Row(name, unit, direction, mean, stdev(values), values, tuple(one.label for one in have), least, most)
