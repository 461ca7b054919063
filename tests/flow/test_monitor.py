"""The monitor as a process: what it prints, what hangs or crashes in it, that it never outlives its starter."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from omnitui.samples import Sample, Started, decoded
from omnitui.sampling import Watched, samples
from tests.flow.desk import alive
from tests.waiting import PATIENCE_S, until

DATA = Path(__file__).parents[1] / "data" / "gpu"
A = "GPU-aaaaaaaa-2222-3333-4444-555555555555"


@pytest.fixture
def nvml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Change what the stand-in for NVML says in every process that is started from here."""
    told = tmp_path / "nvml.json"

    def say(name: str = "nvml_idle.json", **more: Any) -> None:
        fresh = tmp_path / "fresh.json"
        fresh.write_text(json.dumps({**json.loads((DATA / name).read_text()), **more}))
        fresh.replace(told)

    say()
    monkeypatch.setenv("FAKE_NVML", str(told))
    monkeypatch.setenv("PYTHONPATH", f"{DATA / 'fake'}:{os.environ.get('PYTHONPATH', '')}")
    return say


class Printed:
    """A monitor and the lines that it has printed so far."""

    def __init__(self, *arguments: str) -> None:
        self.lines: list[Started | Sample] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "omnitui.monitor", "--every", "0.05", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            told = decoded(line)
            assert isinstance(told, Started | Sample)
            self.lines.append(told)

    def end(self) -> None:
        """End it, and leave nothing open."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe
            pipe.close()

    def sample(self, fits: Callable[[Sample], object] = lambda _: True) -> Sample:
        """The next sample that fits, of those to come."""
        seen = len(self.lines)
        found = until(lambda: next((s for s in self.lines[seen:] if isinstance(s, Sample) and fits(s)), None))
        assert found
        return found


@pytest.fixture
def monitor() -> Iterator[Callable[..., Printed]]:
    started: list[Printed] = []

    def start(*arguments: str) -> Printed:
        started.append(Printed(*arguments))
        return started[-1]

    yield start
    for one in started:
        one.end()


def test_it_ends_with_its_stdin(monitor: Callable[..., Printed], nvml: Callable[..., None]) -> None:
    one = monitor("--gpus", "0", "--cpus", "0")
    one.sample()
    assert one.process.stdin
    one.process.stdin.close()
    assert one.process.wait(PATIENCE_S) == 0


def test_it_ends_with_its_stdin_also_while_nvml_hangs(
    monitor: Callable[..., Printed], nvml: Callable[..., None]
) -> None:
    nvml(trouble="hang")
    one = monitor("--gpus", "0")
    one.sample()
    assert one.process.stdin
    one.process.stdin.close()
    assert one.process.wait(PATIENCE_S) == 0


def test_a_sample_tells_cards_and_host(
    monitor: Callable[..., Printed], nvml: Callable[..., None], tmp_path: Path
) -> None:
    nvml("nvml_two_swapped.json")
    one = monitor("--gpus", A, "--cpus", "0", "--disk", str(tmp_path / "results"))
    told = one.sample(lambda s: s.gpu_age_s is not None and s.host.swap_in_mib is not None)
    (card,) = told.gpu.cards
    assert (card.uuid, card.index, card.used_mib) == (A, 1, 0.0)
    assert not told.gpu_stale
    assert told.host.disk_free_mib
    assert told.host.memory_used_mib
    assert told.own_cpu_s
    # What this stand-in does not have is not told.
    assert card.power_limit_w is None


def test_no_gpu_is_read_where_the_run_names_none(
    monitor: Callable[..., Printed], nvml: Callable[..., None]
) -> None:
    nvml(trouble="crash")
    told = monitor().sample()
    assert told.gpu.absent == "the run names no GPU"
    assert told.host.loads is None


def test_all_cards(monitor: Callable[..., Printed], nvml: Callable[..., None]) -> None:
    nvml("nvml_two_swapped.json")
    assert len(monitor("--gpus", "all").sample(lambda s: s.gpu.cards).gpu.cards) == 2


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")
def test_it_keeps_off_the_benchmarks_cpus(monitor: Callable[..., Printed]) -> None:
    mine = sorted(os.sched_getaffinity(0))
    one = monitor("--cpus", f"{mine[0]}")
    one.sample()
    first = one.lines[0]
    assert isinstance(first, Started)
    assert first.apart
    assert mine[0] not in first.cpus
    for task in Path(f"/proc/{one.process.pid}/task").iterdir():
        assert os.sched_getaffinity(int(task.name)) == set(mine[1:])


def test_it_says_when_no_cpu_is_left(monitor: Callable[..., Printed]) -> None:
    one = monitor("--cpus", "0-4095")
    one.sample()
    first = one.lines[0]
    assert isinstance(first, Started)
    assert not first.apart
    assert "no CPU is left" in first.said


def test_an_nvml_that_hangs_stops_no_host_sample(
    monitor: Callable[..., Printed], nvml: Callable[..., None]
) -> None:
    one = monitor("--gpus", "0")
    one.sample(lambda s: s.gpu_age_s is not None)
    nvml(trouble="hang")
    late = one.sample(lambda s: s.gpu_stale)
    assert late.gpu.cards, "the last reading is still there, with its age"
    assert late.host.memory_used_mib
    assert one.sample().at > late.at


def test_a_slow_nvml_is_told_with_its_age(monitor: Callable[..., Printed], nvml: Callable[..., None]) -> None:
    nvml(trouble="slow")
    # On a loaded machine an answer may come so late that it is stale.
    told = monitor("--gpus", "0").sample(lambda s: s.gpu_age_s is not None and not s.gpu_stale)
    assert told.gpu_age_s
    assert told.gpu_age_s >= 1.4


async def begun(lines: AsyncIterator[Started | Sample]) -> int:
    """The pid of a monitor that has begun. A loaded machine may call it silent before."""
    async for line in lines:
        if isinstance(line, Started):
            return line.pid
    raise AssertionError("it never begins")


async def first(lines: AsyncIterator[Started | Sample], fits: Callable[[Sample], object]) -> Sample:
    async for line in lines:
        if isinstance(line, Sample) and fits(line):
            return line
    raise AssertionError("samples never end")


async def test_a_crash_is_told_and_the_monitor_comes_back(nvml: Callable[..., None]) -> None:
    nvml(trouble="crash")
    async with samples(Watched(gpus="0"), 0.05) as lines, aclosing(lines):  # type: ignore[type-var]
        told = await first(lines, lambda s: "has ended" in s.trouble)
        assert "has ended (status 139)" in told.trouble
        assert "started again in 1 s" in told.trouble
        assert told.gpu_stale
        nvml()
        assert (await first(lines, lambda s: s.gpu.cards)).trouble == ""


async def test_a_monitor_that_is_stopped_reads_as_silent() -> None:
    async with samples(Watched(), 0.05) as lines, aclosing(lines):  # type: ignore[type-var]
        pid = await begun(lines)
        os.kill(pid, signal.SIGSTOP)
        told = await first(lines, lambda s: s.trouble)
        assert told.trouble == "the monitor has been silent for 3 s"
        os.kill(pid, signal.SIGCONT)
        assert await first(lines, lambda s: not s.trouble)


async def test_nothing_is_left_of_a_monitor_that_hangs(nvml: Callable[..., None]) -> None:
    nvml(trouble="hang")
    async with samples(Watched(gpus="0"), 0.05) as lines, aclosing(lines):  # type: ignore[type-var]
        pid = await begun(lines)
        await anext(lines)
    until(lambda: not alive(pid), about="the monitor is gone")


# -- whose process is it -----------------------------------------------------------------------------------------

BURN = """
import hashlib, threading, time
end = time.monotonic() + 600
def burn():
    while time.monotonic() < end:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 20_000)
# Only the largest loads are told of, and others may work on this machine, too.
for _ in range(4):
    threading.Thread(target=burn).start()
"""


@pytest.fixture
def apart() -> Iterator[Callable[..., int]]:
    """Start a shell that is nobody's child; whoever starts a monitor counts as part of the run."""
    started: list[int] = []

    def start(script: str, mark: str) -> int:
        env = {name: value for name, value in os.environ.items() if name != "OMNITUI_JOB"}
        told = subprocess.run(
            ["bash", "-c", 'setsid bash -c "$1" > /dev/null & echo $!', "-", script],
            env=env | ({"OMNITUI_JOB": mark} if mark else {}),
            stdout=subprocess.PIPE,
            check=True,
        )
        started.append(int(told.stdout))
        return started[-1]

    yield start
    for pid in started:
        os.killpg(pid, signal.SIGKILL)


@pytest.mark.parametrize(("mark", "ours"), [("", False), ("run-1:a/1/s:1", True), ("run-2:a/1/s:1", False)])
def test_the_owner_of_a_process_on_a_card(
    monitor: Callable[..., Printed], nvml: Callable[..., None], apart: Callable[..., int], mark: str, ours: bool
) -> None:
    # The process itself has lost the marker; the shell that started it has it.
    shell = apart("env -i sleep 600; true", mark)
    children = Path(f"/proc/{shell}/task/{shell}/children")
    pid = int(until(lambda: children.read_text().strip()))
    until(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n")
    cards = json.loads((DATA / "nvml_held.json").read_text())["cards"]
    cards[0]["processes"] = [[pid, 100], [2**22 - 1, 100]]
    nvml(cards=cards)
    (card,) = monitor("--gpus", "0", "--run", "run-1").sample(lambda s: s.gpu.cards).gpu.cards
    told = {one.pid: one for one in card.processes or ()}
    assert (told[pid].command, told[pid].ours) == ("sleep", ours)
    assert told[pid].user
    assert told[pid].run == ("run-2" if mark.startswith("run-2") else "")
    # One that is gone, or of another pid namespace, belongs to nobody that can be told.
    assert (told[2**22 - 1].ours, told[2**22 - 1].command) == (None, "")


def burning(apart: Callable[..., int], mark: str) -> int:
    return apart(f"exec {shlex.quote(sys.executable)} -S -c {shlex.quote(BURN)}", mark)


def test_a_foreign_load_on_the_benchmarks_cpus(monitor: Callable[..., Printed], apart: Callable[..., int]) -> None:
    ours, foreign = burning(apart, "run-1:a/1/s:1"), burning(apart, "")
    one = monitor("--cpus", ",".join(map(str, os.sched_getaffinity(0))), "--run", "run-1")
    for _ in range(3):
        seen = one.sample(lambda s: any(load.pid == foreign for load in s.host.loads or ()))
        (load,) = (load for load in seen.host.loads or () if load.pid == foreign)
        assert load.ours is False
        assert load.percent >= 5
        assert all(load.pid != ours for load in seen.host.loads or ())
