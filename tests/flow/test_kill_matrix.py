"""SIGKILL of the runner wherever it may be: `omnitui resume` ends in RUN_COMPLETE, and nothing is lost."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from omnitui import store
from omnitui.snapshot import take
from omnitui.store import RunFolder
from tests.flow.desk import PASS, Desk, alive, contents
from tests.waiting import until

SETUP = ("prepare", "versions")
DATA = Path(__file__).parents[1] / "data"


def trace(run: RunFolder) -> list[str]:
    """The scripts that have done their work, in order."""
    return (run.path / "trace.txt").read_text().split()


def work(run: RunFolder, name: str = "run1") -> Path:
    """The output of a pass."""
    return run.path / "work" / name


def complete(desk: Desk, run: RunFolder) -> None:
    """The run is whole, with evidence, and nothing of it is alive."""
    assert take(run).outcome == "complete"
    ended = desk.state(run).step(f"{PASS}/collect").status
    assert "RUN_COMPLETE" in ended.evidence  # type: ignore[union-attr]
    assert not desk.state(run).servers
    assert run.runner_log.read_text() == ""
    until(lambda: not desk.processes(), about="nothing is left over")


# The point where the runner dies, whose jobs die with it, and how the resume must go on.
CASES = {
    "look": ("look", (), "retry"),
    "setup": ("versions", (), "adopt"),
    "setup and its job": ("versions", ("_/_/versions",), "retry"),
    "server start": ("serve", (), "adopt"),
    "server start and the server": ("serve", (f"{PASS}/serve",), "redo_pass"),
    "client": ("client", (), "adopt"),
    "client and its job": ("client", (f"{PASS}/client",), "redo_pass"),
    "client and the server": ("client", (f"{PASS}/serve",), "redo_pass"),
    "scoring": ("score", (), "adopt"),
    "scoring and its job": ("score", (f"{PASS}/score",), "redo_pass"),
}


@pytest.mark.parametrize(("point", "victims", "kind"), CASES.values(), ids=list(CASES))
def test_killed_at(desk: Desk, point: str, victims: tuple[str, ...], kind: str) -> None:
    run = desk.waiting(point)
    desk.kill_runner(run)
    for step in victims:
        os.killpg(desk.group_of(run, step), signal.SIGKILL)
    before = contents(work(run)) if work(run).exists() else {}
    assert take(run).outcome == "interrupted"

    resumed = desk.begin("resume", run.name, "--headless", "--yes")
    until(lambda: len(desk.events(run, "runner_started")) == 2, about="the second runner")
    desk.release(point)
    told = desk.end(resumed)

    assert told.code == 0, told
    assert desk.events(run, "runner_started")[1]["kind"] == kind
    complete(desk, run)
    assert [trace(run).count(step) for step in SETUP] == [1, 1]
    aside = work(run, "run1-incomplete")
    assert aside.exists() == (kind == "redo_pass")
    if kind == "redo_pass":
        assert contents(aside) == before
        assert f"{aside}" in told.out
    else:
        assert before.items() <= contents(work(run)).items()


Dying = Callable[..., RunFolder]


@pytest.fixture
def dying(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Dying:
    """Start a run whose runner dies right behind an event, and come back when it is dead."""

    def start(event: str, step: str, **values: str) -> RunFolder:
        with monkeypatch.context() as here:
            here.setenv("PYTHONPATH", f"{DATA / 'dying'}:{os.environ.get('PYTHONPATH', '')}")
            here.setenv("DIES_AT", f"{event} {step}")
            run = desk.detach(*desk.mini("--detach", **values))
        until(lambda: store.holder(run) is None, about=f"the runner is dead behind {event} {step}")
        assert store.events(run)[0][-1].items() >= {"event": event, "step": step}.items()
        return run

    return start


# The event behind which the runner dies, and how the resume must go on.
BETWEEN = {
    ("step_ended", "_/_/versions"): "go_on",
    ("step_started", f"{PASS}/out"): "redo_pass",
    ("step_ended", f"{PASS}/serve"): "go_on",
    ("step_started", f"{PASS}/client"): "redo_pass",
    ("step_ended", f"{PASS}/stop"): "go_on",
}


@pytest.mark.parametrize(("died", "kind"), BETWEEN.items(), ids=["-".join(died) for died, _ in BETWEEN.items()])
def test_killed_between_two_steps(desk: Desk, dying: Dying, died: tuple[str, str], kind: str) -> None:
    run = dying(*died)
    before = work(run).exists()

    told = desk.resume(run)

    assert told.code == 0, told
    complete(desk, run)
    assert desk.events(run, "runner_started")[1]["kind"] == kind
    assert [trace(run).count(name) for name in SETUP] == [1, 1]
    assert work(run, "run1-incomplete").exists() == (kind == "redo_pass" and before)


def test_killed_while_the_server_stops(desk: Desk, dying: Dying) -> None:
    run = dying("step_started", f"{PASS}/stop", FAULT="deaf")
    told = desk.resume(run)
    assert told.code == 0, told
    complete(desk, run)
    assert not work(run, "run1-incomplete").exists()


@pytest.mark.parametrize("step", [f"{PASS}/collect", "_/_/table"])
def test_killed_while_it_collects_or_summarizes(desk: Desk, dying: Dying, step: str) -> None:
    run = dying("step_started", step)
    told = desk.resume(run)
    assert told.code == 0, told
    complete(desk, run)
    assert not work(run, "run1-incomplete").exists()


def test_a_worker_that_outlived_its_server_does_not_count_as_the_server(desk: Desk) -> None:
    run = desk.waiting("client", FAULT="worker")
    desk.kill_runner(run)
    os.kill(int((desk.control / "server.pid").read_text()), signal.SIGKILL)
    until(lambda: desk.job(run, f"{PASS}/serve").exit_status() == 137, about="the server has ended")
    assert alive(int((desk.control / "worker.pid").read_text()))
    desk.release("client")
    told = desk.resume(run)
    assert told.code == 0, told
    assert work(run, "run1-incomplete").exists()
    complete(desk, run)


def test_a_look_that_lost_its_runner_is_stopped(desk: Desk) -> None:
    run = desk.waiting("look")
    (old,) = {process.group for process, _ in desk.marked().values()}
    desk.kill_runner(run)
    resumed = desk.begin("resume", run.name, "--headless", "--yes")
    until(lambda: not alive(old), about="the look of the dead runner is gone")
    desk.release("look")
    assert desk.end(resumed).code == 0


def test_a_job_that_ended_while_nobody_looked_is_judged_and_not_repeated(desk: Desk) -> None:
    run = desk.waiting("client")
    desk.kill_runner(run)
    desk.release("client")
    until(lambda: desk.job(run, f"{PASS}/client").exit_status() == 0, about="the client ended alone")

    told = desk.resume(run)

    assert told.code == 0, told
    assert "ended meanwhile" in told.out
    assert trace(run).count("run1-client") == 1
    complete(desk, run)


def test_killed_again_and_again(desk: Desk) -> None:
    desk.pause("versions", "serve", "client", "score")
    run = desk.detach(*desk.mini("--detach", FAULT="worker"))
    for point in ("versions", "serve", "client", "score"):
        desk.reached(point)
        desk.kill_runner(run)
        assert desk.omnitui("resume", run.name, "--yes", "--detach").code == 0
        desk.release(point)
    until(lambda: store.holder(run) is None, about="the last runner has ended")
    complete(desk, run)
    assert trace(run) == ["prepare", "versions", *(f"run1-{step}" for step in ("out", "warm", "client", "score"))]


def test_a_pass_redone_twice_keeps_both_outputs(desk: Desk) -> None:
    desk.pause("client")
    run = desk.detach(*desk.mini("--detach"))
    began = []
    for attempt in (1, 2):
        until(desk.job(run, f"{PASS}/client", attempt).path.exists, about="the client is at work")
        group = desk.group_of(run, f"{PASS}/client", attempt)
        began.append((work(run) / "began").read_bytes())
        desk.kill_runner(run)
        os.killpg(group, signal.SIGKILL)
        assert desk.omnitui("resume", run.name, "--yes", "--detach").code == 0
    desk.release("client")
    until(lambda: store.holder(run) is None, about="the last runner has ended")
    complete(desk, run)
    kept = [(work(run, name) / "began").read_bytes() for name in ("run1-incomplete", "run1-incomplete-2")]
    assert kept == began
