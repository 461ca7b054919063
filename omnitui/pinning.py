"""Whether a job keeps to the CPUs that its environment asks for: the reading and its judge. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from omnitui.gates import Green, Moot, Red, Unknown, Verdict
from omnitui.samples import cpus_of, shown_cpus


class Threads(Struct, frozen=True):
    """How many threads of one process may run on just these CPUs; `thread` and `name` are of the first of them."""

    pid: int
    thread: int
    name: str
    count: int
    cpus: frozenset[int]


class AffinityReading(Struct, frozen=True):
    """Where the threads of a job may run. `absent` says why no system tells it, `error` why it cannot be read."""

    threads: tuple[Threads, ...] = ()
    commands: Mapping[int, str] = {}
    """What each of the processes is called, by pid."""
    unread: tuple[int, ...] = ()
    """Processes that live, and whose threads cannot be read."""
    absent: str = ""
    error: str = ""


def judge_pinned(asked: str, reading: AffinityReading) -> Verdict:
    """Green: every thread that was seen keeps to the CPUs that were asked for, or to some of them."""
    wanted = cpus_of(asked)
    if not wanted:
        return Unknown(f"{asked!r} is no list of CPUs, such as 2-15,18")
    if reading.absent:
        return Moot(reading.absent)
    if reading.error:
        return Unknown(reading.error)
    outside = [one for one in reading.threads if not one.cpus <= wanted]
    if outside:
        return Red(_told(outside, wanted, reading))
    if reading.unread:
        return Unknown(f"the threads of {_process(reading.unread[0], reading)} cannot be read")
    if not reading.threads:
        return Unknown("nothing of it runs")
    count = sum(one.count for one in reading.threads)
    processes = len({one.pid for one in reading.threads})
    where = frozenset[int]().union(*(one.cpus for one in reading.threads))
    of = "" if where == wanted else f" of {shown_cpus(wanted)}"
    return Green(
        f"{count} {_many(count, 'thread')} of {processes} {_many(processes, 'process')} "
        f"{'keeps' if count == 1 else 'keep'} to CPUs {shown_cpus(where)}{of}"
    )


def _told(outside: list[Threads], wanted: frozenset[int], reading: AffinityReading) -> str:
    first, more = outside[0], sum(one.count for one in outside) - 1
    thread = "" if first.thread == first.pid else f", thread {first.thread} ({first.name}),"
    others = f"; so may {more} other {_many(more, 'thread')}" if more else ""
    return (
        f"{_process(first.pid, reading)}{thread} may run on CPUs {shown_cpus(first.cpus)}, "
        f"not only on {shown_cpus(wanted)}{others}"
    )


def _process(pid: int, reading: AffinityReading) -> str:
    return f"pid {pid} ({reading.commands.get(pid, 'unknown')})"


def _many(count: int, name: str) -> str:
    return name if count == 1 else f"{name}es" if name.endswith("s") else f"{name}s"
