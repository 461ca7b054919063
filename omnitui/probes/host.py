"""Load, memory, swap and disk of the host, cheaply: less than a millisecond a look, nothing spawned."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from omnitui.samples import Host

_MIB = 2**20


class HostProbe:
    """Looks at `/proc`; loads and swap are told since the look before, and None at the first."""

    def __init__(self, cpus: frozenset[int], proc: Path = Path("/proc")) -> None:
        self._cpus = cpus
        self._proc = proc
        self._page = os.sysconf("SC_PAGE_SIZE")
        self._ticks: Mapping[int, tuple[int, int]] = {}
        self._swap: tuple[int, int] | None = None

    def look(self) -> Host:
        """One look, without the disk and without foreign loads."""
        ticks = cpu_ticks(self._read("stat"))
        bench, other = loads(self._ticks, ticks, self._cpus)
        self._ticks = ticks
        used, total = memory(self._read("meminfo"))
        swapped = swap_pages(self._read("vmstat"))
        before, self._swap = self._swap, swapped
        return Host(
            bench_load=bench,
            other_load=other,
            memory_used_mib=used,
            memory_total_mib=total,
            swap_in_mib=self._since(before, swapped, 0),
            swap_out_mib=self._since(before, swapped, 1),
            shm_free_mib=free_mib("/dev/shm"),
        )

    def _since(self, before: tuple[int, int] | None, now: tuple[int, int] | None, which: int) -> float | None:
        if before is None or now is None or now[which] < before[which]:
            return None
        return round((now[which] - before[which]) * self._page / _MIB, 3)

    def _read(self, name: str) -> bytes:
        try:
            with open(self._proc / name, "rb", buffering=0) as file:
                return file.readall()
        except OSError:
            return b""


def cpu_ticks(stat: bytes) -> dict[int, tuple[int, int]]:
    """For each CPU the ticks that it was busy, and all its ticks. A virtual machine's stolen time is busy time."""
    found = {}
    for line in stat.split(b"\n"):
        if not line.startswith(b"cpu"):
            break
        fields = line.split()
        if len(fields) < 6 or not fields[0][3:].isdigit():
            continue
        # The guest's ticks, from the ninth on, are in the user's already.
        ticks = [int(field) for field in fields[1:9]]
        total = sum(ticks)
        found[int(fields[0][3:])] = (total - ticks[3] - ticks[4], total)
    return found


def loads(
    before: Mapping[int, tuple[int, int]], now: Mapping[int, tuple[int, int]], bench: frozenset[int]
) -> tuple[float | None, float | None]:
    """The load of the benchmark's CPUs and of the others, in per cent; None where there are none to tell of."""
    sums = {True: [0, 0], False: [0, 0]}
    for cpu, (busy, total) in now.items():
        old_busy, old_total = before.get(cpu, (busy, total))
        # The kernel's idle counters may step back a little.
        if total > old_total:
            part = sums[cpu in bench]
            part[0] += max(0, min(busy - old_busy, total - old_total))
            part[1] += total - old_total
    told = {which: round(100 * busy / total, 1) if total else None for which, (busy, total) in sums.items()}
    return told[True], told[False]


def memory(meminfo: bytes) -> tuple[float | None, float | None]:
    """Memory that is not available, and all, in MiB."""
    found = {}
    for line in meminfo.split(b"\n"):
        name, _, rest = line.partition(b":")
        if name in (b"MemTotal", b"MemAvailable"):
            found[name] = int(rest.split()[0]) / 1024
            if len(found) == 2:
                break
    total, available = found.get(b"MemTotal"), found.get(b"MemAvailable")
    used = None if total is None or available is None else round(total - available, 1)
    return used, None if total is None else round(total, 1)


def swap_pages(vmstat: bytes) -> tuple[int, int] | None:
    """Pages swapped in and out since boot; None where the kernel does not say."""
    found = {}
    for name in (b"\npswpin ", b"\npswpout "):
        _, told, rest = vmstat.partition(name)
        if not told:
            return None
        found[name] = int(rest.partition(b"\n")[0])
    return found[b"\npswpin "], found[b"\npswpout "]


def free_mib(path: str) -> float | None:
    """Free for an ordinary user, in MiB; None when it cannot be asked. Hangs where a network disk hangs."""
    with suppress(OSError):
        told = os.statvfs(path)
        return round(told.f_bavail * told.f_frsize / _MIB, 1)
    return None


def disk_of(path: str) -> tuple[float | None, str]:
    """Free space where a folder is or will be, or why it is not told. Hangs where a network disk hangs."""
    folder = Path(path)
    for one in (folder, *folder.parents):
        if one.exists():
            free = free_mib(str(one))
            return free, "" if free is not None else f"{one} cannot be asked for its free space"
    return None, f"{path} is nowhere on this host"
