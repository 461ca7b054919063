"""A job: how it is started, how it is found again, and what became of it.

The wrapper (`launcher.sh`) is a session and group of its own. It writes `pid`, runs `script` in the foreground
with its output going straight to `log`, and writes `exit`. Both files count only once their newline is there.
"""

import asyncio
import os
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from omnitui import store
from omnitui.errors import JobError, PlaceError
from omnitui.jobs.folder import JobFolder
from omnitui.model import MARKER, Identity, RunState, marker
from omnitui.places import Place, open_place
from omnitui.places.base import Process
from omnitui.places.local import is_same
from omnitui.plan import PlannedStep
from omnitui.resumption import JobFact
from omnitui.runbook.schema import Runbook
from omnitui.store import RunFolder
from omnitui.values import inside, of_scope, place_of, spec_of

_DROPPED = ("COLUMNS", "LINES")
"""They fix the size that programs see; the job has no terminal."""
_START_S = 30.0


@dataclass
class Job:
    """A started job, ours or adopted. Nobody needs this object to know how it ended: the folder says so."""

    folder: JobFolder
    place: Place
    marker: str
    child: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    def give_up(self) -> None:
        """See to it that a wrapper that is still on its way finds its place taken, and ends.

        Its client may outlive the runner: whoever calls the job lost would else have it beside the next attempt.
        """
        path = self.folder.path / "pid"
        # Without a folder nothing was started; where nothing can be written, no wrapper can say who it is either.
        with suppress(OSError):
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with open(fd, "w") as file:
                file.write("given up\n")
            return
        # It was faster. Its line is there a moment after the file.
        for _ in range(20):
            if not path.exists() or path.stat().st_size:
                break
            time.sleep(0.005)
        self.__dict__.pop("identity", None)

    @cached_property
    def identity(self) -> Identity | None:
        """Who the wrapper is; found by its marker when it died before it could say so."""
        return self.folder.identity() or _leader(self)

    def leader_lives(self) -> bool:
        """Whether the wrapper is alive and the one that we started."""
        if self.child:
            self.child.poll()
        who = self.identity
        return who is not None and is_same(self.place.process(who.pid), who, self.place.boot())

    def fact(self) -> JobFact:
        """What became of it. "lost" only when its group is empty too."""
        if self.folder.exit_status() is not None:
            return "ended"
        if self.leader_lives() or members(self):
            return "alive"
        # It may have ended between the two looks.
        return "ended" if self.folder.exit_status() is not None else "lost"

    async def wait(self) -> int | None:
        """The exit status once it has ended; None when it is lost. Sees the end within milliseconds."""
        if self.identity is not None:
            await self.place.ended(self.identity)
        while self.folder.exit_status() is None and self._may_live():
            await asyncio.sleep(0.1)
        if self.child:
            await _reaped(self.child)
        return self.folder.exit_status()

    def _may_live(self) -> bool:
        try:
            return bool(members(self))
        except PlaceError:
            # Not known is not ended.
            return True

    def lost(self) -> str:
        """That it is gone without an exit status, and why, if its place tells."""
        trouble = self.place.trouble(self.folder.begun) or store.shortage(self.folder.path)
        return "the job is gone and left no exit status" + (f": {trouble}" if trouble else "")


async def _reaped(child: "subprocess.Popen[bytes]") -> None:
    """The client of a container ends a little after the job that it started."""
    for _ in range(100):
        if child.poll() is not None:
            return
        await asyncio.sleep(0.01)


def job_of(run: RunFolder, runbook: Runbook, state: RunState, planned: PlannedStep, attempt: int) -> Job:
    """The job of an attempt, whether it has been started or not."""
    values = of_scope(runbook, state, planned.scope, run.path)
    name = place_of(runbook, planned.step)
    spec = spec_of(runbook, name, values)
    there = inside(spec, run.name) / "jobs" / planned.id / str(attempt) if spec.kind == "docker" else ""
    folder = JobFolder(run.job(planned.id, attempt), str(there))
    return Job(folder, open_place(spec, run), marker(run.name, planned.id, attempt))


def look_of(job: Job) -> Job:
    """The job that looks, before an attempt, whether its step is already true."""
    return Job(job.folder.beside(f"{job.folder.path.name}-look"), job.place, f"{job.marker}-look")


def members(job: Job, everyone: Iterable[Process] | None = None) -> list[Process]:
    """The living processes of a job: those in its session or group, and those that carry its marker.

    A process in the group counts only if its leader is still the one we know, or if it carries the marker: the
    number may belong to somebody else by now.
    """
    who = job.identity
    if who is not None and who.boot != job.place.boot():
        return []
    seen = [one for one in (job.place.processes() if everyone is None else everyone) if not one.zombie]
    known = who is not None and any(one.pid == who.pid and one.start == who.start for one in seen)
    return [
        process
        for process in seen
        if process.marker == job.marker
        or (known and who is not None and who.pid in (process.group, process.session))
    ]


def family_of(job: Job) -> list[Process]:
    """The job's members and all their living descendants."""
    everyone = job.place.processes()
    family = {process.pid: process for process in members(job, everyone)}
    grown = True
    while grown:
        children = {p.pid: p for p in everyone if p.parent in family and not p.zombie}
        grown = bool(children.keys() - family.keys())
        family |= children
    return list(family.values())


def _leader(job: Job) -> Identity | None:
    for process in job.place.processes():
        if process.pid == process.session and not process.zombie and process.marker == job.marker:
            return Identity(pid=process.pid, start=process.start, boot=job.place.boot())
    return None


def environment(values: Mapping[str, str], folder: JobFolder, marker: str) -> dict[str, str]:
    """The environment of a job: the operator's, without the terminal's size, with the run's values.

    Only the latter reach a container.
    """
    inherited = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    # SPT_NOENV keeps setproctitle from wiping the marker.
    own = {MARKER: marker, "SPT_NOENV": "1", "OMNITUI_ENV": str(folder.there / folder.handed.name)}
    return {**inherited, **values, **own}


async def start(
    place: Place,
    folder: JobFolder,
    script: str,
    values: Mapping[str, str],
    marker: str,
    secrets: Iterable[str] = (),
) -> Job:
    """Start a script in its folder. Raises `JobError` when it does not come up, with what it printed."""
    if os.path.lexists(folder.path):
        raise JobError(f"{folder.path} exists already; an attempt never runs twice")
    place.make_job(folder.path, folder.inside)
    env = environment(values, folder, marker)
    names = sorted({*values, MARKER, "SPT_NOENV", "OMNITUI_ENV"})
    try:
        _write(folder.script, script)
        _write(folder.handed, "")
        _write(folder.path / "env", "".join(f"{name}\n" for name in names))
        _write(folder.log, "")
    except OSError as error:
        raise JobError(f"{folder.path} cannot be written: {error.strerror}; free space") from error
    job = Job(folder, place, marker)
    with open(os.open(folder.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600), "ab") as log:
        try:
            job.child = subprocess.Popen(
                [*place.argv([*names, *secrets]), "--", str(folder.there), place.tag()],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=env,
                start_new_session=True,
            )
        except OSError as error:
            raise JobError(f"{place.name}: bash could not be started: {error}") from error
    assert job.child.stdin is not None
    # A bash that ended at once is told below, with what it said.
    with suppress(BrokenPipeError), job.child.stdin as pipe:
        pipe.write(place.before + _LAUNCHER)
    await _came_up(job)
    return job


_LAUNCHER = files("omnitui.jobs").joinpath("launcher.sh").read_bytes()


async def _came_up(job: Job) -> None:
    # The launcher needs two milliseconds; a place that is far away may need more.
    waited = 0.0
    step = 0.001
    while job.folder.identity() is None:
        if job.child and job.child.poll() is not None and job.folder.identity() is None:
            said = job.folder.log.read_text(errors="replace").strip().splitlines()
            # On a full disk nothing could be said.
            why = said[-1] if said else store.shortage(job.folder.path) or "bash ended at once"
            raise JobError(f"the job did not start in {job.place.name}: {why}")
        if waited > _START_S:
            raise JobError(f"the job did not start in {job.place.name} within {_START_S:.0f} s")
        await asyncio.sleep(step)
        waited += step
        step = min(step * 1.5, 0.05)


def _write(path: Path, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w") as file:
        file.write(text)
