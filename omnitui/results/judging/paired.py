"""Comparing sample by sample: descriptive, beside the verdicts over whole passes.

Samples of one pass share a server and a moment; thousands of them are no thousands of measurements.
"""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from omnitui.results.files import ResultError, read_json, search
from omnitui.results.judging.permutation import sign_p
from omnitui.runbook.measured import Samples
from omnitui.runbook.variables import expand


class Paired(Struct, frozen=True):
    """One number of each sample, A's mean over its passes against B's. Counts are of samples."""

    id: str
    unit: str
    direction: str
    pairs: int
    lower: int = 0
    """B is lower than A."""
    equal: int = 0
    higher: int = 0
    median: float | None = None
    """Of the differences, B minus A."""
    p: float | None = None
    """Two-sided sign test."""
    only_a: int = 0
    only_b: int = 0
    largest: tuple[tuple[str, float, float], ...] = ()
    """The samples that differ most: id, A, B."""
    unread: tuple[str, ...] = ()
    """Passes whose samples could not be read, with the reason."""


_SHOWN = 5


def by_sample(spec: Samples, out: Path, values: Mapping[str, str]) -> dict[str, float]:
    """The number of each sample of a pass; samples without a finite one are not in it. Raises `ResultError`."""
    rows = search(spec.rows, read_json(out / expand(spec.file, values)))
    if not isinstance(rows, list):
        raise ResultError(f"{spec.file}: {spec.rows} is no list")
    found: dict[str, float] = {}
    for line in rows:
        name = line.get(spec.key) if isinstance(line, dict) else None
        value = search(spec.value, line)
        if (
            name is None
            or isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            continue
        if str(name) in found:
            raise ResultError(f"{spec.file}: the id {name} stands there twice")
        found[str(name)] = float(value)
    return found


def pair(
    spec: Samples, a: Sequence[Mapping[str, float]], b: Sequence[Mapping[str, float]], unread: Iterable[str] = ()
) -> Paired:
    """Pair the samples of two groups of passes by their ids."""
    one, other = _means(a), _means(b)
    both = sorted(one.keys() & other.keys())
    differences = [other[name] - one[name] for name in both]
    lower = sum(1 for d in differences if d < 0)
    higher = sum(1 for d in differences if d > 0)
    largest = sorted(both, key=lambda name: (-abs(other[name] - one[name]), name))[:_SHOWN]
    return Paired(
        spec.id,
        spec.unit,
        spec.direction,
        len(both),
        lower,
        len(both) - lower - higher,
        higher,
        statistics.median(differences) if differences else None,
        sign_p(lower, higher) if differences else None,
        len(one.keys() - other.keys()),
        len(other.keys() - one.keys()),
        tuple((name, one[name], other[name]) for name in largest if one[name] != other[name]),
        tuple(unread),
    )


def _means(passes: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each sample over the passes; a sample that one of them lacks is left out."""
    common = set(passes[0]) if passes else set()
    for one in passes:
        common &= one.keys()
    return {name: statistics.mean(one[name] for one in passes) for name in common}
