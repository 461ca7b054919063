"""The app keeps off the CPUs that a run measures on; what it starts in the terminal does not."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from omnitui.samples import shown_cpus
from omnitui.supervise import SHELL_CPUS


def keep_off(cpus: frozenset[int]) -> str:
    """Move every thread of this process off these CPUs, where any others are left; where it is now, in words.

    Without CPUs the process goes back to those of the operator's shell.
    """
    left = SHELL_CPUS - cpus
    if not SHELL_CPUS:
        return ""
    _move(left or SHELL_CPUS)
    if not cpus:
        return ""
    if not left:
        return f"no CPU is left beside the benchmark's {shown_cpus(cpus)}: the app shares them"
    return f"the app keeps to CPUs {shown_cpus(left)}"


def _move(cpus: frozenset[int]) -> None:
    if os.sched_getaffinity(0) == cpus:
        return
    # An affinity is a thread's: threads that are made later take that of their maker.
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            os.sched_setaffinity(int(thread.name), cpus)


@contextmanager
def operators_cpus() -> Iterator[None]:
    """What this thread starts within the block runs where the operator's shell would have run it."""
    before = os.sched_getaffinity(0) if SHELL_CPUS else set()
    with suppress(OSError):
        if SHELL_CPUS:
            os.sched_setaffinity(0, SHELL_CPUS)
    try:
        yield
    finally:
        with suppress(OSError):
            if before:
                os.sched_setaffinity(0, before)
