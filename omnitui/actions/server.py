"""Servers: started and gated until READY, watched while they serve, stopped by their whole group."""

import asyncio
import time

from omnitui.actions.context import Context, Result, RunningServer, StopAsked, failed, passed
from omnitui.actions.gating import decide
from omnitui.actions.health import Health, HealthNews
from omnitui.actions.patience import patience_s
from omnitui.actions.pinning import pinning_of
from omnitui.actions.watching import follow, keep_leaks
from omnitui.gates import Green, Red, Unknown, Verdict, earned, judge_ready, who
from omnitui.jobs.job import Job, start
from omnitui.jobs.output import Scanner, tail
from omnitui.jobs.stop import stop
from omnitui.model import PINNED, ServerRecord
from omnitui.plan import PlannedStep
from omnitui.probes import listeners
from omnitui.runbook.schema import Serve, Server, Stop
from omnitui.runbook.variables import expand
from omnitui.values import command_of, environment_at, port_of, script

_WATCH_S = 5.0
"""Between two looks at the health of a server under measurement; the pages' own loops use the same."""
_PINNED_S = 10.0
"""How soon a serving server is looked at again: its first requests bring threads that READY has not seen."""


async def act_serve(ctx: Context, planned: PlannedStep, attempt: int) -> Result:
    """Start the server (or adopt it) and wait for READY. One that does not come up is stopped again."""
    step = planned.step
    assert isinstance(step, Serve)
    spec = ctx.runbook.servers[step.server]
    values = ctx.values(planned)
    port, model = port_of(spec.port, values), expand(spec.model, values)
    job = ctx.job(planned, attempt)
    if not job.folder.path.exists():
        busy = await asyncio.to_thread(listeners.look, port, place=job.place)
        if busy.listeners:
            return failed(attempt, f"{spec.word}: port {port} is held by {who(busy.listeners[0])}")
        ctx.server_state(step.server, ServerRecord(step=planned.id, job=_below(ctx, job)))
        text = script(environment_at(ctx.runbook, step), step.title, command_of(planned, ctx.owned.state), values)
        job = await start(job.place, job.folder, text, {**values, **ctx.secrets}, job.marker, ctx.secrets)
    server = attach(ctx, step.server, job)
    try:
        verdicts = await _until_up(ctx, planned, server, Health(job, port, spec.health, model), spec, model)
    except StopAsked:
        await stop_server(ctx, step.server, 10.0)
        raise
    if not earned(verdicts):
        word, wrong = next((word, one.reason) for word, one in verdicts.items() if not isinstance(one, Green))
        await stop_server(ctx, step.server, 10.0)
        last = tail(job.folder.log, 1) if word == spec.word else []
        return failed(attempt, f"{word}: {wrong}" + (f"; its last line: {last[0][:200]}" if last else ""))
    watch_health(ctx, server, planned)
    return passed(attempt, verdicts)


def _scan_for_secrets(ctx: Context, job: Job) -> None:
    if ctx.secrets:
        scanner = Scanner(job.folder.log, (), (), tuple(ctx.secrets.values()))
        while scanner.read():
            pass
        keep_leaks(scanner)


def _below(ctx: Context, job: Job) -> str:
    return str(job.folder.path.relative_to(ctx.owned.run.path))


def attach(ctx: Context, name: str, job: Job) -> RunningServer:
    """Know a server that should be up, and learn of its end at once."""
    server = RunningServer(name, job, asyncio.create_task(job.wait()))
    if ctx.secrets:
        server.leaks = asyncio.create_task(_note_leaks(ctx, job))
    ctx.servers[name] = server
    return server


async def _note_leaks(ctx: Context, job: Job) -> None:
    """A log is shown while it grows, so a secret in it must be known at once, also before READY."""
    scanner = Scanner(job.folder.log, (), (), tuple(ctx.secrets.values()))
    with ctx.changes.of(scanner.path) as change:
        await follow(scanner, change, lambda: keep_leaks(scanner))


async def _until_up(
    ctx: Context, planned: PlannedStep, server: RunningServer, health: Health, spec: Server, model: str
) -> dict[str, Verdict]:
    """The verdicts that decide over a starting server; none of them is unknown."""
    ready = await _until_ready(ctx, planned, server, health, spec, model)
    pinned = pinning_of(ctx, planned, server.job)
    if not isinstance(ready, Green) or pinned is None:
        return {spec.word: ready}
    kept = await pinned.until_told(server.ended)
    if server.ended.done():
        return {spec.word: judge_ready(spec, model, health.dead())}
    return {spec.word: ready, PINNED: kept}


async def _until_ready(
    ctx: Context, planned: PlannedStep, server: RunningServer, health: Health, spec: Server, model: str
) -> Verdict:
    limit_s = patience_s(spec.timeout_s)
    until = time.monotonic() + limit_s
    stopping = asyncio.create_task(ctx.stop_asked.wait())
    news = HealthNews(health)
    try:
        while True:
            reading = await news.next({server.ended, stopping}, until - time.monotonic())
            if ctx.stop_asked.is_set():
                raise StopAsked
            verdict = judge_ready(spec, model, health.dead() if server.ended.done() else reading)
            if isinstance(verdict, Unknown) and time.monotonic() >= until:
                verdict = Red(f"{verdict.reason} (waited {limit_s:.0f} s)")
            if ctx.board.show(planned.id, spec.word, verdict):
                ctx.owned.commit("gate", step=planned.id, word=spec.word, verdict=verdict)
            if not isinstance(verdict, Unknown):
                return verdict
    finally:
        news.close()
        stopping.cancel()


def watch_health(ctx: Context, server: RunningServer, planned: PlannedStep) -> None:
    """Keep the READY of a serving server live, gently, until it is stopped."""
    step = planned.step
    assert isinstance(step, Serve)
    spec = ctx.runbook.servers[step.server]
    values = ctx.values(planned)
    model = expand(spec.model, values)

    async def watch() -> None:
        health = Health(server.job, port_of(spec.port, values), spec.health, "")
        try:
            while True:
                await asyncio.wait({server.ended}, timeout=_WATCH_S)
                # No look at a dead one: its death is told before that of the step which it ends.
                reading = health.dead() if server.ended.done() else await asyncio.to_thread(health.look)
                verdict = judge_ready(spec, "", reading)
                if server.ended.done():
                    verdict = Red(f"the server died (exit status {server.job.folder.exit_status()})")
                elif isinstance(verdict, Green):
                    verdict = Green(verdict.reason.replace(" ", f" {model} ", 1) if model else verdict.reason)
                if ctx.board.show(planned.id, spec.word, verdict):
                    ctx.owned.commit("gate", step=planned.id, word=spec.word, verdict=verdict)
                if isinstance(verdict, Red):
                    # Whatever is measured from here on is not this server: the step at work ends with this task.
                    return
        finally:
            health.close()

    server.watch = asyncio.create_task(watch())
    if pinned := pinning_of(ctx, planned, server.job):
        server.pins = asyncio.create_task(pinned.watch(_PINNED_S))


async def act_stop(ctx: Context, planned: PlannedStep, attempt: int) -> Result:
    """Stop the server and judge the gates that say that it is really gone."""
    step = planned.step
    assert isinstance(step, Stop)
    server = ctx.servers.get(step.server)
    died = server is not None and server.ended.done()
    status = server.job.folder.exit_status() if server else None
    report, survivors = await stop_server(ctx, step.server, step.grace_s)
    if survivors:
        return failed(attempt, f"still alive after KILL: pid {', '.join(map(str, survivors))}")
    verdicts: dict[str, Verdict] = {"(stopped)": Green(report)}
    verdicts |= await decide(ctx, planned, attempt, step.gates, survivors)
    reds = [f"{word}: {verdict.reason}" for word, verdict in verdicts.items() if isinstance(verdict, Red)]
    if reds:
        return failed(attempt, "; ".join(reds))
    extra = (f"it had ended by itself (exit status {status})",) if died else ()
    return passed(attempt, verdicts, *extra)


async def stop_server(ctx: Context, name: str, grace_s: float) -> tuple[str, tuple[int, ...]]:
    """Stop a server by its identity and forget it once nothing of it lives. What was done, and who survived."""
    server = ctx.servers.pop(name, None)
    if server is None:
        return "no server was up", ()
    for task in filter(None, (server.watch, server.pins)):
        task.cancel()
    done = await stop(server.job, grace_s)
    await asyncio.wait({server.ended}, timeout=1.0)
    server.let_go()
    if server.leaks:
        # What it printed last may not have been read yet.
        _scan_for_secrets(ctx, server.job)
    ctx.board.forget(ctx.owned.state.servers[name].step if name in ctx.owned.state.servers else "")
    if done.survivors:
        ctx.servers[name] = attach(ctx, name, server.job)
        return "", done.survivors
    ctx.server_state(name, None)
    told = f"{done.signalled} processes" + (
        f", {done.killed} of them killed after {grace_s:g} s" if done.killed else ""
    )
    return told, ()
