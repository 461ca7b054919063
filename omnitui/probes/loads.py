"""Foreign processes that work on the benchmark's CPUs: those whose clock moves, not those that merely exist."""

import os
import time
from collections.abc import Callable
from contextlib import suppress

from omnitui.probes.owners import Owner, Owners
from omnitui.probes.procfs import seen
from omnitui.samples import Load

_FLOOR_PERCENT = 5.0
_MOST = 5
_COST = 0.004
"""The share of a core that looking may take; a host with many processes is looked at less often."""
_AT_LEAST_S = 1.0
_RAREST_S = 10.0


class LoadProbe:
    """Compares the clocks of all processes with those of the look before."""

    def __init__(self, cpus: frozenset[int], owners: Owners, clock: Callable[[], float] = time.monotonic) -> None:
        self._cpus = cpus
        self._owners = owners
        self._clock = clock
        self._hertz = os.sysconf("SC_CLK_TCK")
        self._before: dict[tuple[int, int], int] = {}
        self._threads: dict[int, dict[int, int]] = {}
        self._kernel: set[int] = set()
        self._looked_s = 0.0
        self._next_s = 0.0
        self._last: tuple[tuple[Load, ...] | None, float] = (None, 0.0)

    def look(self) -> tuple[tuple[Load, ...] | None, float]:
        """The largest foreign loads, and the seconds that they are the mean of. None at first, or when hidden."""
        begun, spent_s = self._clock(), time.thread_time()
        if begun < self._next_s:
            return self._last
        over_s = begun - self._looked_s
        now, hidden = self._clocks()
        first, self._looked_s = not self._before, begun
        before, self._before = self._before, now
        found = None
        if not (first or hidden):
            grown = {
                pid: 100 * (ticks - before[pid, start]) / self._hertz / over_s
                for (pid, start), ticks in now.items()
                if (pid, start) in before
            }
            found = self._foreign({pid: part for pid, part in grown.items() if part >= _FLOOR_PERCENT}, over_s)
        pause_s = min(_RAREST_S, (time.thread_time() - spent_s) / _COST)
        # A look that is due with the next sample must not miss it by a hair.
        self._next_s = begun + max(_AT_LEAST_S, pause_s) - 0.1
        self._last = (found, round(over_s, 2) if found is not None else 0.0)
        return self._last

    def _clocks(self) -> tuple[dict[tuple[int, int], int], bool]:
        """The ticks of every process by pid and start; and whether other users' processes are hidden from us."""
        found, living = {}, set()
        for name in os.listdir("/proc"):  # noqa: PTH208 - thrice as fast as a Path for each
            if not name.isdigit():
                continue
            pid = int(name)
            living.add(pid)
            if pid in self._kernel:
                continue
            process = seen(pid)
            if process is None:
                continue
            if process.kernel:
                # It works for whoever asks, mostly for the benchmark.
                self._kernel.add(pid)
                continue
            found[pid, process.start] = process.ticks
        self._kernel &= living
        self._owners.forget(living)
        return found, 1 not in living

    def _foreign(self, grown: dict[int, float], over_s: float) -> tuple[Load, ...]:
        threads: dict[int, dict[int, int]] = {}
        found = []
        for pid in sorted(grown, key=lambda pid: -grown[pid]):
            if pid in (os.getpid(), os.getppid()):
                continue
            owner = self._owners.of(pid)
            if owner.ours:
                continue
            before = self._threads.get(pid, {})
            threads[pid], ticks = self._on_cpus(pid, before)
            percent = 100 * ticks / self._hertz / over_s
            if before and percent >= _FLOOR_PERCENT:
                found.append(_load(pid, owner, percent))
        self._threads = threads
        return tuple(sorted(found, key=lambda load: -load.percent)[:_MOST])

    def _on_cpus(self, pid: int, before: dict[int, int]) -> tuple[dict[int, int], int]:
        """The ticks of each thread, and how many were added by threads that were last seen on the CPUs."""
        now, added = {}, 0
        with suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
                thread = seen(pid, name)
                if thread is None:
                    continue
                now[int(name)] = thread.ticks
                if thread.cpu in self._cpus:
                    added += thread.ticks - before.get(int(name), 0)
        return now, added


def _load(pid: int, owner: Owner, percent: float) -> Load:
    return Load(pid, owner.user, owner.command, round(percent, 1), owner.ours, owner.run)
