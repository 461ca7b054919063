"""The monitor: one JSON line a second about the GPUs and the host, until its stdin closes.

`python -m omnitui.monitor --gpus 0,1 --cpus 2-15 --disk PATH --run RUN`. It is a process of its own, so that an
NVML that hangs or crashes takes nobody along. Within it, everything that can hang (NVML, a network disk, another
process's `/proc` files) has a thread of its own that nobody waits for: the host is told all the same, and what is
late is told with its age. Nothing heavy is imported here, so that its start costs little.
"""

import argparse
import contextlib
import os
import select
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from omnitui.probes.cards import Cards
from omnitui.probes.host import HostProbe, disk_of
from omnitui.probes.loads import LoadProbe
from omnitui.probes.owners import Owners
from omnitui.probes.smi import Smi
from omnitui.samples import GpuLook, Load, Sample, Started, cpus_of, encoded, shown_cpus, wanted_of

T = TypeVar("T")
NO_GPU = "the run names no GPU"
_PATIENCE_S = 0.25
"""How long a sample waits for looks that were just asked for."""
_DISK_EVERY_S = 5.0
_SMI_EVERY_S = 5.0
_SMI_FRESH_S = 15.0


class Aside(Generic[T]):
    """A look that may hang, in a thread of its own; the last answer, and how old it is."""

    def __init__(self, look: Callable[[], T], first: T, every_s: float = 0.0) -> None:
        self._look = look
        self._answer = first
        self._at_s: float | None = None
        self._every_s = every_s
        self._asked = threading.Semaphore(0)
        self._idle = threading.Event()
        self._idle.set()
        self._fresh = False
        self._due_s = float("-inf")
        threading.Thread(target=self._work, daemon=True).start()

    def ask(self) -> None:
        """Let it look, unless it is still at it or looked a moment ago."""
        self._fresh = self._idle.is_set()
        if self._fresh and time.monotonic() >= self._due_s:
            self._due_s = time.monotonic() + self._every_s
            self._idle.clear()
            self._asked.release()

    def answer(self, until_s: float) -> tuple[T, float | None]:
        """The last answer and its age in seconds; waits until then for one that was just asked for."""
        if self._fresh:
            self._idle.wait(max(0.0, until_s - time.monotonic()))
        at_s = self._at_s
        return self._answer, None if at_s is None else round(time.monotonic() - at_s, 2)

    def _work(self) -> None:
        while True:
            self._asked.acquire()
            begun_s = time.monotonic()
            self._answer = self._look()
            # As old as the moment when it was asked for: a slow answer is an old one.
            self._at_s = begun_s
            self._idle.set()


class Monitor:
    """Takes samples."""

    def __init__(self, options: argparse.Namespace) -> None:
        wanted = None if options.gpus == "all" else wanted_of(options.gpus)
        cpus = cpus_of(options.cpus)
        containers = frozenset(filter(None, options.containers.split(",")))
        owners = Owners(options.run, containers or (None if options.contained else containers))
        cards = Cards(wanted, owners, full=True, smi=Smi(_SMI_EVERY_S))
        self._host = HostProbe(cpus)
        self._gpu = Aside(cards.look, GpuLook(error="not read yet")) if wanted != () else None
        nothing: tuple[tuple[Load, ...] | None, float] = (None, 0.0)
        loads = LoadProbe(cpus, Owners(options.run, owners.containers))
        self._loads = Aside(loads.look, nothing) if cpus else None
        unread: tuple[float | None, str] = (None, "not read yet")
        self._disk = Aside(lambda: disk_of(options.disk), unread, _DISK_EVERY_S)

    def sample(self) -> Sample:
        """One sample. Never waits long for anything that may hang."""
        asides: tuple[Aside[Any] | None, ...] = (self._gpu, self._loads, self._disk)
        for aside in filter(None, asides):
            aside.ask()
        until_s = time.monotonic() + _PATIENCE_S
        host = self._host.look()
        look, age_s = self._gpu.answer(until_s) if self._gpu else (GpuLook(absent=NO_GPU), 0.0)
        if look.source == "nvidia-smi":
            look = replace(look, fresh_s=_SMI_FRESH_S)
        (loads, over_s), loads_age_s = self._loads.answer(until_s) if self._loads else ((None, 0.0), None)
        if loads_age_s is None or loads_age_s > _SMI_FRESH_S:
            loads, over_s = None, 0.0
        (free, error), disk_age_s = self._disk.answer(until_s)
        if disk_age_s is None or disk_age_s > 3 * _DISK_EVERY_S:
            free, error = None, "the disk does not answer"
        return Sample(
            at=round(time.time(), 3),
            gpu=look,
            gpu_age_s=age_s,
            host=replace(host, disk_free_mib=free, disk_error=error, loads=loads, loads_over_s=over_s),
            own_cpu_s=round(time.process_time(), 4),
        )


def keep_away(cpus: frozenset[int]) -> Started:
    """Move to CPUs that are none of the benchmark's, where any are left, and say so."""
    allowed = os.sched_getaffinity(0)
    left = allowed - cpus
    if not cpus:
        said, apart = "the run names no CPUs of its own: the monitor takes any", False
    elif not left:
        said, apart = f"no CPU is left beside the benchmark's {shown_cpus(cpus)}: the monitor shares them", False
    else:
        os.sched_setaffinity(0, left)
        said, apart = f"the monitor keeps to CPUs {shown_cpus(left)}, off the benchmark's {shown_cpus(cpus)}", True
    mine = tuple(sorted(os.sched_getaffinity(0)))
    return Started(at=round(time.time(), 3), pid=os.getpid(), cpus=mine, apart=apart, said=said)


def main(arguments: list[str] | None = None) -> None:
    """Print samples until stdin closes, so that the monitor never outlives who started it."""
    options = _options(arguments)
    # Before the first thread: threads are where their maker was.
    _print(encoded(keep_away(cpus_of(options.cpus))))
    monitor = Monitor(options)
    next_s = time.monotonic()
    while True:
        _print(encoded(monitor.sample()))
        next_s = max(next_s + options.every, time.monotonic())
        while True:
            readable, _, _ = select.select([0], [], [], max(0.0, next_s - time.monotonic()))
            if readable and not os.read(0, 4096):
                _end()
            if time.monotonic() >= next_s:
                break


def _print(line: bytes) -> None:
    view = memoryview(line)
    with contextlib.suppress(BrokenPipeError):
        while view:
            view = view[os.write(1, view) :]
        return
    _end()


def _end() -> None:
    # A thread that hangs in NVML must not keep us.
    os._exit(0)


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="omnitui.monitor")
    parser.add_argument("--gpus", default="", help="indices or UUIDs, separated by commas; `all`")
    parser.add_argument("--cpus", default="", help="the benchmark's CPUs, such as 2-15,18")
    parser.add_argument("--disk", default="/", help="the folder that results go to")
    parser.add_argument("--run", default="-", help="the id of the run whose processes are ours")
    parser.add_argument("--containers", default="", help="ids of the run's containers, separated by commas")
    parser.add_argument("--contained", action="store_true", help="the run has containers whose ids are not known")
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two samples")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        _end()
