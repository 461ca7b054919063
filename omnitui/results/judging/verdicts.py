"""The verdict on one metric: better, worse, no difference shown, cannot be compared. Pure.

With three values against three the smallest exact p is 0.10, so that ranges which lie apart are no proof: of
twenty metrics two would do so by chance. A verdict therefore also needs a difference above the noise floor of the
machine, and is given on the few primary metrics only; the others describe.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from omnitui.results.judging.noise import Floor
from omnitui.results.judging.permutation import SUGGESTIVE, more_passes, rank_p, smallest_p
from omnitui.results.passes import AUDIO, PassResult
from omnitui.results.statistics import Row, averaged, row
from omnitui.runbook.measured import Metric

Word = Literal["better", "worse", "no difference shown", "cannot be compared", "described"]
BUILT_IN = tuple(Metric(id=name, file="", path="", unit="files", help=about) for name, about in AUDIO.items())


class Guard(Struct, frozen=True):
    """Another metric that may explain a difference. `moved`: its ranges lie apart too."""

    metric: str
    relative: float | None
    moved: bool


class Judged(Struct, frozen=True):
    """One metric of two groups. `difference` is B minus A, `relative` its share of A's mean."""

    metric: str
    unit: str
    direction: str
    primary: bool
    a: Row
    b: Row
    verdict: Word
    reason: str
    difference: float | None = None
    relative: float | None = None
    p: float | None = None
    apart: bool = False
    floor: float | None = None
    more: int | None = None
    """More passes of each side until ranges that stay apart have p <= 0.05; None where that decides nothing."""
    guards: tuple[Guard, ...] = ()


def judge_metrics(
    a: Sequence[PassResult],
    b: Sequence[PassResult],
    metrics: Sequence[Metric],
    floors: Mapping[str, Floor] | None,
    locked: str = "",
) -> tuple[Judged, ...]:
    """Every metric, over the scored, complete, unmarked passes alone; `locked` says why none can be compared."""
    good_a, good_b = averaged(a), averaged(b)
    audio = any(name in one.metrics for one in (*good_a, *good_b) for name in AUDIO)
    shown = (*metrics, *(BUILT_IN if audio else ()))
    found = {one.id: _judge(one, good_a, good_b, floors, locked) for one in shown}
    return tuple(_guarded(one, metric, found) for metric, one in zip(shown, found.values(), strict=True))


def _judge(
    metric: Metric,
    a: Sequence[PassResult],
    b: Sequence[PassResult],
    floors: Mapping[str, Floor] | None,
    locked: str,
) -> Judged:
    told = (metric.id, metric.unit, metric.direction)
    one, other = row(told, a), row(told, b)
    base = Judged(metric.id, metric.unit, metric.direction, metric.primary, one, other, "cannot be compared", "")
    if locked:
        return _with(base, reason=locked)
    if one.mean is None or other.mean is None:
        side = "A" if one.mean is None else "B"
        return _with(base, reason=f"{side} has no complete, scored pass with it")
    if len(one.values) < len(a) or len(other.values) < len(b):
        return _with(base, reason="some of the passes lack it")
    floor = (floors or {}).get(metric.id)
    at = floor.at((one.mean + other.mean) / 2) if floor else None
    difference = other.mean - one.mean
    base = _with(
        base,
        difference=difference,
        relative=difference / abs(one.mean) if one.mean else None,
        p=rank_p(one.values, other.values),
        apart=_apart(one, other),
        floor=at,
    )
    if not metric.primary or metric.direction == "none":
        return _with(base, verdict="described", reason="not a primary metric: it describes")
    return _decided(base, difference, floor)


def _decided(base: Judged, difference: float, floor: Floor | None) -> Judged:
    n, m = len(base.a.values), len(base.b.values)
    shape = f"{n} against {m}"
    if not base.apart:
        return _with(
            base, verdict="no difference shown", reason="the ranges overlap; more passes will not part them"
        )
    more = more_passes(n, m)
    base = _with(base, more=more or None)
    best = smallest_p(n, m)
    if best > SUGGESTIVE:
        reason = f"{shape} cannot have a p below {best:.2g}; three against three is the least"
        return _with(base, verdict="no difference shown", reason=reason)
    lie_apart = f"the ranges lie apart (p {base.p:.2g}), but"
    if floor is None or base.floor is None:
        reason = f"{lie_apart} no noise floor of this machine is known"
        return _with(base, verdict="no difference shown", reason=reason)
    if min(n, m) < floor.size:
        reason = f"{lie_apart} the noise floor is of {floor.size} against {floor.size}: {shape} is noisier"
        return _with(base, verdict="no difference shown", reason=reason)
    # Written so that a NaN shows no difference, nor does the last digit of the floor's own passes.
    if not abs(difference) > base.floor * (1 + 1e-9):
        reason = f"{lie_apart} not by more than the noise floor"
        return _with(base, verdict="no difference shown", reason=reason)
    up = difference > 0
    word: Word = "better" if up == (base.direction == "higher") else "worse"
    return _with(base, verdict=word, reason=f"ranges apart, p {base.p:.2g} ({shape}), above the noise floor")


def _apart(a: Row, b: Row) -> bool:
    return max(a.values) < min(b.values) or max(b.values) < min(a.values)


def _guarded(one: Judged, metric: Metric, found: Mapping[str, Judged]) -> Judged:
    beside = [found[name] for name in metric.guards if name in found]
    return _with(
        one, guards=tuple(Guard(g.metric, g.relative, _moved(g)) for g in beside if g.difference is not None)
    )


def _moved(one: Judged) -> bool:
    return one.apart and smallest_p(len(one.a.values), len(one.b.values)) <= SUGGESTIVE


def _with(judged: Judged, **changes: object) -> Judged:
    fields = {name: getattr(judged, name) for name in judged.__struct_fields__}
    return Judged(**{**fields, **changes})


def is_number(value: float | None) -> bool:
    """Whether there is a figure that a rule may look at."""
    return value is not None and math.isfinite(value)
