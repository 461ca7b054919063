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
from pathlib import Path

from msgspec.structs import replace

from omnitui import left_remedies, store
from omnitui.actions import ACTIONS, Changes, Context, StopAsked, stop_server
from omnitui.actions.command import destroys, has_look, must_ask
from omnitui.claims import claimed, output
from omnitui.errors import Blocked, JobError, OmniError, PlaceError, ResourceBusy, UsageError
from omnitui.jobs.stop import stop_stragglers
from omnitui.live import Board
from omnitui.model import (
    Asking,
    Failed,
    Running,
    StepRecord,
    Stopped,
)
from omnitui.places import places_of
from omnitui.places.local import identity_of
from omnitui.plan import Outcome, PlannedStep, lay_out, next_step, went_on
from omnitui.plan import outcome as where_it_stands
from omnitui.probes import gpu
from omnitui.recording import recorded
from omnitui.resuming import (
    check_container,
    check_output,
    come_to_scope,
    end_step,
    is_first_of_pass,
    keep_earlier_output,
    note_output,
    seconds_since,
    take_up,
)
from omnitui.resumption import resume
from omnitui.runbook.narrow import of_run
from omnitui.runbook.variables import expand
from omnitui.store import Owned, RunFolder
from omnitui.telling import told
from omnitui.values import of_scope, port_of
from omnitui.world import observe


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
    runbook = of_run(owned.run.runbook, owned.state.variables)
    plan = lay_out(runbook, owned.state.schedule)
    secrets = {name: os.environ[name] for name in owned.state.secrets if name in os.environ}
    ctx = Context(owned, runbook, plan, secrets, Board(owned.run), Changes(), asyncio.Event(), options.yes)
    missing = [name for name in owned.state.secrets if name not in secrets]
    if missing:
        raise Blocked(f"the secret {missing[0]} is not in the environment; it is never stored, so give it again")
    things = await _things(ctx)
    ctx.claims |= things.keys()
    with claimed(things, owned.run.name), ctx.held:
        left_remedies.refuse(owned.run, runbook, owned.state)
        world = observe(owned.run, runbook, plan, owned.state)
        in_place = {"place": True, "start": False, None: None}[options.where]
        decided = resume(plan, owned.state, world, in_place)
        # A full disk is told to whoever starts us, not to a log on that disk.
        owned.commit("runner_started", pid=os.getpid(), kind=decided.kind, lines=decided.lines)
        handoff.begun()
        _heed_signals(ctx)
        requests = asyncio.create_task(_requests(ctx))
        outcome: Outcome = "interrupted"
        async with recorded(ctx), told(ctx):
            try:
                await take_up(ctx, decided)
                outcome = await _drive(ctx, one=options.one)
            except StopAsked:
                outcome = "stopped"
            finally:
                requests.cancel()
                await asyncio.wait({requests})
                ctx.changes.close()
                await _leave(ctx, outcome)


async def _things(ctx: Context) -> dict[str, str]:
    """What the run needs for itself: its ports, its GPUs, and where its passes leave their output."""
    runbook, state, run = ctx.runbook, ctx.owned.state, ctx.owned.run
    values = of_scope(runbook, state, "_/_", run.path)
    ports = [port_of(text, values) for text in runbook.resources.ports]
    things = {f"port-{port}": f"port {port}" for port in ports}
    gpus = expand(runbook.resources.gpus, values)
    if gpu.wanted_of(gpus):
        cards = gpu.of_run(await gpu.first(), gpus).cards
        things |= {f"gpu-{card.uuid}": f"GPU {card.index} ({card.uuid})" for card in cards}
    for scope in state.schedule if runbook.passes.out else ():
        # A folder whose name a step still has to hand on is not known yet, nor is one of a container to be made.
        with suppress(UsageError, PlaceError):
            things |= output(ctx.output(scope).host)
    return things


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
            await come_to_scope(ctx)
            planned = next_step(ctx.plan, ctx.owned.state) or planned
        scope = planned.scope
        await _step(ctx, planned)
        if ctx.stop_asked.is_set():
            raise StopAsked
        then = next_step(ctx.plan, ctx.owned.state)
        if then and (then == planned or went_on(then, ctx.owned.state)):
            return where_it_stands(ctx.plan, ctx.owned.state, alive=False)
        if one:
            return "held" if then else "complete"


async def _step(ctx: Context, planned: PlannedStep) -> None:
    """One attempt (or the rest of one) of a step, from its status running to its status ended."""
    owned = ctx.owned
    record = owned.state.step(planned.id)
    first = False
    if isinstance(record.status, Running):
        attempt, began = record.status.attempt, record.status.since
    else:
        # A step that may be true already is looked at first: then there may be nothing to ask about.
        if must_ask(ctx, planned) and not has_look(planned.step):
            asking = Asking(at=store.now(), question=destroys(planned))
            owned.commit(
                "asking", owned.state.with_step(planned.id, replace(record, status=asking)), step=planned.id
            )
            return
        first = is_first_of_pass(ctx, planned)
        attempt, began = _next_attempt(owned.run, planned, record), store.now()
        record = replace(record, status=Running(attempt=attempt, since=began))
        owned.commit("step_started", owned.state.with_step(planned.id, record), step=planned.id, attempt=attempt)
    ctx.board.begin(planned.id, planned.scope)
    seconds, begun = seconds_since(began), time.monotonic()
    try:
        ctx.claim_output(planned)
        if first:
            keep_earlier_output(ctx, planned)
        check_output(ctx, planned)
        check_container(ctx, planned)
        result = await ACTIONS[type(planned.step)](ctx, planned, attempt)
    except (JobError, UsageError, ResourceBusy) as error:
        result = Failed(attempt=attempt, at=store.now(), reason=str(error))
    except StopAsked:
        stopped = Stopped(attempt=attempt, at=store.now(), reason="stopped by the operator")
        end_step(ctx, planned, record, began, seconds + time.monotonic() - begun, stopped)
        raise
    if isinstance(result, Asking):
        asked = owned.state.with_step(planned.id, replace(record, status=result))
        owned.commit("asking", asked, step=planned.id, question=result.question)
        return
    end_step(ctx, planned, record, began, seconds + time.monotonic() - begun, result)
    note_output(ctx, planned)


def _next_attempt(run: RunFolder, planned: PlannedStep, record: StepRecord) -> int:
    known = [attempt.n for attempt in record.attempts]
    with suppress(OSError):
        known += [int(one.name) for one in run.job(planned.id, 1).parent.iterdir() if one.name.isdigit()]
    return max(known, default=0) + 1


async def _leave(ctx: Context, outcome: Outcome) -> None:
    """Stop what must not go on without us, and say how the run stands."""
    if outcome in ("stopped", "complete"):
        for name in list(ctx.servers):
            await stop_server(ctx, name, 30.0)
        # A step may have left something behind in a session of its own.
        left = 0
        for place in places_of(ctx.runbook, ctx.owned.state, ctx.owned.run):
            # What cannot be reached cannot be stopped either; it was told when it was lost.
            with suppress(PlaceError):
                left += await stop_stragglers(place, ctx.owned.run.name, 10.0)
        if left:
            ctx.owned.commit("stragglers", stopped=left)
    for server in ctx.servers.values():
        server.let_go()
    ctx.board.flush(force=True)
    store.forget_requests(ctx.owned.run)
    ctx.owned.commit("runner_ended", outcome=outcome, servers=sorted(ctx.servers))


if __name__ == "__main__":
    sys.exit(main())
