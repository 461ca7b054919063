"""One process as `/proc` tells it, for the monitor.

`places.eyes` tells the same; but its room brings the whole runner along, and importing that costs the monitor more
than an hour of samples.
"""

import os
from typing import NamedTuple


class Seen(NamedTuple):
    """One process. `start` and `ticks` (its CPU time so far) are in clock ticks, `cpu` is where it last ran."""

    pid: int
    parent: int
    session: int
    start: int
    ticks: int
    cpu: int
    zombie: bool
    kernel: bool
    """One of the kernel's own threads."""
    command: str


_KERNEL_THREAD = 0x00200000
"""PF_KTHREAD."""


def seen(pid: int, thread: str = "") -> Seen | None:
    """A process, or one of its threads; None when it is gone."""
    path = f"/proc/{pid}/task/{thread}/stat" if thread else f"/proc/{pid}/stat"
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = os.read(fd, 2048)
    except OSError:
        return None
    finally:
        os.close(fd)
    # The command stands in brackets and may hold brackets and spaces itself.
    head, _, tail = data.rpartition(b") ")
    fields = tail.split()
    if len(fields) < 37:
        return None
    return Seen(
        pid=pid,
        parent=int(fields[1]),
        session=int(fields[3]),
        start=int(fields[19]),
        ticks=int(fields[11]) + int(fields[12]),
        cpu=int(fields[36]),
        zombie=fields[0] in (b"Z", b"X"),
        kernel=bool(int(fields[6]) & _KERNEL_THREAD),
        command=head.partition(b"(")[2].decode(errors="replace"),
    )
