"""The host that OmniTUI runs on (or the container, when OmniTUI itself runs inside one)."""

import os
import signal as signals
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from omnitui.errors import JobError
from omnitui.model import Identity
from omnitui.places.base import Process

_PROC = Path("/proc")


@lru_cache(maxsize=1)
def boot_id() -> str:
    """The kernel's random id of this boot; empty where there is none (macOS)."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


class Local:
    """Bash on this host, and its `/proc`."""

    name = "host"

    def argv(self, env_names: Iterable[str]) -> list[str]:
        """`bash -s`, which reads the launcher from stdin."""
        return ["bash", "-s"]

    def to_host(self, path: str) -> Path:
        """The same path."""
        return Path(path)

    def boot(self) -> str:
        """The id of this boot."""
        return boot_id()

    def processes(self) -> list[Process]:
        """Every process in `/proc`."""
        found = (self.process(int(entry)) for entry in os.listdir(_PROC) if entry.isdigit())  # noqa: PTH208
        return [process for process in found if process]

    def process(self, pid: int) -> Process | None:
        """One look at `/proc/PID/stat`. Errors mean that it is gone."""
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                data = file.read()
        except OSError:
            return None
        # The command stands in brackets and may hold brackets and spaces itself.
        head, _, tail = data.rpartition(b") ")
        fields = tail.split()
        if len(fields) < 20:
            return None
        return Process(
            pid=pid,
            parent=int(fields[1]),
            group=int(fields[2]),
            session=int(fields[3]),
            start=int(fields[19]),
            zombie=fields[0] in (b"Z", b"X"),
            command=head.partition(b"(")[2].decode(errors="replace"),
        )

    def environ(self, pid: int) -> Mapping[str, str] | None:
        """What `/proc/PID/environ` holds; None when it belongs to another user."""
        try:
            data = (_PROC / str(pid) / "environ").read_bytes()
        except OSError:
            return None
        pairs = (entry.partition(b"=") for entry in data.split(b"\0") if entry)
        return {name.decode(errors="replace"): value.decode(errors="replace") for name, _, value in pairs}

    def cpus(self, pid: int) -> list[frozenset[int]]:
        """The affinity of every thread that still lives."""
        found = []
        with suppress(OSError):
            for task in (_PROC / str(pid) / "task").iterdir():
                with suppress(OSError):
                    found.append(frozenset(os.sched_getaffinity(int(task.name))))
        return found

    def signal(self, identity: Identity, signal: int) -> bool:
        """Signal through a pidfd, so that the process cannot change between the check and the signal."""
        if identity.pid in (0, 1, os.getpid()):
            raise JobError(f"pid {identity.pid} is never signalled")
        try:
            fd = os.pidfd_open(identity.pid)
        except ProcessLookupError:
            return False
        try:
            if not is_same(self.process(identity.pid), identity, self.boot()):
                return False
            signals.pidfd_send_signal(fd, signal)
        except ProcessLookupError:
            return False
        except PermissionError as error:
            raise JobError(f"pid {identity.pid} belongs to another user; it is not signalled") from error
        finally:
            os.close(fd)
        return True


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
