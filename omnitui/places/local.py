"""The host that OmniTUI runs on (or the container, when OmniTUI itself runs inside one)."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from omnitui import store
from omnitui.containers import ContainerReading
from omnitui.errors import JobError
from omnitui.model import MARKER, Identity
from omnitui.pinning import Threads
from omnitui.places import eyes
from omnitui.places.base import Answer, Process
from omnitui.readings import Listener, PortReading

SHELL = 'exec bash --rcfile <(printf %s "$OMNITUI_RC") -i'
_PROC = Path("/proc")


@lru_cache(maxsize=1)
def boot_id() -> str:
    """The kernel's random id of this boot; empty where there is none (macOS)."""
    return eyes.boot()


class Local:
    """Bash on this host, and its `/proc`."""

    name = "host"
    before = b""

    def argv(self, env_names: Iterable[str]) -> list[str]:
        """`bash -s`, which reads the launcher from stdin."""
        return ["bash", "-s"]

    def shell(self, env_names: Iterable[str]) -> list[str]:
        """A bash of this host."""
        return ["bash", "-c", SHELL]

    def tag(self) -> str:
        """Nothing: the boot is enough."""
        return ""

    def make_job(self, path: Path, inside: str) -> None:
        """A private folder."""
        store.make_folder(path)

    def was_used(self) -> bool:
        """Every run has its own processes here."""
        return True

    def to_host(self, path: str) -> Path:
        """The same path."""
        return Path(path)

    def move_aside(self, path: str, what: str = "incomplete") -> list[Path]:
        """Rename it."""
        return store.move_aside([Path(path)], what)

    def write(self, path: str, text: str) -> None:
        """Write it."""
        store.replace_file(Path(path), text.encode())

    def boot(self) -> str:
        """The id of this boot."""
        return boot_id()

    def processes(self) -> list[Process]:
        """Every process in `/proc`."""
        return [Process(*row) for row in eyes.processes(MARKER)]

    def process(self, pid: int) -> Process | None:
        """One look at `/proc/PID/stat`. Errors mean that it is gone."""
        row = eyes.process(pid)
        return Process(*row) if row else None

    def environ(self, pid: int) -> Mapping[str, str] | None:
        """What `/proc/PID/environ` holds; None when it belongs to another user."""
        return eyes.environ(pid)

    def affinity(self, pids: Iterable[int]) -> list[Threads] | None:
        """From the kernel, thread by thread."""
        return threads_of(eyes.affinity(list(pids)))

    async def ended(self, identity: Identity) -> None:
        """A pidfd tells of the end of a process that is not our child just as well."""
        try:
            fd = os.pidfd_open(identity.pid)
        except ProcessLookupError:
            return
        try:
            if not is_same(self.process(identity.pid), identity, self.boot()):
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

    def signal(self, identity: Identity, number: int) -> bool:
        """Signal one process of this boot."""
        if identity.boot != self.boot():
            return False
        try:
            return eyes.signal(identity.pid, identity.start, number)
        except PermissionError as error:
            raise JobError(f"pid {identity.pid} is not ours; it is not signalled ({error})") from error

    def signal_group(self, group: int, number: int) -> bool:
        """Signal a process group of this host."""
        try:
            return eyes.signal_group(group, number)
        except PermissionError as error:
            raise JobError(f"process group {group} is not ours; it is not signalled ({error})") from error

    def listeners(self, port: int, ours: Iterable[int], proc: Path) -> PortReading:
        """From the listen tables of `proc`."""
        mine = list(ours)
        try:
            return port_reading(port, eyes.listeners(port, mine, str(proc), MARKER), mine)
        except OSError as error:
            return PortReading(port, error=f"the listen table cannot be read: {error}")

    def connection(self, port: int, timeout_s: float) -> "LocalConnection":
        """A connection of this process."""
        return LocalConnection(port, timeout_s)

    def container(self) -> ContainerReading:
        """There is none to look at."""
        return ContainerReading(here=True)

    def trouble(self, since: float) -> str:
        """This host is here."""
        return ""


class LocalConnection:
    """A kept connection of this process."""

    def __init__(self, port: int, timeout_s: float) -> None:
        self._connection = eyes.Connection(port, timeout_s)

    def get(self, path: str) -> Answer:
        """GET `path`; errors are answers."""
        return Answer(**self._connection.get(path))

    def close(self) -> None:
        """Close it."""
        self._connection.close()


def threads_of(rows: Iterable[list[Any]] | None) -> list[Threads] | None:
    """The rows that the eyes gave."""
    if rows is None:
        return None
    return [Threads(pid, thread, name, count, frozenset(cpus)) for pid, thread, name, count, cpus in rows]


def port_reading(port: int, rows: Iterable[list[Any]], ours: Iterable[int]) -> PortReading:
    """The reading from the rows that the eyes gave; the beginning of a marker is the run."""
    mine = set(ours)
    found = (Listener(a, pid, command, pid in mine, marker.partition(":")[0]) for a, pid, command, marker in rows)
    return PortReading(port, tuple(found))


def is_same(process: Process | None, identity: Identity, boot: str) -> bool:
    """Whether a process is alive and the one that the identity names."""
    return process is not None and not process.zombie and process.start == identity.start and boot == identity.boot


def identity_of(pid: int) -> Identity:
    """The identity of a live process on this host. Raises `JobError` when it is gone."""
    process = Local().process(pid)
    if process is None:
        if _PROC.exists():
            raise JobError(f"pid {pid} is gone")
        return Identity(pid=pid, start=0, boot="")
    return Identity(pid=pid, start=process.start, boot=boot_id())


def is_alive(identity: Identity) -> bool:
    """Whether the process on this host still lives and is the same."""
    return is_same(Local().process(identity.pid), identity, boot_id())
