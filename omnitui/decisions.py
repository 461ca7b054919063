"""What the operator decides while no runner is at work: made under the lock of the run, and journalled."""

import asyncio
import os
import pwd
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path

from msgspec.structs import replace

from omnitui import left_remedies, store, worlds
from omnitui.claims import claimed, output
from omnitui.errors import CorruptState, OmniError, UsageError
from omnitui.jobs.job import job_of, look_of
from omnitui.jobs.stop import stop, stop_stragglers
from omnitui.model import (
    Asking,
    Passed,
    PassRecord,
    Running,
    RunState,
    Skipped,
    StepRecord,
    Stopped,
    ended_attempt,
)
from omnitui.places import output_at, places_of
from omnitui.places.local import identity_of
from omnitui.plan import find_step, is_done, lay_out, next_step, passes_on
from omnitui.resumption import apply, edit_mark, redo
from omnitui.runbook.narrow import of_run
from omnitui.runbook.schema import Confirm
from omnitui.store import Owned, RunFolder
from omnitui.world import move_output_aside, server_jobs

NOTHING = "nothing was running"
"""What stopping says when there was nothing to stop."""


def stop_left_overs(run: RunFolder) -> str:
    """Stop what a runner that is gone has left at work; what was stopped."""
    with acting(run) as owned:
        worlds.refuse_other(owned.state)
        stopped = [*_stop_orphan(owned), *(f"server {name}" for name in _stop_servers(owned))]
        stopped += _stop_stragglers(owned)
    return f"stopped {', '.join(stopped)}" if stopped else NOTHING


def _stop_orphan(owned: Owned) -> list[str]:
    """Stop the job that a dead runner left at work; its step then reads as stopped. The step's title."""
    runbook = of_run(owned.run.runbook, owned.state.variables)
    step = next_step(lay_out(runbook, owned.state.schedule), owned.state)
    record = owned.state.step(step.id) if step else StepRecord()
    if step is None or not isinstance(record.status, Running):
        return []
    job = job_of(owned.run, runbook, owned.state, step, record.status.attempt)
    for one in (job, look_of(job)):
        one.give_up()
    alive = [one for one in (job, look_of(job)) if one.fact() == "alive"]
    for one in alive:
        done = asyncio.run(stop(one, 30.0))
        if done.survivors:
            raise OmniError(f"{step.id} is still alive: pid {', '.join(map(str, done.survivors))}")
    if not alive:
        return []
    ended = Stopped(attempt=record.status.attempt, at=store.now(), reason="stopped by the operator")
    after = owned.state.with_step(step.id, ended_attempt(record, record.status.since, 0.0, ended))
    owned.commit("step_ended", after, step=step.id, by=user())
    return [f"“{step.step.title}”"]


def _stop_servers(owned: Owned) -> list[str]:

    runbook = of_run(owned.run.runbook, owned.state.variables)
    jobs = server_jobs(owned.run, runbook, lay_out(runbook, owned.state.schedule), owned.state)
    for name, (_, job) in jobs.items():
        done = asyncio.run(stop(job, 30.0))
        if done.survivors:
            raise OmniError(f"server {name} is still alive: pid {', '.join(map(str, done.survivors))}")
        servers = {key: record for key, record in owned.state.servers.items() if key != name}
        owned.commit("server_gone", replace(owned.state, servers=servers), server=name, by="operator")
    return list(jobs)


def _stop_stragglers(owned: Owned) -> list[str]:

    runbook = of_run(owned.run.runbook, owned.state.variables)
    places = places_of(runbook, owned.state, owned.run)
    left = sum(asyncio.run(stop_stragglers(place, owned.run.name, 10.0)) for place in places)
    if left:
        owned.commit("stragglers", stopped=left)
    return [f"{left} processes that steps had left behind"] if left else []


def redo_pass(run: RunFolder, scope: str) -> list[Path]:
    """Begin a pass again: servers stopped, output moved aside, steps waiting. What was moved, by its new name."""
    with acting(run) as owned:
        worlds.refuse_other(owned.state)
        runbook = of_run(run.runbook, owned.state.variables)
        plan = lay_out(runbook, owned.state.schedule)
        decided = redo(plan, owned.state, scope)
        left_remedies.refuse(run, runbook, owned.state)
        _stop_orphan(owned)
        _stop_servers(owned)
        # Another run may be at work in that folder.
        with claimed(output(output_at(runbook, owned.state, scope, run).host), run.name):
            moved = move_output_aside(run, runbook, owned.state, scope)
        owned.commit("moved_aside", moved=[str(path) for path in moved])
        owned.commit("redo", apply(owned.state, decided), at=decided.at, by=user())
    return moved


def acting(run: RunFolder) -> AbstractContextManager[Owned]:
    """The run's lock, for a decision of the operator while no runner is at work."""
    return store.owned(run, identity_of(os.getpid()), role="operator")


def confirm(run: RunFolder, step_id: str) -> None:
    """Say yes to the step that asks."""
    with acting(run) as owned:
        runbook = of_run(run.runbook, owned.state.variables)
        planned = find_step(lay_out(runbook, owned.state.schedule), step_id)
        record = owned.state.step(step_id)
        if not isinstance(record.status, Asking):
            raise UsageError(f"{step_id} does not ask anything")
        if isinstance(planned.step, Confirm):
            attempt = len(record.attempts) + 1
            done = Passed(attempt=attempt, at=store.now(), evidence=(f"confirmed by {user()}",))
            after = ended_attempt(record, record.status.at, 0.0, done)
        else:
            after = StepRecord(attempts=record.attempts, edited=record.edited, confirmed=True)
        owned.commit("confirmed", owned.state.with_step(step_id, after), step=step_id, by=user())


def skip(run: RunFolder, step_id: str, reason: str) -> None:
    """Go on without a step; a pass that lacks one is left out of the averages."""
    if not reason.strip():
        raise UsageError("a skipped step needs a reason")
    with acting(run) as owned:
        runbook = of_run(run.runbook, owned.state.variables)
        planned = find_step(lay_out(runbook, owned.state.schedule), step_id)
        _stop_orphan(owned)
        record = owned.state.step(step_id)
        if is_done(record.status):
            raise UsageError(f"{step_id} is done already")
        after = ended_attempt(record, store.now(), 0.0, Skipped(at=store.now(), reason=reason))
        state = owned.state.with_step(step_id, after)
        if planned.in_pass:
            state = _marked(state, planned.scope, f"{planned.step.id} was skipped: {reason}")
        owned.commit("skipped", state, step=step_id, reason=reason, by=user())


def edit(run: RunFolder, step_id: str, command: str) -> None:
    """Replace a step's command for its next attempt; every pass that rests on it is marked as deviating."""
    with acting(run) as owned:
        plan = lay_out(of_run(run.runbook, owned.state.variables), owned.state.schedule)
        planned = find_step(plan, step_id)
        record = owned.state.step(step_id)
        state = owned.state.with_step(step_id, replace(record, edited=command))
        for scope in passes_on(plan, planned) if command else ():
            state = _marked(state, scope, edit_mark(step_id))
        owned.commit("edited", state, step=step_id, command=command, by=user())


def _marked(state: RunState, scope: str, mark: str) -> RunState:
    known = state.passes.get(scope, PassRecord())
    marks = tuple(dict.fromkeys((*known.marks, mark)))
    return replace(state, passes={**state.passes, scope: replace(known, marks=marks)})


def user() -> str:
    """Who acts."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def repair(run: RunFolder) -> list[str]:
    """Rebuild a corrupt state from the journal and the job folders; what was done and what cannot be known."""
    try:
        store.read(run)
    except CorruptState as error:
        reason = str(error)
    else:
        return [f"{run.state} is sound; nothing to repair"]
    report = [reason]
    with store.locked(run, identity_of(os.getpid()), "operator"):
        state = store.replay(run)
        if run.state.exists():
            names = (run.state.with_name(f"state.toml.corrupt-{number}") for number in count(1))
            kept = next(name for name in names if not name.exists())
            run.state.rename(kept)
            report.append(f"the corrupt file is kept as {kept.name}")
        Owned(run, state).restore()
    report.append(f"rebuilt from {len(store.events(run)[0])} journal lines: {len(state.steps)} steps were begun")
    for step_id, record in state.steps.items():
        if not is_done(record.status):
            report.append(
                f"{step_id} reads as {type(record.status).__name__.lower()}; `omnitui resume` will look at it"
            )
    return report
