"""Who listens on a TCP port, from the kernel's own tables: no connection is made, no proxy can lie."""

import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from omnitui.gates import Listener, PortReading
from omnitui.model import MARKER

_LISTEN = "0A"
"""TCP_LISTEN in the kernel's `/proc/net/tcp`; TIME_WAIT (06) is free."""


def look(port: int, ours: Iterable[int] = (), proc: Path = Path("/proc/self")) -> PortReading:
    """The listeners of `port` in the network of `proc`; `ours` are the pids that count as our own."""
    try:
        sockets = _sockets(port, proc)
    except OSError as error:
        return PortReading(port, error=f"the listen table cannot be read: {error}")
    if not sockets:
        return PortReading(port)
    mine = tuple(ours)
    owners = _owners({inode for _, inode in sockets}, mine)
    return PortReading(port, tuple(_listener(address, owners.get(inode), mine) for address, inode in sockets))


def _sockets(port: int, proc: Path) -> list[tuple[str, str]]:
    return [entry for table in ("tcp", "tcp6") for entry in _table(proc / "net" / table, port)]


def _table(path: Path, port: int) -> list[tuple[str, str]]:
    try:
        lines = path.read_text().splitlines()[1:]
    except FileNotFoundError:
        # A host without IPv6 has no tcp6.
        if path.name == "tcp6":
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
    # Words of 32 bits, each in host byte order.
    raw = b"".join(bytes.fromhex(text[i : i + 8])[::-1] for i in range(0, len(text), 8))
    return socket.inet_ntop(socket.AF_INET if len(raw) == 4 else socket.AF_INET6, raw)


def _owners(inodes: set[str], first: tuple[int, ...]) -> dict[str, int]:
    owners: dict[str, int] = {}
    everyone = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    for pids in (first, everyone):
        for pid in pids:
            with suppress(OSError):
                for link in Path(f"/proc/{pid}/fd").iterdir():
                    with suppress(OSError):
                        name = str(link.readlink())
                        if name.startswith("socket:[") and name[8:-1] in inodes:
                            owners.setdefault(name[8:-1], pid)
        if owners.keys() >= inodes:
            break
    return owners


def _listener(address: str, pid: int | None, ours: tuple[int, ...]) -> Listener:
    command = ""
    with suppress(OSError):
        command = Path(f"/proc/{pid}/comm").read_text().strip() if pid else ""
    return Listener(address, pid, command, pid in ours, _run(pid) if pid and pid not in ours else "")


def _run(pid: int) -> str:
    """The run whose marker a process carries."""
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            name, _, value = entry.partition(b"=")
            if name == MARKER.encode():
                return value.decode(errors="replace").partition(":")[0]
    return ""
