"""How a run goes on: what a resume will do, given the plan, the state and what was seen of the world. Pure."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from omnitui.errors import UsageError
from omnitui.model import RUN_WIDE, Asking, PassRecord, Running, RunState, StepRecord, Waiting
from omnitui.plan import Plan, PlannedStep, find_step, next_step, of_scope, servers_at, went_on
from omnitui.runbook.schema import Collect, Confirm, Serve, Stop, Summarize

JobFact: TypeAlias = Literal["alive", "ended", "lost"]
"""What became of the attempt that was running when the runner died; "ended" has an exit status on disk."""


class World(Struct, frozen=True):
    """What was seen outside the state before a resume is planned."""

    job: JobFact | None = None
    live_servers: frozenset[str] = frozenset()
    runbook_changed: bool = False


class Resume(Struct, frozen=True):
    """What a resume will do. `kind` is how the run goes on at `at`; `lines` tell it to the operator."""

    kind: Literal["complete", "go_on", "adopt", "retry", "redo_pass"]
    at: str = ""
    reset: tuple[str, ...] = ()
    """Steps that will be run again though they had passed, or had been tried."""
    stop_servers: tuple[str, ...] = ()
    move_aside: str = ""
    """The pass whose output is moved aside, or empty."""
    mark: str = ""
    """Why the pass is left out of the averages from here on, or empty."""
    lines: tuple[str, ...] = ()


def resume(plan: Plan, state: RunState, world: World, in_place: bool | None = None) -> Resume:
    """What would happen next. `in_place` overrides the runbook: at the failed step, or from the pass's start."""
    step = next_step(plan, state)
    if step is None:
        return Resume("complete", lines=("Every step is done; there is nothing to resume.",))
    notes = ("The runbook has changed since this run began; the run goes on with its own copy.",)
    before = notes if world.runbook_changed else ()
    status = state.step(step.id).status
    if isinstance(status, Running) and world.job in ("alive", "ended") and _servers_live(plan, step, world):
        how = "is still running: wait for it" if world.job == "alive" else "ended meanwhile: judge what it left"
        return Resume("adopt", step.id, lines=(*before, f"{_name(step)} {how}."))
    lost = _lost_servers(plan, step, world)
    fresh = isinstance(status, Waiting | Asking)
    if fresh and not lost:
        verb = "Go on" if state.steps else "Begin"
        return Resume("go_on", step.id, lines=(*before, f"{verb} at {_name(step)}."))
    whole_pass = redo_of(step) == "pass"
    if in_place is not None:
        whole_pass = step.in_pass and not in_place
    if whole_pass:
        return _redo_pass(plan, state, step, world, before)
    red = [planned.id for planned in plan if went_on(planned, state)] if went_on(step, state) else []
    also = tuple(step_id for step_id in red if step_id != step.id)
    return _retry(plan, step, lost, before, also, marked=redo_of(step) == "pass")


def redo_of(step: PlannedStep) -> Literal["step", "pass"]:
    """Where the runbook begins again when this step did not end green.

    What only stops, reads or asks can be done twice without harm to a measurement.
    """
    if not step.in_pass:
        return "step"
    harmless = isinstance(step.step, Stop | Collect | Summarize | Confirm)
    return step.step.redo or ("step" if harmless else "pass")


def measures(step: PlannedStep) -> bool:
    """Whether what disturbs this step disturbs a number that is averaged."""
    return step.scored and step.in_pass and redo_of(step) == "pass"


def _retry(
    plan: Plan,
    step: PlannedStep,
    lost: Sequence[str],
    before: tuple[str, ...],
    also: tuple[str, ...] = (),
    *,
    marked: bool,
) -> Resume:
    serving = [p.id for p in of_scope(plan, step) if isinstance(p.step, Serve) and p.step.server in lost]
    lines = [*before, *(f"Start server {name} again: it is gone." for name in lost)]
    lines.append(f"Run {_name(step)} again; everything before it stays as it is.")
    lines += [f"Run {_name(find_step(plan, other))} again: it was red as well." for other in also]
    mark = ""
    if marked and step.scored:
        mark = f"resumed in place at {step.step.id}"
        lines.append(f"Pass {step.scope} is then left out of the averages: {mark}.")
    return Resume("retry", step.id, (*serving, step.id, *also), mark=mark, lines=tuple(lines))


def redo(plan: Plan, state: RunState, scope: str) -> Resume:
    """Begin a pass again because the operator wants it. Raises `UsageError` for a pass that is not in the run."""
    first = next((planned for planned in plan if planned.scope == scope and planned.in_pass), None)
    if first is None:
        raise UsageError(f"the run has no pass {scope}; it has: {', '.join(state.schedule) or 'none'}")
    return _redo_pass(plan, state, first, World(), ())


def _redo_pass(plan: Plan, state: RunState, step: PlannedStep, world: World, before: tuple[str, ...]) -> Resume:
    steps = [planned for planned in plan if planned.scope == step.scope]
    # A table that was printed with the old pass is printed again.
    tables = [planned for planned in plan if isinstance(planned.step, Summarize)]
    reset = tuple(planned.id for planned in (*steps, *tables) if planned.id in state.steps)
    servers = tuple(sorted(world.live_servers))
    lines = [*before, *(f"Stop server {name}." for name in servers)]
    lines.append(f"Move the output of {step.scope} aside as -incomplete; nothing is deleted.")
    lines.append(f"Begin pass {step.scope} again at its first step ({steps[0].step.title}).")
    return Resume("redo_pass", steps[0].id, reset, servers, move_aside=step.scope, lines=tuple(lines))


def _servers_live(plan: Plan, step: PlannedStep, world: World) -> bool:
    if isinstance(step.step, Serve | Stop):
        return True
    return not _lost_servers(plan, step, world)


def _lost_servers(plan: Plan, step: PlannedStep, world: World) -> tuple[str, ...]:
    if isinstance(step.step, Stop):
        return ()
    return tuple(name for name in servers_at(plan, step.id) if name not in world.live_servers)


def _name(step: PlannedStep) -> str:
    where = "" if step.scope == f"{RUN_WIDE}/{RUN_WIDE}" else f"{step.scope}: "
    return f"{where}“{step.step.title}”"


def edit_mark(step_id: str) -> str:
    """Why a pass is left out of the averages once the command of one of its steps was edited."""
    return f"the command of {step_id.rpartition('/')[2]} was edited"


def apply(state: RunState, decided: Resume) -> RunState:
    """The state after the decision, before anything runs: reset steps wait again, their attempts are kept."""
    steps = dict(state.steps)
    for step_id in decided.reset:
        record = state.step(step_id)
        steps[step_id] = StepRecord(attempts=record.attempts, edited=record.edited)
    passes = dict(state.passes)
    scope = decided.at.rpartition("/")[0]
    if decided.kind == "redo_pass":
        # The operator's own commands outlive the redo, and so does what they say of the pass.
        marks = tuple(edit_mark(step_id) for step_id in decided.reset if state.step(step_id).edited)
        wide = (edit_mark(step_id) for step_id in state.steps if "/_/" in step_id and state.step(step_id).edited)
        known_marks = passes.get(scope, PassRecord()).marks
        marks = tuple(dict.fromkeys((*marks, *(mark for mark in wide if mark in known_marks))))
        passes[scope] = PassRecord(round=passes.get(scope, PassRecord()).round + 1, marks=marks)
    if decided.mark:
        known = passes.get(scope, PassRecord())
        passes[scope] = replace(known, marks=tuple(dict.fromkeys((*known.marks, decided.mark))))
    return replace(state, steps=steps, passes=passes)
