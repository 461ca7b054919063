"""A run writes telemetry with the boundaries of its steps; a pass that something foreign disturbs is marked."""

import json
import os
import signal
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from omnitui import store, telemetry
from omnitui.samples import Boundary, Contaminated, Sample, Started
from omnitui.store import RunFolder
from tests.flow.desk import PASS, Desk, alive
from tests.flow.test_monitor import DATA
from tests.waiting import until


@pytest.fixture
def cards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Change what the stand-in for NVML says of the one card, for runs that are started from here on."""
    told = tmp_path / "nvml.json"

    def say(**more: Any) -> None:
        answer = json.loads((DATA / "nvml_idle.json").read_text())
        answer["trouble"] = more.pop("trouble", "")
        answer["cards"][0].update(more)
        fresh = tmp_path / "fresh.json"
        fresh.write_text(json.dumps(answer))
        fresh.replace(told)

    say()
    monkeypatch.setenv("FAKE_NVML", str(told))
    monkeypatch.setenv("PYTHONPATH", f"{DATA / 'fake'}:{os.environ.get('PYTHONPATH', '')}")
    return say


@pytest.fixture
def stranger() -> Iterator[int]:
    """The pid of a process that is not the run's."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OMNITUI")}
    process = subprocess.Popen(["sleep", "600"], env=env, start_new_session=True)
    yield process.pid
    process.kill()
    process.wait()


def samples_of(run: RunFolder) -> list[Sample]:
    return [line for line in telemetry.read(run) if isinstance(line, Sample)]


def finished(desk: Desk, run: RunFolder) -> None:
    desk.release("client", "score", "warm", "prepare")
    until(lambda: store.holder(run) is None, about="the run has ended")


def test_a_run_writes_samples_between_the_boundaries_of_its_steps(desk: Desk, cards: Callable[..., None]) -> None:
    run = desk.waiting("client", GPUS="0")
    until(lambda: len([s for s in samples_of(run) if s.gpu.cards]) > 1, about="two samples with the card")
    finished(desk, run)
    lines = telemetry.read(run)
    assert [line.at for line in lines] == sorted(line.at for line in lines)
    bounds = [(line.event, line.step, line.outcome) for line in lines if isinstance(line, Boundary)]
    began = bounds.index(("began", f"{PASS}/client", ""))
    ended = bounds.index(("ended", f"{PASS}/client", "passed"))
    assert began < bounds.index(("gate", f"{PASS}/client", "CLIENT_OK green")) < ended
    assert bounds[-1][0] == "runner_ended"
    assert sum(isinstance(line, Started) for line in lines) == 1
    newest = telemetry.latest(run)
    assert newest
    assert newest.runner_cpu_s
    assert newest.host.disk_free_mib
    assert not desk.state(run).passes[PASS].marks
    known = tomllib.loads((run.pass_folder(PASS) / "provenance.toml").read_text())["monitor"]
    assert known["samples"] >= 2
    assert known["runner_cpu_s"] >= 0
    assert known["own_cpu_s"] >= 0
    assert known["GPU 0 temperature_c_max"] == 37


def test_what_watching_takes_is_recorded_in_the_pass(desk: Desk) -> None:
    run = desk.waiting("client")
    watching = desk.begin("attach", run.name)
    until(lambda: any(sample.app_cpu_s for sample in samples_of(run)), about="who watches is counted")
    desk.release("client", "score", "warm", "prepare")
    told = desk.end(watching)
    assert told.code == 0, told
    assert tomllib.loads((run.pass_folder(PASS) / "provenance.toml").read_text())["monitor"]["app_cpu_s"] > 0
    assert list(run.viewers.iterdir()) == []


def test_a_foreign_process_marks_the_pass_once(desk: Desk, cards: Callable[..., None], stranger: int) -> None:
    run = desk.waiting("client", GPUS="0")
    cards(processes=[[stranger, 100]])
    event = desk.saw(run, "contaminated", kind="foreign process")
    reason = event["reason"]
    assert reason.startswith(f"foreign process {stranger} (sleep of ")
    assert reason.endswith("on GPU 0 during client")
    count = len(samples_of(run))
    until(lambda: len(samples_of(run)) > count + 1, about="two more samples")
    finished(desk, run)
    assert desk.state(run).passes[PASS].marks == (reason,)
    assert len(desk.events(run, "contaminated")) == 1
    assert [line.reason for line in telemetry.read(run) if isinstance(line, Contaminated)] == [reason]
    told = json.loads(desk.omnitui("results", run.name, "--format", "json").out)
    (series,) = told["series"]
    assert series["averaged"] == []
    assert reason in series["left_out"][0][1]
    known = tomllib.loads((run.pass_folder(PASS) / "provenance.toml").read_text())["monitor"]
    assert known["contaminated_by"] == [reason]


def test_our_own_process_and_what_is_there_before_the_pass_mark_nothing(
    desk: Desk, cards: Callable[..., None], stranger: int
) -> None:
    run = desk.waiting("prepare", "client", GPUS="0")
    cards(processes=[[stranger, 100]])
    until(lambda: any(s.gpu.cards and s.gpu.cards[0].processes for s in samples_of(run)))
    server = desk.control / "own"
    cards()
    count = len(samples_of(run))
    until(lambda: len(samples_of(run)) > count + 1, about="a sample without the stranger")
    desk.release("prepare")
    desk.reached("client")
    ours = desk.group_of(run, f"{PASS}/serve")
    cards(processes=[[ours, 100]])
    until(
        lambda: any(
            (p.pid, p.ours) == (ours, True)
            for s in samples_of(run)
            for c in s.gpu.cards
            for p in c.processes or ()
        )
    )
    finished(desk, run)
    assert not server.exists()
    assert desk.state(run).passes[PASS].marks == ()


def test_throttling_marks_the_pass(desk: Desk, cards: Callable[..., None]) -> None:
    run = desk.waiting("client", GPUS="0")
    cards(reasons=0x48)
    desk.saw(run, "contaminated", kind="throttled")
    finished(desk, run)
    (mark,) = desk.state(run).passes[PASS].marks
    assert mark == "throttled: GPU 0, hardware slowdown, hardware thermal slowdown during client"


def test_a_pass_that_is_not_scored_is_not_marked(desk: Desk, cards: Callable[..., None], stranger: int) -> None:
    cards(processes=[[stranger, 100]])
    run = desk.waiting("client", schedule="three", GPUS="0")
    until(lambda: any(s.gpu.cards for s in samples_of(run)), about="the card is read")
    assert not desk.events(run, "contaminated")
    desk.omnitui("stop", run.name)


@pytest.mark.parametrize("trouble", ["hang", "crash"])
def test_trouble_with_nvml_never_disturbs_the_run(desk: Desk, cards: Callable[..., None], trouble: str) -> None:
    cards(trouble=trouble)
    run = desk.waiting("client", GPUS="0")
    until(lambda: any(s.trouble or s.gpu_age_s is None for s in samples_of(run)), about="the trouble is told")
    finished(desk, run)
    assert desk.events(run, "runner_ended", outcome="complete")
    assert not desk.state(run).passes[PASS].marks


def test_a_monitor_that_is_killed_is_told_and_started_again(desk: Desk) -> None:
    run = desk.waiting("client")
    first = until(lambda: [line for line in telemetry.read(run) if isinstance(line, Started)])[0]
    os.kill(first.pid, signal.SIGKILL)
    until(lambda: len([line for line in telemetry.read(run) if isinstance(line, Started)]) > 1)
    assert any("the monitor has ended (signal 9)" in one.trouble for one in samples_of(run))
    finished(desk, run)
    assert desk.events(run, "runner_ended", outcome="complete")


def test_telemetry_that_cannot_be_written_does_not_matter(desk: Desk) -> None:
    run = desk.waiting("prepare")
    desk.kill_runner(run)
    run.telemetry.unlink(missing_ok=True)
    run.telemetry.mkdir()
    desk.release("prepare")
    assert desk.resume(run).code == 0


def test_the_monitor_does_not_outlive_a_runner_that_is_killed(desk: Desk) -> None:
    run = desk.waiting("client")
    started = until(lambda: [line for line in telemetry.read(run) if isinstance(line, Started)])[0]
    desk.kill_runner(run)
    until(lambda: not alive(started.pid), about="the monitor is gone")
    desk.release("client")
    assert desk.resume(run).code == 0
