"""Ports that nobody has: not another test, not another worker."""

import os
import re
import socket
from collections.abc import Iterator

_FIRST, _COUNT = 21_000, 10_000
"""Below the ephemeral range: a port that the kernel hands out could be somebody's outgoing connection soon."""


def free_ports() -> Iterator[int]:
    """A number that no other worker of this session is given; two sessions at a time begin at different ones."""
    worker = int((re.findall(r"\d+", os.environ.get("PYTEST_XDIST_WORKER", "")) or ["0"])[0])
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    session = os.getppid() if workers > 1 else os.getpid()
    share = _COUNT // workers
    for number in range(share):
        port = _FIRST + ((session * 97 + number) % share) * workers + worker
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
        yield port
