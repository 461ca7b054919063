"""Eyes and hands on one machine: its processes, its ports, its files.

Standard library alone, and nothing that Python 3.8 lacks: the text of this file is also run in containers, where
`answers.py` serves it. What it gives is therefore made of what JSON knows.
"""

from __future__ import annotations

import os
import signal as signals
import time
from contextlib import suppress
from functools import lru_cache
from typing import Any

_LISTEN = "0A"
"""TCP_LISTEN in the kernel's `/proc/net/tcp`; TIME_WAIT (06) is free."""


def boot() -> str:
    """The kernel's random id of this boot; empty where there is none (macOS)."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


# -- processes -------------------------------------------------------------------------------------------------


def process(pid: int, variable: str = "") -> list[Any] | None:
    """Pid, parent, group, session, start, whether a zombie, command, and its `variable`; None when it is gone."""
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
    command = head.partition(b"(")[2].decode(errors="replace")
    numbers = [int(fields[index]) for index in (1, 2, 3, 19)]
    carried = (environ(pid) or {}).get(variable, "") if variable else ""
    return [pid, *numbers, fields[0] in (b"Z", b"X"), command, carried]


def processes(variable: str = "") -> list[list[Any]]:
    """Every process but this one, with the value of an environment variable."""
    own = os.getpid()
    pids = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())  # noqa: PTH208
    found = (process(pid, variable) for pid in pids if pid != own)
    return [row for row in found if row]


def environ(pid: int) -> dict[str, str] | None:
    """What a process was given as its environment; None when it belongs to another user."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            data = file.read()
    except OSError:
        return None
    pairs = (entry.partition(b"=") for entry in data.split(b"\0") if entry)
    return {name.decode(errors="replace"): value.decode(errors="replace") for name, _, value in pairs}


def affinity(pids: list[int]) -> list[list[Any]] | None:
    """Where the threads of processes may run: for each process and set of CPUs one row.

    A row is the pid, one of the threads and its name, how many threads there are, and the CPUs. What has ended
    meanwhile is left out. None where there is no affinity (macOS).
    """
    if not hasattr(os, "sched_getaffinity"):
        return None
    found: dict[Any, list[Any]] = {}
    for pid in pids:
        with suppress(OSError):
            for task in sorted(map(int, os.listdir(f"/proc/{pid}/task"))):  # noqa: PTH208
                with suppress(OSError):
                    cpus = tuple(sorted(os.sched_getaffinity(task)))
                    row = found.get((pid, cpus))
                    if row is None:
                        with open(f"/proc/{pid}/task/{task}/comm") as file:
                            name = file.read().strip()
                        row = found[pid, cpus] = [pid, task, name, 0, list(cpus)]
                    row[3] += 1
    return list(found.values())


def is_same(pid: int, start: int) -> bool:
    """Whether a process is alive and began at that clock tick."""
    seen = process(pid)
    return seen is not None and seen[4] == start and not seen[5]


def wait(pid: int, start: int) -> None:
    """Return when the process has ended, or is another one."""
    if not hasattr(os, "pidfd_open"):
        while is_same(pid, start):
            time.sleep(0.1)
        return
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        if is_same(pid, start):
            import select  # noqa: PLC0415 - only a container waits here

            select.select([fd], [], [])
    finally:
        os.close(fd)


def signal(pid: int, start: int, number: int) -> bool:
    """Signal a process if it still is who it was; False when it is not. Never pid 0, 1, or this one.

    The signal goes through a pidfd, so that the process cannot change between the check and the signal.
    """
    if pid in (0, 1, os.getpid()):
        raise PermissionError(f"pid {pid} is never signalled")
    try:
        fd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else -1
    except ProcessLookupError:
        return False
    try:
        if not is_same(pid, start):
            return False
        if fd < 0:
            os.kill(pid, number)
        else:
            signals.pidfd_send_signal(fd, number)
    except ProcessLookupError:
        return False
    finally:
        if fd >= 0:
            os.close(fd)
    return True


def signal_group(group: int, number: int) -> bool:
    """Signal a process group; False when it is empty. Never group 0, 1, or our own. Number 0 only looks."""
    if group in (0, 1, os.getpgrp()):
        raise PermissionError(f"process group {group} is never signalled")
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


# -- ports -----------------------------------------------------------------------------------------------------


def listeners(port: int, ours: list[int], proc: str = "/proc/self", variable: str = "") -> list[list[Any]]:
    """Who listens on a TCP port: address, pid or None, command, and the owner's `variable` if it is not ours.

    From the kernel's own tables: no connection is made, no proxy can lie. Raises OSError when they cannot be read.
    """
    sockets = [entry for table in ("tcp", "tcp6") for entry in _table(proc, table, port)]
    owners = _owners({inode for _, inode in sockets}, ours) if sockets else {}
    found = []
    for address, inode in sockets:
        pid = owners.get(inode)
        seen = process(pid, variable if pid not in ours else "") if pid else None
        found.append([address, pid, seen[6] if seen else "", seen[7] if seen else ""])
    return found


def _table(proc: str, name: str, port: int) -> list[tuple[str, str]]:
    try:
        with open(os.path.join(proc, "net", name)) as file:  # noqa: PTH118
            lines = file.read().splitlines()[1:]
    except FileNotFoundError:
        # A host without IPv6 has no tcp6.
        if name == "tcp6":
            return []
        raise
    found = []
    suffix = f":{port:04X}"
    for line in lines:
        if suffix in line:
            fields = line.split()
            if fields[3] == _LISTEN and fields[1].endswith(suffix):
                found.append((_address(fields[1].partition(":")[0]), fields[9]))
    return found


def _address(text: str) -> str:
    import socket  # noqa: PLC0415 - 4 ms that the first screen does not need

    # Words of 32 bits, each in host byte order.
    raw = b"".join(bytes.fromhex(text[i : i + 8])[::-1] for i in range(0, len(text), 8))
    return socket.inet_ntop(socket.AF_INET if len(raw) == 4 else socket.AF_INET6, raw)


def _owners(inodes: set[str], first: list[int]) -> dict[str, int]:
    owners: dict[str, int] = {}
    everyone = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())  # noqa: PTH208
    for pids in (first, everyone):
        for pid in pids:
            with suppress(OSError):
                for name in os.listdir(f"/proc/{pid}/fd"):  # noqa: PTH208
                    with suppress(OSError):
                        target = os.readlink(f"/proc/{pid}/fd/{name}")  # noqa: PTH115
                        if target.startswith("socket:[") and target[8:-1] in inodes:
                            owners.setdefault(target[8:-1], pid)
        if owners.keys() >= inodes:
            break
    return owners


class Connection:
    """A kept HTTP connection to one local port: always 127.0.0.1, never through a proxy.

    `http.client` costs a fifth of httpx's kept client; this look is taken several times a second while a
    benchmark is about to be measured.
    """

    def __init__(self, port: int, timeout_s: float) -> None:
        self._port = port
        self._timeout_s = timeout_s
        self._until_s = 0.0
        self._connection: Any = None
        try:
            import http.client  # noqa: PLC0415 - 20 ms that the first screen does not need
        except ImportError:
            return
        self._failures = (OSError, http.client.HTTPException)
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout_s)
        self._connection.connect = self._connect

    def _connect(self) -> None:
        # Without asking the resolver what 127.0.0.1 means: half of what a refused look costs.
        import socket  # noqa: PLC0415

        fresh = _timed_socket()()
        fresh.settimeout(self._timeout_s)
        try:
            fresh.connect((self._connection.host, self._connection.port))
        except OSError:
            fresh.close()
            raise
        fresh.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        fresh.until_s = self._until_s
        self._connection.sock = fresh

    def get(self, path: str) -> dict[str, Any]:
        """Status, latency_s, body, error, refused and fresh of a GET, those that differ from their defaults."""
        if self._connection is None:
            return plain_get(self._port, self._timeout_s, path)
        kept = self._connection.sock is not None
        answer = self._ask(path)
        # A server may close a connection that was idle at any time: that says nothing about its health.
        return self._ask(path) if kept and "error" in answer and "latency_s" not in answer else answer

    def _ask(self, path: str) -> dict[str, Any]:
        begun = time.monotonic()
        self._until_s = begun + self._timeout_s
        fresh = self._connection.sock is None
        try:
            if not fresh:
                self._connection.sock.until_s = self._until_s
            self._connection.request("GET", path)
            response = self._connection.getresponse()
            body = response.read(1 << 20)
            if not response.isclosed():
                self._connection.close()
        except self._failures as error:
            self._connection.close()
            # In Python 3.8 and 3.9 a socket's time-out is another type.
            if isinstance(error, TimeoutError) or type(error).__name__ == "timeout":
                return {
                    "latency_s": time.monotonic() - begun,
                    "error": f"no answer within {self._timeout_s:g} s",
                }
            told = {"error": str(error) or type(error).__name__}
            return {**told, "refused": True} if isinstance(error, ConnectionRefusedError) else told
        latency_s = time.monotonic() - begun
        return {"status": response.status, "latency_s": latency_s, "body": body, "fresh": fresh}

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()


@lru_cache
def _timed_socket() -> Any:
    """A socket whose answer is late at `until_s` of the monotonic clock, however many pieces it comes in."""
    import socket  # noqa: PLC0415

    class Timed(socket.socket):
        until_s = 0.0

        def recv_into(self, *arguments: Any) -> int:
            left_s = self.until_s - time.monotonic()
            if left_s <= 0:
                raise TimeoutError("timed out")
            self.settimeout(left_s)
            return super().recv_into(*arguments)

    return Timed


def plain_get(port: int, timeout_s: float, path: str) -> dict[str, Any]:
    """The same answer over a connection of its own, where there is no `http.client` (Debian's python3-minimal)."""
    import socket  # noqa: PLC0415

    begun = time.monotonic()
    data = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout_s) as fresh:
            # HTTP 1.0: no chunks, and most servers end the body with the connection.
            fresh.sendall(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n".encode())
            while not _is_whole(data):
                chunk = fresh.recv(1 << 16) if time.monotonic() - begun < timeout_s else None
                if chunk is None:
                    return {"latency_s": time.monotonic() - begun, "error": f"no answer within {timeout_s:g} s"}
                if not chunk:
                    break
                data += chunk
        head, _, body = data.partition(b"\r\n\r\n")
        status = int(head.split(None, 2)[1])
    except ConnectionRefusedError as error:
        return {"error": str(error), "refused": True}
    except (OSError, ValueError, IndexError) as error:
        # In Python 3.8 and 3.9 a socket's time-out is another type.
        if isinstance(error, TimeoutError) or type(error).__name__ == "timeout":
            return {"latency_s": time.monotonic() - begun, "error": f"no answer within {timeout_s:g} s"}
        return {"error": str(error) or type(error).__name__}
    return {"status": status, "latency_s": time.monotonic() - begun, "body": body, "fresh": True}


def _is_whole(data: bytes) -> bool:
    head, end, body = data.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    return len(data) >= 1 << 20 or bool(end and lengths and len(body) >= int(lengths[0]))


# -- files -----------------------------------------------------------------------------------------------------


def move_aside(path: str, what: str) -> str:
    """Rename a path to `NAME-what`, `NAME-what-2`, ...; the new name, or nothing when there is no such path."""
    if not os.path.lexists(path):
        return ""
    names = (f"{path.rstrip('/')}-{what}{'' if number == 1 else f'-{number}'}" for number in range(1, 1 << 20))
    aside = next(name for name in names if not os.path.lexists(name))
    os.rename(path, aside)  # noqa: PTH104
    return aside


def write(path: str, text: str) -> None:
    """Write a small file so that it holds either its old or its new content."""
    fresh = f"{path}.{os.getpid()}"
    with open(fresh, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(fresh, path)  # noqa: PTH105


def make_folder(path: str, user: int, group: int) -> None:
    """Make a folder, with its parents, that belongs to a user of the host."""
    if not os.path.isdir(path):  # noqa: PTH112
        os.makedirs(path, mode=0o700)  # noqa: PTH103
        os.chown(path, user, group)
