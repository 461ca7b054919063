"""A container that is up: jobs are started by `docker exec`, and everything is looked at by one agent in it.

Jobs lie below the place's `jobs` folder, which the host mounts, so that logs and exit statuses are plain files on
the host and outlive runner, `docker exec` and container.
"""

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from omnitui import store
from omnitui.containers import ContainerReading
from omnitui.errors import JobError, PlaceDown, PlaceError, StoreError
from omnitui.model import MARKER, Identity
from omnitui.pinning import Threads
from omnitui.places.agent import PATIENCE_S, Agent, AgentConnection
from omnitui.places.base import Process
from omnitui.places.inspecting import inspect, on_host
from omnitui.places.local import SHELL, port_reading, threads_of
from omnitui.readings import PortReading

_T = TypeVar("_T")
_PYTHON = ("python3", "-I", "-S", "-c")
_RESTS_S = 1.0
"""How long a failure to look is remembered, so that a loop of looks does not become a loop of spawns."""


class Docker:
    """One container, as one run uses it. May be asked from any thread."""

    # What root makes there must be readable on the host.
    before = b"umask 022\n"

    def __init__(self, container: str, jobs: str, run: store.RunFolder | None) -> None:
        self.name = container
        self._jobs = jobs
        self._run = run
        self._lock = threading.RLock()
        self._agent: Agent | None = None
        self._seen: ContainerReading | None = None
        self._failed: tuple[float, PlaceError] | None = None
        self._ready = False

    # -- the engine ------------------------------------------------------------------------------------------

    @property
    def _docker(self) -> str:
        # The values of a run may hold a PATH; the engine's client is the operator's.
        return shutil.which("docker") or "docker"

    def container(self) -> ContainerReading:
        """Ask the engine, at about 50 ms of CPU."""
        seen = inspect(self._docker, self.name)
        with self._lock:
            self._failed = None
            if not seen.error:
                if self._seen and self._seen.id != seen.id:
                    self._ready = False
                self._seen = seen
        return seen

    def _up(self) -> Agent:
        """The agent, started if need be. Raises `PlaceDown` when nothing can live there, or `PlaceError`."""
        with self._lock:
            if self._agent and self._agent.lives:
                return self._agent
            if self._failed and time.monotonic() - self._failed[0] < _RESTS_S:
                raise self._failed[1]
            try:
                self._running()
                self._agent = Agent([*self._exec("-i"), *_PYTHON], self._where)
            except PlaceError as error:
                self._failed = (time.monotonic(), error)
                raise
            return self._agent

    def _running(self) -> ContainerReading:
        """What the engine told, if the container runs."""
        seen = self.container()
        if seen.error:
            raise PlaceError(seen.error)
        if not seen.id:
            raise PlaceDown(f"there is no container {self.name}; make it, then resume")
        if not seen.running:
            raise PlaceDown(f"{self._where} is stopped; docker start {self.name}, then resume")
        return seen

    @property
    def _where(self) -> str:
        return f"container {self.name}"

    def _ask(self, verb: str, *values: object, patience_s: float = PATIENCE_S) -> Any:
        return self._up().ask(verb, *values, patience_s=patience_s)

    def _if_up(self, look: Callable[[], _T], down: _T) -> _T:
        """In a container that is known to be down, nothing lives."""
        try:
            return look()
        except PlaceDown:
            return down
        except PlaceError:
            # The agent may have ended because the container has: then that is what the next look says.
            try:
                return look()
            except PlaceDown:
                return down

    def trouble(self, since: float) -> str:
        """Why jobs of the container that lived then may be gone."""
        told = self._trouble(since)
        for _ in range(4):
            if told or (self._agent and self._agent.lives):
                break
            # The engine learns of a container's end a moment after its processes have ended.
            time.sleep(0.5)
            told = self._trouble(since)
        return told

    def _trouble(self, since: float) -> str:
        seen = self.container()
        if seen.error:
            return seen.error
        if not seen.id:
            return f"there is no {self._where} any more"
        if not seen.running:
            return f"{self._where} is stopped; docker start {self.name}, then resume"
        with suppress(ValueError):
            # The engine tells nanoseconds, which datetime does not take.
            started = datetime.fromisoformat(seen.started[:19] + "+00:00").timestamp()
            if since and started > since:
                return f"{self._where} was started anew at {seen.started[:19]}Z"
        return ""

    # -- running ---------------------------------------------------------------------------------------------

    def argv(self, env_names: Iterable[str]) -> list[str]:
        """`docker exec` of `bash -s`. Values come from the client's environment: none stands in an argument."""
        return [*self._exec("-i", *env_names), "bash", "-s"]

    def _exec(self, how: str, *env_names: str) -> list[str]:
        named = [part for name in env_names for part in ("-e", name)]
        return [self._docker, "exec", how, *named, self.name]

    def shell(self, env_names: Iterable[str]) -> list[str]:
        """A bash of the container with a terminal."""
        return [*self._exec("-it", *env_names, "OMNITUI_RC", "TERM"), "bash", "-c", SHELL]

    def tag(self) -> str:
        """The container's id: another one of the same name is another place."""
        seen = self._seen if self._agent and self._agent.lives and self._seen else self._running()
        return f"/{seen.id[:12]}"

    def make_job(self, path: Path, inside: str) -> None:
        """Make the folder where the container's mount shows it, and a link to it at `path`."""
        self._prepare()
        host = self.to_host(inside)
        self._make_folder(host, inside)
        store.make_folder(path.parent)
        try:
            path.symlink_to(host)
        except OSError as error:
            raise StoreError(f"{path} cannot be made: {error.strerror}") from error

    def was_used(self) -> bool:
        """Whether a job of the run was started in such a container."""
        return self._run is not None and self._note.exists()

    def _prepare(self) -> None:
        """Take the runbook along, and note the mounts, once for each container."""
        self.tag()
        if self._ready or self._run is None:
            return
        inside = str(Path(self._jobs, self._run.name))
        host = self.to_host(inside)
        self._make_folder(host, inside)
        try:
            if not (host / "runbook").exists():
                fresh = host / f".runbook.{os.getpid()}"
                shutil.copytree(self._run.runbook, fresh, dirs_exist_ok=True)
                fresh.rename(host / "runbook")
        except OSError as error:
            # It is the mount's disk, not the run's: the step is red, and the run goes on to say so.
            why = error.strerror or store.shortage(host) or "is its disk full?"
            raise PlaceError(f"{host} cannot be written: {why}") from error
        store.make_folder(self._note.parent)
        store.replace_file(self._note, msgspec.json.encode(self._seen))
        self._ready = True

    def _make_folder(self, host: Path, inside: str) -> None:
        try:
            store.make_folder(host)
        except StoreError:
            # The mounted folder may belong to the container's root.
            self._ask("make_folder", inside, os.getuid(), os.getgid())

    # -- files -----------------------------------------------------------------------------------------------

    @property
    def _note(self) -> Path:
        assert self._run is not None
        return self._run.places / f"{self.name}.json"

    def to_host(self, path: str) -> Path:
        """Through the container's mounts; those that the run noted when the container is gone."""
        seen = self._seen if self._seen and self._seen.id else self.container()
        if not seen.id:
            seen = self._noted() or seen
        found = on_host(seen.mounts, path)
        if found is None:
            why = seen.error or (f"{path} lies on no folder that it mounts from the host" if seen.id else "")
            raise PlaceError(f"{self._where}: {why}" if why else f"there is no {self._where}")
        return found

    def _noted(self) -> ContainerReading | None:
        if self._run is None:
            return None
        try:
            return msgspec.json.decode(self._note.read_bytes(), type=ContainerReading)
        except (OSError, msgspec.MsgspecError):
            return None

    def move_aside(self, path: str, what: str = "incomplete") -> list[Path]:
        """By the container's root: it made what is there."""
        aside = str(self._ask("move_aside", path, what))
        return [self.to_host(aside)] if aside else []

    def write(self, path: str, text: str) -> None:
        """By the container's root."""
        self._ask("write", path, text)

    # -- processes -------------------------------------------------------------------------------------------

    def boot(self) -> str:
        """The boot and the container; empty when it is down."""
        return self._if_up(lambda: f"{self._up().boot}{self.tag()}", "")

    def processes(self) -> list[Process]:
        """Every process of the container; none when it is down."""
        rows: list[Any] = self._if_up(lambda: self._ask("processes", MARKER), [])
        return [Process(*row) for row in rows]

    def process(self, pid: int) -> Process | None:
        """One process of the container."""
        row = self._if_up(lambda: self._ask("process", pid), None)
        return Process(*row) if row else None

    def environ(self, pid: int) -> Mapping[str, str] | None:
        """Its environment."""
        found: Mapping[str, str] | None = self._if_up(lambda: self._ask("environ", pid), None)
        return found

    def affinity(self, pids: Iterable[int]) -> list[Threads] | None:
        """CPUs as the host numbers them."""
        asked = list(pids)
        return threads_of(self._if_up(lambda: self._ask("affinity", asked), []))

    async def ended(self, identity: Identity) -> None:
        """Told by the agent's pidfd. A new agent goes on when it ends; a container that is down ends the wait."""
        while True:
            try:
                if identity.boot != await asyncio.to_thread(self.boot):
                    return
                agent = await asyncio.to_thread(self._up)
                await asyncio.wrap_future(agent.begin("wait", identity.pid, identity.start))
            except PlaceDown:
                return
            except JobError:
                # Not known is not ended.
                await asyncio.sleep(_RESTS_S)
            else:
                return

    def signal(self, identity: Identity, number: int) -> bool:
        """Signal one process of this container."""
        if identity.boot != self.boot():
            return False
        return bool(self._if_up(lambda: self._ask("signal", identity.pid, identity.start, int(number)), False))

    def signal_group(self, group: int, number: int) -> bool:
        """Signal a process group of this container."""
        return bool(self._if_up(lambda: self._ask("signal_group", group, int(number)), False))

    # -- looks -----------------------------------------------------------------------------------------------

    def listeners(self, port: int, ours: Iterable[int], proc: Path) -> PortReading:
        """In the container's network; not known while it is down."""
        mine = list(ours)
        try:
            return port_reading(port, self._ask("listeners", port, mine, str(proc), MARKER), mine)
        except JobError as error:
            return PortReading(port, error=str(error))

    def connection(self, port: int, timeout_s: float) -> "AgentConnection":
        """A connection that the agent keeps."""
        return AgentConnection(self._up, port, timeout_s)
