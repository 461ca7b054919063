"""Taking a remedy: its command runs as a job beside the attempts of the step that is red, and is journalled."""

import asyncio
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from omnitui import left_remedies, store, worlds
from omnitui.actions.watching import keep_leaks
from omnitui.decisions import acting, user
from omnitui.errors import UsageError
from omnitui.jobs.job import Job, start
from omnitui.jobs.output import Scanner
from omnitui.jobs.stop import is_group_empty, stop
from omnitui.left_remedies import remedy_job
from omnitui.model import Crashed, Failed, RunState, Stopped
from omnitui.plan import PlannedStep, find_step, lay_out
from omnitui.runbook.gates import Remedy
from omnitui.runbook.narrow import of_run
from omnitui.runbook.remedies import remedies_of
from omnitui.runbook.schema import Environment, Runbook
from omnitui.store import RunFolder
from omnitui.values import environment_at, of_scope, place_of, script

_LOOK_S = 0.1
_GRACE_S = 10.0


def offered(run: RunFolder, step_id: str) -> tuple[PlannedStep, tuple[Remedy, ...]]:
    """A step and what helps when it is red. Raises `UsageError` for a step that is not in the run."""
    state = store.read(run)
    runbook = of_run(run.runbook, state.variables)
    planned = find_step(lay_out(runbook, state.schedule), step_id)
    return planned, remedies_of(runbook, planned.step)


def is_red(state: RunState, step_id: str) -> bool:
    """Whether the step did not end green, so that its remedies may be taken."""
    return isinstance(state.step(step_id).status, Failed | Crashed | Stopped)


def take(
    run: RunFolder, step_id: str, number: int, secrets: Mapping[str, str], say: Callable[[str], None]
) -> int | None:
    """Run remedy `number` (from 1) and tell what it prints; its exit status, or None when it left none.

    Raises `UsageError` when there is nothing to take, `RunBusy` while a runner is at work.
    """
    with acting(run) as owned:
        worlds.refuse_other(owned.state)
        store.drop_old_requests(run)
        runbook = of_run(run.runbook, owned.state.variables)
        planned = find_step(lay_out(runbook, owned.state.schedule), step_id)
        remedy = _chosen(runbook, owned.state, planned, number)
        left_remedies.refuse(run, runbook, owned.state)
        job = _job(run, runbook, owned.state, planned, remedy)
        facts: dict[str, Any] = {"step": step_id, "remedy": remedy.say, "command": remedy.run, "by": user()}
        owned.commit("remedy_begun", job=str(job.folder.path.relative_to(run.path)), **facts)
        place = remedy.place or place_of(runbook, planned.step)
        values = of_scope(runbook, owned.state, planned.scope, run.path, place)
        environment = Environment() if remedy.place else environment_at(runbook, planned.step)
        text = script(environment, remedy.say, remedy.run, values)
        status = asyncio.run(_run(run, job, text, values, secrets, say))
        store.forget_requests(run)
        owned.commit("remedy_taken", exit=status, **facts)
    return status


def _chosen(runbook: Runbook, state: RunState, planned: PlannedStep, number: int) -> Remedy:
    found = remedies_of(runbook, planned.step)
    if not is_red(state, planned.id):
        raise UsageError(f"{planned.id} is not red; a remedy is for a step that did not end green")
    if not 1 <= number <= len(found):
        raise UsageError(
            f"{planned.id} has {len(found)} remedies; `omnitui remedy {state.run} {planned.id}` lists them"
        )
    remedy = found[number - 1]
    if not remedy.run.strip():
        raise UsageError(
            f"remedy {number} has no command: {remedy.say} Then go on with: omnitui resume {state.run}"
        )
    return remedy


def _job(run: RunFolder, runbook: Runbook, state: RunState, planned: PlannedStep, remedy: Remedy) -> Job:
    folder = run.job(planned.id, 1).parent
    taken = len(list(folder.glob("remedy-*"))) if folder.is_dir() else 0
    return remedy_job(run, runbook, state, planned, f"remedy-{taken + 1}", on_host=bool(remedy.place))


async def _run(
    run: RunFolder,
    job: Job,
    text: str,
    values: Mapping[str, str],
    secrets: Mapping[str, str],
    say: Callable[[str], None],
) -> int | None:
    """Run the job and tell its lines. Ctrl-C and a request to stop end it; a terminal that goes away does not."""
    told = _Lines(job, secrets, say)
    job = await start(job.place, job.folder, text, {**values, **secrets}, job.marker, secrets)
    stop_asked = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop_asked.set)
    loop.add_signal_handler(signal.SIGHUP, lambda: None)
    ended = asyncio.create_task(job.wait())
    while not ended.done():
        await asyncio.wait({ended}, timeout=_LOOK_S)
        told.go_on()
        if stop_asked.is_set() or "stop" in store.asked(run):
            await stop(job, _GRACE_S)
    if not is_group_empty(job):
        await stop(job, _GRACE_S)
    told.go_on(last=True)
    return await ended


class _Lines:
    """Tells whole lines of a log, without secrets, and notes where those stand in it."""

    def __init__(self, job: Job, secrets: Mapping[str, str], say: Callable[[str], None]) -> None:
        self._secrets = [secret for secret in secrets.values() if secret]
        self._scanner = Scanner(job.folder.log, (), (), tuple(self._secrets))
        self._say = say
        self._told = 0
        self._rest = b""

    def go_on(self, *, last: bool = False) -> None:
        """Tell what has come; with `last`, also a line without its newline."""
        while self._scanner.read():
            pass
        keep_leaks(self._scanner)
        with self._scanner.path.open("rb") as file:
            file.seek(self._told)
            data = file.read()
        self._told += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        if last and self._rest:
            lines.append(self._rest)
        for line in lines:
            text = line.decode(errors="replace")
            for secret in self._secrets:
                text = text.replace(secret, "*" * 8)
            # Nobody may be there to read it any more.
            with suppress(OSError):
                self._say(text)
