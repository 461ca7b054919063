"""A process that does nothing but be there: the init of a container, or with a port, somebody who listens on it.

It ends when its rehearsal is over: when nothing else of it is left.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_REHEARSAL = b"OMNITUI_REHEARSAL="
_MEANWHILE_S = 10.0
"""Whoever started this may be the only other process yet, and about to end."""


def start(*arguments: str, env: Mapping[str, str] | None = None) -> "subprocess.Popen[bytes]":
    """Start one that belongs to nobody."""
    return subprocess.Popen(
        [sys.executable, "-S", __file__, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=env,
    )


def occupy(port: int) -> None:
    """Let somebody who is none of the run's listen on a port; returns once it is taken."""
    if is_taken(port):
        return
    start(str(port))
    for _ in range(200):
        if is_taken(port):
            return
        time.sleep(0.02)


def is_taken(port: int) -> bool:
    """Whether somebody listens on the port."""
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def others(mine: bytes) -> bool:
    """Whether a process of the same rehearsal lives that does something."""
    me = os.fsencode(Path(__file__).name)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                known = mine in (entry / "environ").read_bytes().split(b"\0")
                if known and me not in (entry / "cmdline").read_bytes():
                    return True
    return False


def main(argv: list[str]) -> None:
    """Be there."""
    listening = socket.create_server(("", int(argv[0]))) if argv else None
    rehearsal = _REHEARSAL + os.environb[b"OMNITUI_REHEARSAL"]
    time.sleep(_MEANWHILE_S)
    while others(rehearsal):
        time.sleep(2)
    if listening:
        listening.close()


if __name__ == "__main__":
    main(sys.argv[1:])
