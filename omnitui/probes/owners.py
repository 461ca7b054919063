"""Whose process is it: the run's own, or a foreign one? Told by the marker, by ancestry, and by the container.

Reading another process's environment or command line can hang with that process, so this is only called from
threads that nobody waits for.
"""

import os
import pwd
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from omnitui.model import MARKER
from omnitui.places.eyes import environ
from omnitui.probes.procfs import Seen, seen

_ANCESTORS = 16
_ENGINES = ("dockerd", "containerd", "docker-proxy")
"""What works for the run's own `docker exec` as much as for anybody else's."""
_LONGEST = 80
_SHELLS = ("bash", "sh", "dash", "zsh", "python", "pypy", "perl", "ruby", "node", "java")


class Owner(Struct, frozen=True):
    """Who a process belongs to. `ours` is None when that cannot be told; `run` is another run that started it."""

    user: str
    command: str
    ours: bool | None
    run: str = ""


class Owners:
    """Knows the owners of processes; a process is asked again only when its pid is another process by now."""

    def __init__(self, run: str, containers: frozenset[str] | None = frozenset()) -> None:
        """`containers` are the ids of the run's containers; None when it has some whose ids are not known."""
        self._run = run
        self.containers = containers
        self._starter = os.getppid()
        self._known: dict[int, tuple[int, Owner]] = {}

    def of(self, pid: int) -> Owner:
        """The owner of a process. One that is gone, or a zombie, belongs to nobody that can be told."""
        process = seen(pid)
        if process is None or process.zombie:
            self._known.pop(pid, None)
            return Owner("", process.command if process else "", None)
        known = self._known.get(pid)
        if known and known[0] == process.start and known[1].ours is not None:
            return known[1]
        owner = self._look(process)
        self._known[pid] = (process.start, owner)
        return owner

    def forget(self, living: set[int]) -> None:
        """Keep nothing about processes that are gone."""
        self._known = {pid: known for pid, known in self._known.items() if pid in living}

    def _look(self, process: Seen) -> Owner:
        mark = self._mark(process)
        run = mark.partition(":")[0]
        ours = self._is_ours(process.pid, mark)
        user, command = user_of(process.pid), command_of(process)
        if ours is False and self.containers != frozenset() and command.startswith(_ENGINES):
            ours = None
        return Owner(user, command, ours, run if ours is False else "")

    def _is_ours(self, pid: int, mark: str) -> bool | None:
        if mark:
            return mark.startswith(f"{self._run}:")
        if environ(pid) is not None:
            return False
        # A container's processes are often root's: what they carry cannot be read, but where they are can.
        container = container_of(pid)
        if container and self.containers is None:
            return None
        return bool(container) and container in (self.containers or ())

    def _mark(self, process: Seen) -> str:
        """The marker of the process, of its session's leader, or of the nearest ancestor that has one."""
        for pid in dict.fromkeys((process.pid, process.session)):
            if pid > 1 and (mark := _mark_of(pid)):
                return mark
        parent = process.parent
        for _ in range(_ANCESTORS):
            if parent == self._starter:
                # What the runner itself has started carries no marker when it is no job.
                return f"{self._run}:"
            above = seen(parent) if parent > 1 else None
            if above is None:
                return ""
            if mark := _mark_of(parent):
                return mark
            parent = above.parent
        return ""


def _mark_of(pid: int) -> str:
    return (environ(pid) or {}).get(MARKER, "")


def container_of(pid: int) -> str:
    """The id of the container that a process is in, from its control group; empty when it is in none."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            found = container_in(line)
            if found:
                return found
    return ""


def container_in(line: str) -> str:
    """The container's id in a line of `/proc/PID/cgroup`: 64 hexadecimal digits, however the engine wraps them."""
    for part in reversed(line.split("/")):
        name = part.removesuffix(".scope").rpartition("-")[2]
        if len(name) == 64 and all(digit in "0123456789abcdef" for digit in name):
            return name
    return ""


@lru_cache(maxsize=256)
def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def user_of(pid: int) -> str:
    """The name of the user whose process it is; empty when it is gone."""
    try:
        return _name_of(os.stat(f"/proc/{pid}").st_uid)  # noqa: PTH116
    except OSError:
        return ""


def command_of(process: Seen) -> str:
    """The program, and the module or script that it runs."""
    try:
        with open(f"/proc/{process.pid}/cmdline", "rb") as file:
            data = file.read(4096)
    except OSError:
        data = b""
    argv = [part.decode(errors="replace") for part in data.rstrip(b"\0").split(b"\0")]
    return short(argv) or process.command


def short(argv: list[str]) -> str:
    """`python -m vllm.server` or `python client.py`: what tells which it is, without the arguments."""
    name = os.path.basename(argv[0].split(" ")[0]) if argv else ""  # noqa: PTH119
    if not name.startswith(_SHELLS):
        return name[:_LONGEST]
    if "-c" in argv[1:3]:
        return name[:_LONGEST]
    if len(argv) > 2 and argv[1] == "-m":
        return f"{name} -m {argv[2]}"[:_LONGEST]
    script = next((part for part in argv[1:] if part and not part.startswith("-")), "")
    return f"{name} {os.path.basename(script)}".strip()[:_LONGEST]  # noqa: PTH119
