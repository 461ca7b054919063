"""The process that owns a run: the next step, its action, its gates, the state, until there is a reason to end.

Started detached by `supervise`; tells it through a pipe that it has begun, or why it could not.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from omnitui import store
from omnitui.actions import ACTIONS, Changes, Context, StopAsked, stop_server
from omnitui.actions.server import attach, watch_health
from omnitui.claims import claimed
from omnitui.errors import Blocked, JobError, OmniError, UsageError
from omnitui.jobs.job import look_of
from omnitui.jobs.stop import stop, stop_stragglers
from omnitui.live import Board
from omnitui.model import (
    Asking,
    Ended,
    Failed,
    Running,
    Skipped,
    StepRecord,
    Stopped,
    Waiting,
    ended_attempt,
)
from omnitui.places.local import Local, identity_of
from omnitui.plan import Outcome, PlannedStep, Resume, World, apply, lay_out, next_step, resume
from omnitui.plan import outcome as where_it_stands
from omnitui.probes import gpu
from omnitui.runbook.load import load
from omnitui.runbook.schema import Serve
from omnitui.runbook.variables import expand
from omnitui.store import Owned, RunFolder
from omnitui.values import of_scope
from omnitui.world import job_of, observe, server_jobs


def main(arguments: list[str] | None = None) -> int:
    """Run a run. Errors go to whoever started us, or to `runner.log` once the run has begun."""
    options = _options(arguments)
    handoff = Handoff(options.handoff)
    run = RunFolder(Path(options.run))
    if options.cpus:
        os.sched_setaffinity(0, [int(cpu) for cpu in options.cpus.split(",")])
    try:
        with store.owned(run, identity_of(os.getpid())) as owned:
            store.drop_old_requests(run)
            asyncio.run(_run(owned, options, handoff))
    except OmniError as error:
        if not handoff.told(error):
            sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="omnitui.runner")
    parser.add_argument("run")
    parser.add_argument("--handoff", type=int, default=-1)
    parser.add_argument("--one", action="store_true")
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--where", choices=["place", "start"])
    parser.add_argument("--cpus", default="")
    return parser.parse_args(arguments)


class Handoff:
    """The one line that whoever started us waits for: begun, or the reason why not."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def begun(self) -> None:
        """The run is ours and about to go on."""
        self._tell({"begun": os.getpid()})

    def told(self, error: OmniError) -> bool:
        """Tell why it could not begin; False when that was said already, or nobody listens."""
        return self._tell({"error": str(error), "exit": error.exit_code, "type": type(error).__name__})

    def _tell(self, line: dict[str, object]) -> bool:
        if self._fd < 0:
            return False
        with suppress(BrokenPipeError):
            os.write(self._fd, json.dumps(line).encode() + b"\n")
        os.close(self._fd)
        self._fd = -1
        return True


async def _run(owned: Owned, options: argparse.Namespace, handoff: Handoff) -> None:
    runbook = load(owned.run.runbook)
    plan = lay_out(runbook, owned.state.schedule)
    secrets = {name: os.environ[name] for name in owned.state.secrets if name in os.environ}
    ctx = Context(owned, runbook, plan, secrets, Board(owned.run), Changes(), asyncio.Event(), options.yes)
    missing = [name for name in owned.state.secrets if name not in secrets]
    if missing:
        raise Blocked(f"the secret {missing[0]} is not in the environment; it is never stored, so give it again")
    values = of_scope(runbook, owned.state, "_/_", owned.run.path)
    names = [f"port-{expand(port, values)}" for port in runbook.resources.ports]
    names += await _gpu_names(expand(runbook.resources.gpus, values))
    with claimed(names, owned.run.name):
        world = observe(owned.run, runbook, plan, owned.state)
        in_place = {"place": True, "start": False, None: None}[options.where]
        decided = resume(plan, owned.state, world, in_place)
        # A full disk is told to whoever starts us, not to a log on that disk.
        owned.commit("runner_started", pid=os.getpid(), kind=decided.kind, lines=decided.lines)
        handoff.begun()
        _heed_signals(ctx)
        requests = asyncio.create_task(_requests(ctx))
        outcome: Outcome = "interrupted"
        try:
            await _take_up(ctx, decided)
            outcome = await _drive(ctx, one=options.one)
        except StopAsked:
            outcome = "stopped"
        finally:
            requests.cancel()
            await asyncio.wait({requests})
            ctx.changes.close()
            await _leave(ctx, outcome)


async def _gpu_names(gpus: str) -> list[str]:
    wanted = gpu.wanted_of(gpus)
    if not wanted:
        return []
    async with gpu.readings() as looks:
        reading = gpu.of_run(await anext(looks), gpus)
    return [f"gpu-{card.uuid}" for card in reading.cards]


def _heed_signals(ctx: Context) -> None:
    """TERM means stop. What is ignored here would be ignored in every job as well; what is handled is not."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ctx.stop_asked.set)
    loop.add_signal_handler(signal.SIGHUP, lambda: None)


async def _requests(ctx: Context) -> None:
    """Take requests as they come."""
    store.make_folder(ctx.owned.run.requests)
    with ctx.changes.of(ctx.owned.run.requests) as change:
        heard: set[str] = set()
        while True:
            for request in store.asked(ctx.owned.run) - heard:
                heard.add(request)
                ctx.owned.commit("request", request=request)
                if request == "stop":
                    ctx.stop_asked.set()
                if request == "hold":
                    ctx.hold_asked = True
            await change.wait()


async def _take_up(ctx: Context, decided: Resume) -> None:
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


async def _come_to_scope(ctx: Context) -> None:
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
            job = job_of(owned.run, ctx.runbook, step, status.attempt)
            for one in (job, look_of(job)):
                await stop(one, 10.0)
            reason = "its runner died" if decided.kind == "retry" else "the pass begins again"
            ended: Ended = Stopped(attempt=status.attempt, at=store.now(), reason=reason)
            _end_step(ctx, step, owned.state.step(step.id), status.since, _since(status.since), ended)
    for name in decided.stop_servers:
        await stop_server(ctx, name, 30.0)
    if decided.move_aside:
        values = of_scope(ctx.runbook, owned.state, decided.move_aside, owned.run.path)
        moved = store.move_aside([Path(values["OUT"]), owned.run.pass_folder(decided.move_aside)])
        owned.commit("moved_aside", moved=[str(path) for path in moved])
    if decided.kind in ("retry", "redo_pass"):
        owned.commit("resumed", apply(owned.state, decided), kind=decided.kind, at=decided.at)


async def _drive(ctx: Context, *, one: bool) -> Outcome:
    scope = ""
    while True:
        planned = next_step(ctx.plan, ctx.owned.state)
        if planned is None:
            return "complete"
        if ctx.stop_asked.is_set():
            raise StopAsked
        if ctx.hold_asked:
            return "held"
        if scope not in ("", planned.scope):
            await _come_to_scope(ctx)
            planned = next_step(ctx.plan, ctx.owned.state) or planned
        scope = planned.scope
        await _step(ctx, planned)
        if next_step(ctx.plan, ctx.owned.state) == planned:
            return where_it_stands(ctx.plan, ctx.owned.state, alive=False)
        if one:
            return "held" if next_step(ctx.plan, ctx.owned.state) else "complete"


async def _step(ctx: Context, planned: PlannedStep) -> None:
    """One attempt (or the rest of one) of a step, from its status running to its status ended."""
    owned = ctx.owned
    record = owned.state.step(planned.id)
    if isinstance(record.status, Running):
        attempt, began = record.status.attempt, record.status.since
    else:
        if planned.step.destructive and not (record.confirmed or ctx.yes):
            question = f"“{planned.step.title}” deletes or rebuilds something. Go on?"
            asking = Asking(at=store.now(), question=question)
            owned.commit(
                "asking", owned.state.with_step(planned.id, replace(record, status=asking)), step=planned.id
            )
            return
        _keep_earlier_output(ctx, planned)
        attempt, began = _next_attempt(owned.run, planned, record), store.now()
        record = replace(record, status=Running(attempt=attempt, since=began))
        owned.commit("step_started", owned.state.with_step(planned.id, record), step=planned.id, attempt=attempt)
    ctx.board.begin(planned.id, planned.scope)
    seconds, begun = _since(began), time.monotonic()
    try:
        result = await ACTIONS[type(planned.step)](ctx, planned, attempt)
    except (JobError, UsageError) as error:
        result = Failed(attempt=attempt, at=store.now(), reason=str(error))
    except StopAsked:
        stopped = Stopped(attempt=attempt, at=store.now(), reason="stopped by the operator")
        _end_step(ctx, planned, record, began, seconds + time.monotonic() - begun, stopped)
        raise
    if isinstance(result, Asking):
        asked = owned.state.with_step(planned.id, replace(record, status=result))
        owned.commit("asking", asked, step=planned.id, question=result.question)
        return
    _end_step(ctx, planned, record, began, seconds + time.monotonic() - begun, result)


def _keep_earlier_output(ctx: Context, planned: PlannedStep) -> None:
    """Move aside what stands in a pass's output folder before the pass begins: it is of another run."""
    untouched = Waiting | Skipped | Asking
    steps = (one.id for one in ctx.plan if one.scope == planned.scope)
    if not planned.in_pass or not all(isinstance(ctx.owned.state.step(one).status, untouched) for one in steps):
        return
    out = Path(ctx.values(planned)["OUT"])
    if out.is_dir() and any(out.iterdir()):
        moved = store.move_aside([out], "earlier")
        ctx.owned.commit("moved_aside", moved=[str(path) for path in moved])


def _end_step(
    ctx: Context, planned: PlannedStep, record: StepRecord, began: str, seconds: float, to: Ended
) -> None:
    after = ended_attempt(record, began, seconds, to)
    ctx.owned.commit("step_ended", ctx.owned.state.with_step(planned.id, after), step=planned.id)
    if not isinstance(planned.step, Serve):
        ctx.board.end(planned.id)


def _next_attempt(run: RunFolder, planned: PlannedStep, record: StepRecord) -> int:
    known = [attempt.n for attempt in record.attempts]
    with suppress(OSError):
        known += [int(one.name) for one in run.job(planned.id, 1).parent.iterdir() if one.name.isdigit()]
    return max(known, default=0) + 1


def _since(began: str) -> float:
    """Seconds since a stored time: only for attempts that another runner began."""
    return max(0.0, datetime.now().astimezone().timestamp() - datetime.fromisoformat(began).timestamp())


async def _leave(ctx: Context, outcome: Outcome) -> None:
    """Stop what must not go on without us, and say how the run stands."""
    if outcome in ("stopped", "complete"):
        for name in list(ctx.servers):
            await stop_server(ctx, name, 30.0)
        # A step may have left something behind in a session of its own.
        left = await stop_stragglers(Local(), ctx.owned.run.name, 10.0)
        if left:
            ctx.owned.commit("stragglers", stopped=left)
    for server in ctx.servers.values():
        if server.watch:
            server.watch.cancel()
        if server.leaks:
            server.leaks.cancel()
        server.ended.cancel()
    ctx.board.flush(force=True)
    store.forget_requests(ctx.owned.run)
    ctx.owned.commit("runner_ended", outcome=outcome, servers=sorted(ctx.servers))


if __name__ == "__main__":
    sys.exit(main())
