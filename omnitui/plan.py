"""From a runbook, a schedule and a state to the ordered steps, the next one, and where the run stands. Pure.

Phases that come once a run stand where they are written. Neighbouring phases that come once a series or in each
pass form a block, and the block is laid out pass by pass along the schedule.
"""

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import groupby
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct
from msgspec.structs import replace

from omnitui.errors import UsageError
from omnitui.model import (
    RUN_WIDE,
    Asking,
    Crashed,
    Failed,
    Passed,
    Running,
    RunState,
    Skipped,
    Status,
    Stopped,
    Waiting,
)
from omnitui.runbook.schema import ENTRY, Phase, Runbook, Schedule, Serve, Step, Stop


class PlannedStep(Struct, frozen=True):
    """One line of the checklist. `scope` is `_/_`, `series/_` or `series/pass`; `id` is `scope/step`."""

    id: str
    scope: str
    phase: str
    step: Step
    scored: bool

    @property
    def series(self) -> str:
        """The series, or `_`."""
        return self.scope.partition("/")[0]

    @property
    def label(self) -> str:
        """The pass, or `_`."""
        return self.scope.partition("/")[2]

    @property
    def in_pass(self) -> bool:
        """Whether the step belongs to a pass."""
        return self.label != RUN_WIDE


Plan: TypeAlias = tuple[PlannedStep, ...]


def schedule_of(runbook: Runbook, name: str | None) -> Schedule:
    """The schedule with this id; without a name, the first. A runbook without passes has an empty one."""
    if not runbook.schedules and name is None:
        return Schedule(id="", title="", order=())
    for schedule in runbook.schedules:
        if name in (None, schedule.id):
            return schedule
    raise UsageError(f"no schedule {name}; there are: {', '.join(s.id for s in runbook.schedules) or 'none'}")


def custom(schedule: Schedule, entries: Sequence[str]) -> Schedule:
    """The schedule with the operator's own order of passes. Raises `UsageError`."""
    known = list(dict.fromkeys(entry.partition("/")[0] for entry in schedule.order))
    for entry in entries:
        if not ENTRY.fullmatch(entry) or entry.partition("/")[0] not in known:
            raise UsageError(f"{entry!r} is no series/pass; the series of {schedule.id} are: {', '.join(known)}")
        if entries.count(entry) > 1:
            raise UsageError(f"{entry} stands {entries.count(entry)} times; results would be overwritten")
    if not entries:
        raise UsageError("an order needs at least one pass, such as " + (schedule.order or ("main/1",))[0])
    return replace(schedule, order=tuple(entries))


def lay_out(runbook: Runbook, order: Sequence[str]) -> Plan:
    """All steps in the order in which they run."""
    planned: list[PlannedStep] = []
    for once, phases in groupby(runbook.phases, key=lambda phase: phase.per == "run"):
        if once:
            planned += [one for phase in phases for one in _steps(runbook, phase, f"{RUN_WIDE}/{RUN_WIDE}")]
        else:
            planned += _block(runbook, tuple(phases), order)
    return tuple(planned)


def _block(runbook: Runbook, phases: tuple[Phase, ...], order: Sequence[str]) -> Iterator[PlannedStep]:
    begun: set[str] = set()
    for scope in order:
        series = scope.partition("/")[0]
        for phase in phases:
            if phase.per == "pass":
                yield from _steps(runbook, phase, scope)
            elif series not in begun:
                yield from _steps(runbook, phase, f"{series}/{RUN_WIDE}")
        begun.add(series)


def _steps(runbook: Runbook, phase: Phase, scope: str) -> Iterator[PlannedStep]:
    label = scope.partition("/")[2]
    for step in phase.steps:
        if label not in step.skip_passes:
            yield PlannedStep(f"{scope}/{step.id}", scope, phase.id, step, label not in runbook.passes.unscored)


def find_step(plan: Plan, step_id: str) -> PlannedStep:
    """The step with this id. Raises `UsageError`."""
    for planned in plan:
        if planned.id == step_id:
            return planned
    raise UsageError(f"the run has no step {step_id}")


def named_step(plan: Plan, name: str) -> PlannedStep:
    """The step with this id, or the only one whose id ends so (`client` for `a/1/client`). Raises `UsageError`."""
    fits = [one for one in plan if one.id == name] or [one for one in plan if one.id.endswith(f"/{name}")]
    if len(fits) > 1:
        raise UsageError(f"{len(fits)} steps are called {name}; say which: {', '.join(one.id for one in fits)}")
    if not fits:
        near = get_close_matches(name, [text for one in plan for text in (one.id, one.step.id)], n=1)
        raise UsageError(f"the run has no step {name}" + (f"; did you mean {near[0]}?" if near else ""))
    return fits[0]


def heading(scope: str) -> str:
    """What stands above the steps of a scope: `Run` for `_/_`, `a` for `a/_`, `a/run1` for a pass."""
    return "/".join(part for part in scope.split("/") if part != RUN_WIDE) or "Run"


def of_scope(plan: Plan, step: PlannedStep) -> Iterable[PlannedStep]:
    """All steps of the same scope, in their order."""
    return (planned for planned in plan if planned.scope == step.scope)


def servers_at(plan: Plan, step_id: str) -> tuple[str, ...]:
    """The servers that an earlier step of the same scope started and none has stopped yet, before this step."""
    step = find_step(plan, step_id)
    up: dict[str, None] = {}
    for planned in of_scope(plan, step):
        if planned.id == step_id:
            break
        if isinstance(planned.step, Serve):
            up[planned.step.server] = None
        elif isinstance(planned.step, Stop):
            up.pop(planned.step.server, None)
    return tuple(up)


def passes_on(plan: Plan, step: PlannedStep) -> tuple[str, ...]:
    """The passes that rest on a step: its own, or those that come after one of a series or of the run."""
    if step.in_pass:
        return (step.scope,)
    after = plan[plan.index(step) :]
    return tuple(dict.fromkeys(p.scope for p in after if p.in_pass and step.series in (RUN_WIDE, p.series)))


# -- where a run stands ----------------------------------------------------------------------------------------


def is_done(status: Status) -> bool:
    """Whether the run may go on past a step with this status."""
    match status:
        case Passed() | Skipped():
            return True
        case Waiting() | Running() | Failed() | Stopped() | Crashed() | Asking():
            return False
    assert_never(status)


def next_step(plan: Plan, state: RunState) -> PlannedStep | None:
    """The first step that is not done; None when all are. One that let the run go on waits for the others."""
    left = [planned for planned in plan if not is_done(state.step(planned.id).status)]
    return next((planned for planned in left if not went_on(planned, state)), left[0] if left else None)


def went_on(planned: PlannedStep, state: RunState) -> bool:
    """Whether the step is red and let the run go on."""
    status = state.step(planned.id).status
    return isinstance(status, Failed) and status.went_on


Outcome: TypeAlias = Literal["complete", "running", "failed", "stopped", "interrupted", "asking", "held"]


def outcome(plan: Plan, state: RunState, alive: bool) -> Outcome:
    """Where the run stands, given whether a runner holds its lock.

    "interrupted" is a step that reads as running, or a crashed one, with nobody at work; "held" waits for a start.
    """
    step = next_step(plan, state)
    if alive:
        return "running"
    if step is None:
        return "complete"
    status = state.step(step.id).status
    match status:
        case Waiting():
            return "held"
        case Running() | Crashed():
            return "interrupted"
        case Failed():
            return "failed"
        case Stopped():
            return "stopped"
        case Asking():
            return "asking"
        case Passed() | Skipped():
            raise AssertionError("a step that is done is not the next one")
    assert_never(status)
