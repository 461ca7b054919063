"""Taking up a run: what a resume decided is done here, before its next step begins."""

from contextlib import suppress
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from omnitui import store
from omnitui.actions import Context, stop_server
from omnitui.actions.server import attach, watch_health
from omnitui.errors import JobError, PlaceError
from omnitui.jobs.job import look_of
from omnitui.jobs.stop import stop
from omnitui.model import (
    Asking,
    Ended,
    PassRecord,
    Running,
    Skipped,
    StepRecord,
    Stopped,
    Waiting,
    ended_attempt,
)
from omnitui.plan import PlannedStep, next_step
from omnitui.resumption import Resume, World, apply, resume
from omnitui.runbook.schema import Serve
from omnitui.world import move_output_aside, server_jobs


async def take_up(ctx: Context, decided: Resume) -> None:
    """Do what the resume decided: know the living servers, stop what is in the way, move the old output aside."""
    owned = ctx.owned
    for name, (planned, job) in server_jobs(owned.run, ctx.runbook, ctx.plan, owned.state).items():
        attach(ctx, name, job)
        if not job.leader_lives():
            # What outlived the server's own process serves nobody.
            await stop_server(ctx, name, 10.0)
        elif isinstance(planned.step, Serve) and planned.id != decided.at:
            watch_health(ctx, ctx.servers[name], planned)
    await _set_right(ctx, decided)


async def come_to_scope(ctx: Context) -> None:
    """Decide anew: a pass may have been left half done before an earlier one was begun again."""
    live = frozenset(name for name, server in ctx.servers.items() if server.job.leader_lives())
    decided = resume(ctx.plan, ctx.owned.state, World(live_servers=live))
    if decided.kind in ("retry", "redo_pass"):
        ctx.owned.commit("left_half_done", lines=decided.lines)
    await _set_right(ctx, decided)


async def _set_right(ctx: Context, decided: Resume) -> None:
    """Stop what is in the way, move the old output aside, and let the steps wait again."""
    owned = ctx.owned
    if decided.kind in ("retry", "redo_pass"):
        step = next_step(ctx.plan, owned.state)
        status = owned.state.step(step.id).status if step else None
        if step and isinstance(status, Running):
            job = ctx.job(step, status.attempt)
            for one in (job, look_of(job)):
                await stop(one, 10.0)
            reason = "its runner died" if decided.kind == "retry" else "the pass begins again"
            ended: Ended = Stopped(attempt=status.attempt, at=store.now(), reason=reason)
            end_step(ctx, step, owned.state.step(step.id), status.since, seconds_since(status.since), ended)
    for name in decided.stop_servers:
        await stop_server(ctx, name, 30.0)
    if decided.move_aside:
        moved = move_output_aside(owned.run, ctx.runbook, owned.state, decided.move_aside)
        owned.commit("moved_aside", moved=[str(path) for path in moved])
    if decided.kind in ("retry", "redo_pass"):
        owned.commit("resumed", apply(owned.state, decided), kind=decided.kind, at=decided.at)


def is_first_of_pass(ctx: Context, planned: PlannedStep) -> bool:
    """Whether nothing of the step's pass has been begun, so that what stands in its folder is of another run.

    A step that was skipped has not made that folder, unless the pass is known to have one.
    """
    state = ctx.owned.state
    steps = (one.id for one in ctx.plan if one.scope == planned.scope)
    known = state.passes.get(planned.scope, PassRecord()).out
    fresh = all(isinstance(state.step(one).status, Waiting | Asking | Skipped) for one in steps)
    return planned.in_pass and fresh and not known


def keep_earlier_output(ctx: Context, planned: PlannedStep) -> None:
    """Move aside what another run left in a pass's output folder."""
    output = ctx.output(planned.scope)
    if not output.host.is_dir() or not any(output.host.iterdir()):
        return
    steps = (one.id for one in ctx.plan if one.scope == planned.scope)
    skipped = any(isinstance(ctx.owned.state.step(one).status, Skipped) for one in steps)
    # What the operator has made by hand, in place of a step, is younger than the run.
    if not skipped or _has_older(output.host, datetime.fromisoformat(ctx.owned.state.created).timestamp()):
        moved = output.place.move_aside(output.path, "earlier")
        ctx.owned.commit("moved_aside", moved=[str(path) for path in moved])


def _has_older(folder: Path, than: float) -> bool:
    return any(file.is_file() and file.stat().st_mtime < than for file in folder.rglob("*"))


def note_output(ctx: Context, planned: PlannedStep) -> None:
    """Remember which folder the pass writes to, as soon as a step has made it."""
    if not planned.in_pass:
        return
    known = ctx.owned.state.passes.get(planned.scope, PassRecord())
    if known.out:
        return
    try:
        out = store.folder_id(ctx.output(planned.scope).host)
    except PlaceError:
        # A container that is gone is told by the next step that needs it.
        return
    if out:
        passes = {**ctx.owned.state.passes, planned.scope: replace(known, out=out)}
        ctx.owned.commit("output", replace(ctx.owned.state, passes=passes))


def check_output(ctx: Context, planned: PlannedStep) -> None:
    """Raise `JobError` when the pass's folder is another one by now: its files are not this pass's."""
    known = ctx.owned.state.passes.get(planned.scope, PassRecord()).out
    if planned.in_pass and known:
        output = ctx.output(planned.scope)
        if store.folder_id(output.host) != known:
            raise JobError(
                f"{output.path} is not the folder that this pass made: "
                "it was moved or replaced; begin the pass again"
            )


def check_container(ctx: Context, planned: PlannedStep) -> None:
    """Mark a pass whose container is another one by now: half of its numbers would be of the old one."""
    if not planned.in_pass:
        return
    places = dict.fromkeys((ctx.output(planned.scope).place, ctx.job(planned, 1).place))
    for place in places:
        # What is down has been measured in nothing; the step that needs it says so.
        with suppress(PlaceError):
            _note_container(ctx, planned, place.name, place.tag())


def _note_container(ctx: Context, planned: PlannedStep, name: str, tag: str) -> None:
    known = ctx.owned.state.passes.get(planned.scope, PassRecord())
    if not tag or known.containers.get(name) == tag:
        return
    after = replace(known, containers={**known.containers, name: tag})
    if name in known.containers:
        mark = f"container {name} was replaced before {planned.step.id}"
        after = replace(after, marks=(*known.marks, mark))
    passes = {**ctx.owned.state.passes, planned.scope: after}
    ctx.owned.commit("container", replace(ctx.owned.state, passes=passes), step=planned.id, container=name + tag)


def end_step(
    ctx: Context, planned: PlannedStep, record: StepRecord, began: str, seconds: float, to: Ended
) -> None:
    """Commit how a step has ended."""
    after = ended_attempt(record, began, seconds, to)
    ctx.owned.commit("step_ended", ctx.owned.state.with_step(planned.id, after), step=planned.id)
    if not isinstance(planned.step, Serve):
        ctx.board.end(planned.id)


def seconds_since(began: str) -> float:
    """Seconds since a stored time: only for attempts that another runner began."""
    return max(0.0, datetime.now().astimezone().timestamp() - datetime.fromisoformat(began).timestamp())
