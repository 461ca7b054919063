"""Waiting for a job: its words, its end, its time limit, its servers, and the operator's stop."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeAlias

from omnitui.actions.changes import Change
from omnitui.actions.context import Context, RunningServer, StopAsked
from omnitui.jobs.job import Job
from omnitui.jobs.output import Scanner
from omnitui.jobs.stop import is_group_empty, stop
from omnitui.logs import LEAKS
from omnitui.notices import WITH_SERVER
from omnitui.store import replace_file

_Coroutine: TypeAlias = Coroutine[Any, Any, Any]
POLL_S = 0.2
"""Between two looks at something that cannot tell by itself that it changed."""
_BUSY_BYTES = 1 << 18


async def follow(scanner: Scanner, change: Change, changed: Callable[[], None]) -> None:
    """Read the log whenever it grows, for ever."""
    while True:
        before = scanner.offset
        if scanner.read():
            changed()
        # A flood is read in large bites, so that it costs little.
        await asyncio.sleep(0.05 if scanner.offset - before > _BUSY_BYTES else 0.002)
        await change.wait()


async def wait_job(
    ctx: Context, job: Job, scanner: Scanner, changed: Callable[[], bool], limit_s: float, servers: tuple[str, ...]
) -> str:
    """Wait until the job has ended; why it was cut short, or an empty string.

    `changed` is called after each piece of output and says whether a refused word makes waiting useless.
    Raises `StopAsked` once the job has been stopped for the operator.
    """
    refused = asyncio.Event()

    def look() -> None:
        keep_leaks(scanner)
        if changed():
            refused.set()

    up = map(ctx.servers.get, servers)
    deaths = {task: server for server in up if server for task in (server.ended, server.watch) if task}
    with ctx.changes.of(scanner.path) as change:
        waits: dict[str, _Coroutine] = {
            "ended": job.wait(),
            "refused": refused.wait(),
            "stop": ctx.stop_asked.wait(),
        }
        if limit_s:
            waits["limit"] = asyncio.sleep(limit_s)
        done = await _first(waits, deaths, follow(scanner, change, look))
    names = {task.get_name() for task in done if task not in deaths}
    await (_leave_nothing(job) if "ended" in names else stop(job, grace_s=10.0))
    # What it printed last has not been read yet.
    while scanner.read():
        pass
    keep_leaks(scanner)
    if "ended" in names:
        return next((_lost(server) for task, server in deaths.items() if task.done()), "")
    if "stop" in names:
        raise StopAsked
    if "limit" in names:
        return f"took longer than {limit_s:g} s"
    return next((_lost(server) for task, server in deaths.items() if task in done), "a refused word was printed")


async def _first(
    waits: Mapping[str, _Coroutine], others: Iterable[asyncio.Task[Any]], meanwhile: _Coroutine
) -> set[asyncio.Task[Any]]:
    """The tasks that ended first: those of `waits`, which have their names, and others. None of ours is left."""
    named = {asyncio.create_task(wait, name=name) for name, wait in waits.items()}
    ours = (*named, asyncio.create_task(meanwhile))
    try:
        return (await asyncio.wait({*named, *others}, return_when=asyncio.FIRST_COMPLETED))[0]
    finally:
        for task in ours:
            task.cancel()
        await asyncio.gather(*ours, return_exceptions=True)


def _lost(server: RunningServer) -> str:
    how = "died" if server.ended.done() else "was no longer READY"
    return f"server {server.name} {how} {WITH_SERVER}"


async def _leave_nothing(job: Job) -> None:
    # A step that has ended has ended: what it left in its group would disturb the next measurement.
    if not is_group_empty(job):
        await stop(job, grace_s=5.0)


def keep_leaks(scanner: Scanner) -> None:
    """Write down where secrets stand in the log, so that whoever shows it can blank them without knowing them."""
    if scanner.leaks:
        replace_file(scanner.path.with_name(LEAKS), json.dumps(scanner.leaks).encode(), durable=False)
