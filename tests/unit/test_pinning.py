"""The judge of CPUs that are asked for, and the reading that it is given."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from omnitui.errors import PlaceError
from omnitui.gates import Green, Moot, Red, Unknown, Verdict
from omnitui.pinning import AffinityReading, Threads, judge_pinned
from omnitui.places import Local
from omnitui.places.base import Process
from omnitui.probes import affinity
from omnitui.samples import cpus_of

COMMANDS = {7: "bash", 9: "python3"}


def threads(pid: int, cpus: str, count: int = 1, thread: int = 0, name: str = "") -> Threads:
    return Threads(pid, thread or pid, name, count, cpus_of(cpus))


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        ([threads(7, "2-15")], Green("1 thread of 1 process keeps to CPUs 2-15")),
        ([threads(7, "2-15"), threads(9, "2-15", 147)], Green("148 threads of 2 processes keep to CPUs 2-15")),
        # Who narrows itself further stays inside.
        (
            [threads(7, "2-15"), threads(9, "3"), threads(9, "4", 2)],
            Green("4 threads of 2 processes keep to CPUs 2-15"),
        ),
        ([threads(9, "3", 2), threads(9, "4", 2)], Green("4 threads of 1 process keep to CPUs 3-4 of 2-15")),
        ([threads(7, "0-63")], Red("pid 7 (bash) may run on CPUs 0-63, not only on 2-15")),
        (
            [threads(7, "2-15"), threads(9, "2-15"), threads(9, "1,4", 3, 12, "nccl")],
            Red(
                "pid 9 (python3), thread 12 (nccl), may run on CPUs 1,4, not only on 2-15; so may 2 other threads"
            ),
        ),
        (
            [threads(7, "16"), threads(8, "17")],
            Red("pid 7 (bash) may run on CPUs 16, not only on 2-15; so may 1 other thread"),
        ),
        ([], Unknown("nothing of it runs")),
    ],
)
def test_every_thread_is_held_against_the_cpus(seen: list[Threads], verdict: Verdict) -> None:
    assert judge_pinned("2-15", AffinityReading(tuple(seen), COMMANDS)) == verdict


@pytest.mark.parametrize(
    ("reading", "verdict"),
    [
        (AffinityReading(absent="no affinity here"), Moot("no affinity here")),
        (AffinityReading(error="the container does not answer"), Unknown("the container does not answer")),
        (
            AffinityReading((threads(7, "2"),), COMMANDS, unread=(9,)),
            Unknown("the threads of pid 9 (python3) cannot be read"),
        ),
        # Who strays does so, whatever else cannot be read.
        (
            AffinityReading((threads(7, "0"),), COMMANDS, unread=(9,)),
            Red("pid 7 (bash) may run on CPUs 0, not only on 2-15"),
        ),
    ],
)
def test_what_is_not_read_is_never_green(reading: AffinityReading, verdict: Verdict) -> None:
    assert judge_pinned("2-15", reading) == verdict


@pytest.mark.parametrize("asked", ["", "all", "2-x"])
def test_what_is_no_list_of_cpus_is_kept_by_nobody(asked: str) -> None:
    verdict = judge_pinned(asked, AffinityReading((threads(7, "2"),), COMMANDS))
    assert verdict == Unknown(f"{asked!r} is no list of CPUs, such as 2-15,18")


# -- the reading -----------------------------------------------------------------------------------------------


class Blind(Local):
    """A place that tells of the threads what it is told to."""

    def __init__(self, told: list[Threads] | None, error: str = "") -> None:
        self._told, self._error = told, error

    def affinity(self, pids: Iterable[int]) -> list[Threads] | None:
        """As it is told to."""
        if self._error:
            raise PlaceError(self._error)
        return self._told


def process(pid: int) -> Process:
    return Process(pid, 1, pid, pid, 0, False, "python3")


def test_who_has_ended_meanwhile_is_left_out_and_who_lives_unread_is_told() -> None:
    with subprocess.Popen(["sleep", "600"]) as ended:
        ended.kill()
    mine = os.getpid()
    reading = affinity.look(Blind([]), [process(ended.pid), process(mine)])
    assert (reading.threads, reading.unread) == ((), (mine,))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_a_real_process_is_read() -> None:
    reading = affinity.look(Local(), [process(os.getpid())])
    assert sum(one.count for one in reading.threads) == len(list(Path("/proc/self/task").iterdir()))
    assert {one.pid for one in reading.threads} == {os.getpid()}


def test_a_place_without_affinity_or_without_an_answer_says_so() -> None:
    assert affinity.look(Blind(None), [process(7)]).absent
    assert affinity.look(Blind([], "the container is gone"), [process(7)]).error == "the container is gone"
