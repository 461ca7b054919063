"""Two groups of passes side by side: what differs in their provenance, then every metric with its verdict."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from omnitui.errors import OmniError
from omnitui.results.judging.accept import Outcome, evaluate, rules_for
from omnitui.results.judging.lock import ON_BOTH, Difference, Keys, differences, unlike
from omnitui.results.judging.noise import Floor, NoFloor, NoiseFloor, floor_of, kept, machine_of
from omnitui.results.judging.paired import Paired, by_sample, pair
from omnitui.results.judging.verdicts import Judged, judge_metrics
from omnitui.results.keys import roles_of
from omnitui.results.sources import Measured
from omnitui.results.statistics import TWICE, averaged
from omnitui.runbook.measured import Samples
from omnitui.runbook.schema import Runbook


class Side(Struct, frozen=True):
    """One group of passes: those that are averaged, and the others with the reason."""

    name: str
    passes: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    commit: str = ""
    gpu: str = ""
    rehearsal: bool = False


class Comparison(Struct, frozen=True):
    """All that a comparison says. `locked` is empty when there may be verdicts."""

    title: str
    a: Side
    b: Side
    differences: tuple[Difference, ...]
    locked: str
    metrics: tuple[Judged, ...]
    samples: tuple[Paired, ...]
    noise: str
    """Which noise floor it was held against, or why there is none."""
    rules: tuple[Outcome, ...] = ()
    rules_from: str = ""
    """The file that has the rules."""

    @property
    def accepted(self) -> bool:
        """Whether every rule is met; true when there is none."""
        return all(one.ruling == "accepted" for one in self.rules)


class Group(Struct, frozen=True):
    """Passes under one name, with the runbook that says what their metrics mean."""

    name: str
    runbook: Runbook
    passes: tuple[Measured, ...]

    @property
    def good(self) -> tuple[Measured, ...]:
        """Those that may be averaged, each measurement once."""
        fit = {id(one) for one in averaged(one.result for one in self.passes)}
        return tuple(one for one in self.passes if id(one.result) in fit)


def compare(
    a: Group,
    b: Group,
    *,
    despite: Iterable[str] = (),
    floor: NoiseFloor | None = None,
    accept: Path | None = None,
) -> Comparison:
    """B against A, with `floor` or the one stored for their machine, by the rules in `accept` or those of A.

    Raises `OmniError`.
    """
    book = rules_for(a.passes, accept)
    good_a, good_b = a.good, b.good
    keys_a, keys_b = [one.keys for one in good_a], [one.keys for one in good_b]
    found = differences(keys_a, keys_b, roles_of(a.runbook), despite) if keys_a and keys_b else ()
    found = (*_on_both(good_a, good_b), *found)
    locked = _without_passes(good_a, good_b) or _locked(found)
    machine = _machine([*keys_a, *keys_b], a.runbook)
    floor = floor or (kept(machine) if machine else None)
    of_this = floor is not None and machine is not None and dict(floor.machine) == machine
    floors = floor.floors if floor and of_this else None
    results = [[one.result for one in side] for side in (good_a, good_b)]
    judged = judge_metrics(results[0], results[1], a.runbook.metrics, floors, locked)
    waved = {one.key for one in found if one.kind == "despite"}
    if _mixed(keys_a, a.runbook, waved):
        judged = tuple(replace(one, a=one.a.without_mean()) for one in judged)
    if _mixed(keys_b, a.runbook, waved):
        judged = tuple(replace(one, b=one.b.without_mean()) for one in judged)
    samples = () if locked else tuple(_paired(spec, good_a, good_b) for spec in a.runbook.samples)
    return Comparison(
        title=a.runbook.title,
        a=_side(a),
        b=_side(b),
        differences=found,
        locked=locked,
        metrics=judged,
        samples=tuple(one for one in samples if one.pairs or one.unread),
        noise=_noise(floor, of_this=of_this, known=machine is not None),
        rules=evaluate(book.rules, judged),
        rules_from=book.file,
    )


def _machine(passes: Sequence[Keys], runbook: Runbook) -> dict[str, str] | None:
    """The one machine and its settings whose noise these passes have; None when they are of several."""
    first, *others = (machine_of(one, roles_of(runbook)) for one in passes) if passes else (None,)
    return first if all(one == first for one in others) else None


def _without_passes(a: Sequence[Measured], b: Sequence[Measured]) -> str:
    empty = [name for name, side in (("A", a), ("B", b)) if not side]
    return f"no complete, scored pass in {' and '.join(empty)}" if empty else ""


def _mixed(side: Sequence[Keys], runbook: Runbook, waved: Collection[str]) -> bool:
    """Whether its passes were not measured alike, and nobody waved that through: then they share no mean."""
    return any(one.key not in waved for one in unlike(side, roles_of(runbook)))


def _on_both(a: Sequence[Measured], b: Sequence[Measured]) -> tuple[Difference, ...]:
    """What is wrong when a measurement stands on both sides: what it shows of one it shows of the other."""
    both = tuple((one, other) for one in a for other in b if one.same_as(other))
    if not both:
        return ()
    of_a, of_b = (
        tuple(dict.fromkeys(f"{one.run} {one.scope}" for one in side)) for side in zip(*both, strict=True)
    )
    return (Difference(ON_BOTH, "blocks", of_a, of_b, "on both sides"),)


def _locked(found: Sequence[Difference]) -> str:
    blocking = [f"{one.key} {'is' if one.why == 'not known' else ''} {one.why}" for one in found if one.blocks]
    words = [" ".join(one.split()) for one in blocking]
    return "; ".join(words[:3]) + (f"; and {len(words) - 3} more" if len(words) > 3 else "")


def _side(group: Group) -> Side:
    good = group.good
    results = [one.result for one in good]
    return Side(
        name=group.name,
        passes=tuple(f"{one.run} {one.scope}" for one in good),
        left_out=tuple(
            (
                f"{one.run} {one.scope}",
                one.result.left_out or (TWICE if one.result.complete else "incomplete"),
            )
            for one in group.passes
            if not any(one is other for other in good)
        ),
        commit=", ".join(dict.fromkeys(one.commit for one in results if one.commit)),
        gpu=", ".join(dict.fromkeys(one.gpu for one in results if one.gpu)),
        rehearsal=any(one.result.rehearsal for one in group.passes),
    )


_NOT_ONE = "the machine and the settings are not wholly known, or not one"


def _noise(floor: NoiseFloor | None, *, of_this: bool, known: bool) -> str:
    if floor and of_this:
        return f"noise floor of this machine from {floor.run}, {floor.passes} passes, {floor.measured[:10]}"
    if floor:
        return f"the noise floor from {floor.run} is of another machine, definition or setting: not used"
    if not known:
        return f"no noise floor: {_NOT_ONE}"
    return "no noise floor is stored: run the schedule noise-floor, then omnitui noise-floor RUN"


def _paired(spec: Samples, a: Sequence[Measured], b: Sequence[Measured]) -> Paired:
    unread: list[str] = []
    sides: list[list[Mapping[str, float]]] = [[], []]
    for side, passes in zip(sides, (a, b), strict=True):
        for one in passes:
            if one.out is None:
                unread.append(f"{one.run} {one.scope}: its output folder is not there")
                continue
            try:
                side.append(by_sample(spec, one.out, one.values))
            except OmniError as error:
                unread.append(f"{one.run} {one.scope}: {error}")
    return pair(spec, sides[0], sides[1], unread)


def measure_floor(name: str, a: Group, b: Group, measured: str) -> NoiseFloor:
    """The noise floor that two series of one and the same thing show. Raises `NoFloor`."""
    keys = [one.keys for one in (*a.good, *b.good)]
    if len(a.good) < 2 or len(b.good) < 2:
        raise NoFloor(
            f"{name}: each side needs two complete, scored passes; there are {len(a.good)}, {len(b.good)}"
        )
    if any(one.result.rehearsal for one in (*a.good, *b.good)):
        raise NoFloor(f"{name} is a rehearsal: stand-ins have no noise of this machine")
    # A label is no subject: what is measured must be one and the same.
    other = differences(keys[: len(a.good)], keys[len(a.good) :], roles_of(a.runbook))
    wrong = [one.key for one in other if one.blocks or (one.kind == "subject" and one.key in _subjects(a.runbook))]
    if len({one.result.commit for one in (*a.good, *b.good)}) > 1:
        wrong.append("commit")
    if wrong:
        raise NoFloor(f"{name} tells no noise floor: {', '.join(wrong)} not the same for all of its passes")
    machine = _machine(keys, a.runbook)
    if machine is None:
        raise NoFloor(f"{name} tells no noise floor: {_NOT_ONE}")
    size = min(len(a.good), len(b.good))
    floors: dict[str, Floor] = {}
    for metric in a.runbook.metrics:
        values = [one.result.metrics[metric.id] for one in (*a.good, *b.good) if metric.id in one.result.metrics]
        if len(values) == len(keys) and (found := floor_of(values, size)):
            floors[metric.id] = found
    return NoiseFloor(machine["runbook"], machine, name, measured, len(keys), floors)


def _subjects(runbook: Runbook) -> frozenset[str]:
    """What tells which code is measured, not only under which label."""
    return frozenset(f"told.{one.id}" for one in runbook.provenance if one.compare == "subject")
