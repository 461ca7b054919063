"""The operator's desk: the real command line, a home of its own, and eyes for what is alive."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omnitui import store, supervise
from omnitui.cli import run_cli
from omnitui.jobs.folder import JobFolder
from omnitui.model import MARKER, RunState
from omnitui.places import Local
from omnitui.places.base import Process
from omnitui.store import RunFolder
from tests.waiting import PATIENCE_S, until

RUNBOOKS = Path(__file__).parents[1] / "data" / "runbooks"
MINI = str(RUNBOOKS / "mini")
PASS = "mini/run1"
"""The pass of the schedule `one`."""


@dataclass(frozen=True)
class Told:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str


@dataclass
class Desk:
    """One operator. Everything that is started here knows its home by `OMNITUI_HOME`."""

    home: Path
    port: int
    control: Path
    _open: list["subprocess.Popen[str]"] = field(default_factory=list)

    # -- the command line --------------------------------------------------------------------------------------

    def omnitui(self, *arguments: str) -> Told:
        """Run a verb to its end, in this process: a new one would spend most of its time on imports."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run_cli(list(arguments))
        supervise.reap()
        return Told(code, out.getvalue(), err.getvalue())

    def process(self, *arguments: str, before: tuple[str, ...] = (), env: Mapping[str, str] | None = None) -> Told:
        """Run a verb to its end in a process of its own."""
        return self.end(self.begin(*arguments, before=before, env=env))

    def begin(
        self, *arguments: str, before: tuple[str, ...] = (), env: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[str]":
        """Start a verb, behind the command `before` if there is one."""
        process = subprocess.Popen(
            [*before, sys.executable, "-m", "omnitui", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        self._open.append(process)
        return process

    def end(self, process: "subprocess.Popen[str]") -> Told:
        """Wait for a verb that was begun."""
        out, err = process.communicate(timeout=PATIENCE_S)
        self._open.remove(process)
        return Told(process.returncode, out, err)

    def mini(self, *arguments: str, schedule: str = "one", **values: str) -> tuple[str, ...]:
        """The arguments that run the mini runbook."""
        values = {"PORT": str(self.port), "CONTROL": str(self.control), **values}
        sets = [f"--set={name}={value}" for name, value in values.items()]
        return ("run", MINI, "--schedule", schedule, "--yes", *sets, *(arguments or ("--headless",)))

    def detach(self, *arguments: str) -> RunFolder:
        """Start a run, and leave it alone."""
        told = self.omnitui(*arguments, "--detach")
        assert told.code == 0, told
        return RunFolder(self.home / "runs" / told.out.strip().splitlines()[-1])

    def resume(self, run: RunFolder, *arguments: str) -> Told:
        """`omnitui resume RUN --headless --yes`."""
        return self.omnitui("resume", run.name, "--headless", "--yes", *arguments)

    def only_run(self) -> RunFolder:
        """The one run of this home."""
        (folder,) = (self.home / "runs").iterdir()
        return RunFolder(folder)

    # -- points where the mini runbook waits -------------------------------------------------------------------

    def pause(self, *points: str) -> None:
        """Let the run wait at these points."""
        for point in points:
            (self.control / point).touch()

    def waiting(self, *points: str, schedule: str = "one", **values: str) -> RunFolder:
        """Start a run that waits at these points, and come back when it is at the first."""
        self.pause(*points)
        run = self.detach(*self.mini("--detach", schedule=schedule, **values))
        self.reached(points[0])
        return run

    def reached(self, point: str) -> None:
        """Wait until the run has come to a point."""
        until((self.control / f"{point}.reached").exists, about=f"the run comes to {point}")

    def release(self, *points: str) -> None:
        """Let the run go on."""
        for point in points:
            (self.control / point).unlink(missing_ok=True)

    # -- what is known of a run --------------------------------------------------------------------------------

    def events(self, run: RunFolder, name: str, **facts: object) -> list[dict[str, Any]]:
        """The journal's events of one name in which these facts hold."""
        found, _ = store.events(run)
        return [event for event in found if event["event"] == name and facts.items() <= event.items()]

    def saw(self, run: RunFolder, name: str, **facts: object) -> dict[str, Any]:
        """Wait for an event, and return the first."""
        return until(lambda: self.events(run, name, **facts), about=f"{name} {facts}")[0]

    def state(self, run: RunFolder) -> RunState:
        """The state on disk."""
        return store.read(run)

    def status_of(self, run: RunFolder, step: str) -> str:
        """The status of a step, by its name."""
        return type(self.state(run).step(step).status).__name__

    def job(self, run: RunFolder, step: str, attempt: int = 1) -> JobFolder:
        """The folder of an attempt."""
        return JobFolder(run.job(step, attempt))

    def group_of(self, run: RunFolder, step: str, attempt: int = 1) -> int:
        """The process group of an attempt, once it has one."""
        return until(self.job(run, step, attempt).identity, about=f"{step} has its pid file").pid  # type: ignore[union-attr]

    def status(self, run: RunFolder) -> dict[str, Any]:
        """`omnitui status --json`."""
        found: dict[str, Any] = json.loads(self.omnitui("status", run.name, "--json").out)
        return found

    # -- processes ---------------------------------------------------------------------------------------------

    def kill_runner(self, run: RunFolder) -> None:
        """SIGKILL to the runner; returns when its lock is free."""
        holder = store.holder(run)
        assert holder is not None
        os.kill(holder.identity.pid, signal.SIGKILL)
        until(lambda: store.holder(run) is None, about="the lock of the dead runner is free")

    def processes(self) -> dict[int, tuple[Process, str]]:
        """Every living process of this home, with the value of its marker; ours and our verbs aside."""
        place, found = Local(), {}
        mine = {os.getpid(), *(process.pid for process in self._open)}
        for process in place.processes():
            environ = place.environ(process.pid)
            if process.zombie or process.pid in mine or not environ:
                continue
            if environ.get("OMNITUI_HOME") == str(self.home):
                found[process.pid] = (process, environ.get(MARKER, ""))
        return found

    def marked(self) -> dict[int, tuple[Process, str]]:
        """The living processes of jobs."""
        return {pid: known for pid, known in self.processes().items() if known[1]}

    def clear(self) -> dict[int, tuple[Process, str]]:
        """End whatever is left, and say what it was."""
        for process in self._open:
            process.kill()
            process.communicate()
        self._open.clear()
        # Runners first: one that is at work would start something new.
        left = self.processes()
        for pid in sorted(left, key=lambda pid: bool(left[pid][1])):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until(lambda: not self.processes())
        return left


def alive(pid: int) -> bool:
    """Whether a process lives and is no zombie."""
    process = Local().process(pid)
    return process is not None and not process.zombie


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()
    }
