"""A job: its folder, how it is started, and what can be known of it afterwards by anybody.

The wrapper (`launcher.sh`) is a session and group of its own. It writes `pid`, runs `script` in the foreground
with its output going straight to `log`, and writes `exit`. Both files count only once their newline is there.
"""

import asyncio
import os
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path

from omnitui import store
from omnitui.errors import JobError
from omnitui.model import MARKER, Identity
from omnitui.places import Place
from omnitui.places.base import Process
from omnitui.places.local import is_same
from omnitui.plan import JobFact
from omnitui.runbook.variables import names_in

_DROPPED = ("COLUMNS", "LINES")
"""They fix the size that programs see; the job has no terminal."""
_START_S = 10.0


@dataclass(frozen=True)
class JobFolder:
    """The names in a job's folder."""

    path: Path

    @property
    def script(self) -> Path:
        """What ran, byte for byte."""
        return self.path / "script"

    @property
    def log(self) -> Path:
        """Everything that it printed."""
        return self.path / "log"

    @property
    def handed(self) -> Path:
        """`NAME=value` lines that it hands on (`$OMNITUI_ENV`)."""
        return self.path / "handed"

    def identity(self) -> Identity | None:
        """Who the wrapper is, or None while it has not said so."""
        fields = _whole_line(self.path / "pid").split(" ")
        if len(fields) != 3 or not (fields[0].isdigit() and fields[1].isdigit()):
            return None
        return Identity(pid=int(fields[0]), start=int(fields[1]), boot=fields[2])

    def exit_status(self) -> int | None:
        """How the script ended (128 + n for signal n), or None."""
        line = _whole_line(self.path / "exit")
        return int(line) if line.isdigit() else None


def _whole_line(path: Path) -> str:
    try:
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    return text.strip() if text.endswith("\n") else ""


@dataclass
class Job:
    """A started job, ours or adopted. Nobody needs this object to know how it ended: the folder says so."""

    folder: JobFolder
    place: Place
    marker: str
    child: "subprocess.Popen[bytes] | None" = field(default=None, repr=False)

    @cached_property
    def identity(self) -> Identity | None:
        """Who the wrapper is; found by its marker when it died before it could say so."""
        return self.folder.identity() or _leader(self)

    def leader_lives(self) -> bool:
        """Whether the wrapper is alive and the one that we started."""
        if self.child and self.child.poll() is not None:
            return False
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
        await self._leader_gone()
        while self.folder.exit_status() is None and members(self):
            await asyncio.sleep(0.1)
        return self.folder.exit_status()

    async def _leader_gone(self) -> None:
        who = self.identity
        if who is None:
            return
        try:
            # A pidfd tells of the end of a process that is not our child just as well.
            fd = os.pidfd_open(who.pid)
        except ProcessLookupError:
            return
        try:
            if not self.leader_lives():
                return
            ended = asyncio.Event()
            loop = asyncio.get_running_loop()
            loop.add_reader(fd, ended.set)
            try:
                await ended.wait()
            finally:
                loop.remove_reader(fd)
        finally:
            os.close(fd)
            if self.child:
                self.child.poll()


def look_of(job: Job) -> Job:
    """The job that looks, before an attempt, whether its step is already true."""
    path = job.folder.path
    return Job(JobFolder(path.with_name(f"{path.name}-look")), job.place, f"{job.marker}-look")


def members(job: Job, *, marked: bool = True) -> list[Process]:
    """The living processes of a job: those in its session or group, and those that carry its marker.

    A process in the group counts only if its leader is still the one we know, or if it carries the marker: the
    number may belong to somebody else by now.
    """
    who = job.identity
    if who is not None and who.boot != job.place.boot():
        return []
    everyone = [process for process in job.place.processes() if not process.zombie]
    mine = os.getpid()
    known = who is not None and is_same(job.place.process(who.pid), who, who.boot)
    found = []
    for process in everyone:
        grouped = who is not None and who.pid in (process.group, process.session)
        if process.pid == mine or not (grouped or marked):
            continue
        if (grouped and known) or _carries(job, process.pid):
            found.append(process)
    return found


def _carries(job: Job, pid: int) -> bool:
    environ = job.place.environ(pid)
    return environ is not None and environ.get(MARKER) == job.marker


def _leader(job: Job) -> Identity | None:
    for process in job.place.processes():
        if process.pid == process.session and not process.zombie and _carries(job, process.pid):
            return Identity(pid=process.pid, start=process.start, boot=job.place.boot())
    return None


def environment(values: Mapping[str, str], folder: JobFolder, marker: str) -> dict[str, str]:
    """The environment of a job: the operator's, without the terminal's size, with the run's values."""
    inherited = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    # SPT_NOENV keeps setproctitle from wiping the marker.
    own = {MARKER: marker, "SPT_NOENV": "1", "OMNITUI_ENV": str(folder.handed)}
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
    if folder.path.exists():
        raise JobError(f"{folder.path} exists already; an attempt never runs twice")
    store.make_folder(folder.path)
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
                [*place.argv([*names, *secrets]), "--", str(folder.path)],
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
        pipe.write(_LAUNCHER)
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
            raise JobError(
                f"the job did not start in {job.place.name}: {said[-1] if said else 'bash ended at once'}"
            )
        if waited > _START_S:
            raise JobError(f"the job did not start in {job.place.name} within {_START_S:.0f} s")
        await asyncio.sleep(step)
        waited += step
        step = min(step * 1.5, 0.05)


def _write(path: Path, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w") as file:
        file.write(text)


def read_handed(folder: JobFolder) -> dict[str, str]:
    """What the job handed on. Lines that are not `NAME=value` are told by `JobError`."""
    try:
        text = folder.handed.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise JobError(f"{folder.handed} cannot be read: {error}") from error
    values = {}
    for line in filter(str.strip, text.split("\n")):
        name, equals, value = line.partition("=")
        if not equals or not name.isidentifier():
            raise JobError(f"$OMNITUI_ENV holds {line[:60]!r}; a line there is NAME=value")
        if "\0" in value:
            raise JobError(f"$OMNITUI_ENV holds a NUL byte in the value of {name}; no environment can carry it")
        if names_in(value):
            # It would be expanded wherever the value is used, and an unknown name would end the run.
            raise JobError(f"$OMNITUI_ENV holds {line[:60]!r}; let bash expand the name before it is handed on")
        values[name] = value
    return values
