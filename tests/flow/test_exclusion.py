"""One runner a run, one run a port: the second is told who is first."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from omnitui import store
from omnitui.places.local import is_alive
from omnitui.preflight import preflight
from omnitui.runbook import load
from omnitui.supervise import make_run
from tests.flow.desk import PASS, RUNBOOKS, Desk, alive, contents
from tests.waiting import PATIENCE_S, until


def test_the_lock_of_a_dead_runner_is_free_though_its_server_lives(desk: Desk) -> None:
    run = desk.waiting("client")
    holder = store.holder(run)
    assert holder
    assert holder.role == "runner"
    assert is_alive(holder.identity)
    os.kill(holder.identity.pid, signal.SIGKILL)
    until(lambda: store.holder(run) is None, about="the lock is free")
    assert alive(desk.group_of(run, f"{PASS}/serve"))
    assert alive(desk.group_of(run, f"{PASS}/client"))
    # The host-wide lock of the port is free as well: nothing that lives holds either file.
    files = {str(run.lock), *map(str, (desk.home.parent / "locks").iterdir())}
    for pid in desk.marked():
        # A short sleep of the client's may be over by now, or just ending.
        with suppress(OSError):
            links = [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]  # noqa: PTH115, PTH208
            assert not files & set(links)
    desk.omnitui("stop", run.name)


def test_a_second_runner_of_a_run_is_refused_and_names_the_first(desk: Desk) -> None:
    run = desk.waiting("versions")
    holder = store.holder(run)
    assert holder
    second = subprocess.run(
        [sys.executable, "-m", "omnitui.runner", str(run.path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert second.returncode == 3
    assert f"held by a runner (pid {holder.identity.pid} on {os.uname().nodename})" in second.stderr
    assert run.name in second.stderr
    # The command line becomes a viewer instead.
    viewer = desk.begin("resume", run.name, "--headless", "--yes")
    assert viewer.stdout
    assert "at work already" in viewer.stdout.readline()
    desk.omnitui("stop", run.name)
    assert desk.end(viewer).code == 130
    assert len(desk.events(run, "runner_started")) == 1


def test_a_second_run_on_the_same_port_is_refused_and_names_the_first(desk: Desk) -> None:
    first = desk.waiting("client")
    told = desk.omnitui(*desk.mini())
    assert told.code == 3
    assert f"port {desk.port}" in told.err
    assert first.name in told.err
    assert store.holder(first)
    # Nothing is left of the second, so the first is the newest still.
    assert desk.only_run() == first
    assert first.name in desk.omnitui("status").out
    desk.release("client")
    until(lambda: store.holder(first) is None, about="the first run is over")

    # Once the first is over, the second may begin.
    assert desk.omnitui(*desk.mini()).code == 0


def test_a_run_that_had_begun_stays_when_its_resume_is_refused(desk: Desk) -> None:
    held = desk.waiting("client")
    desk.omnitui("stop", held.name)
    desk.release("client")
    other = desk.waiting("versions")
    before = contents(held.path)
    told = desk.resume(held)
    assert told.code == 3
    assert f"port {desk.port} belongs to run {other.name}" in told.err
    after = contents(held.path)
    assert {name: before[name] for name in before if name != "lock"} == {
        name: after[name] for name in before if name != "lock"
    }
    desk.omnitui("stop", other.name)


def test_two_runs_of_the_same_second_have_different_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = set()
    for home in ("a", "b"):
        # Two users: neither sees the other's runs.
        monkeypatch.setenv("OMNITUI_HOME", str(tmp_path / home))
        ids |= {make_run(str(RUNBOOKS / "asks"), {}, None).name for _ in range(20)}
    assert len(ids) == 40


def test_a_port_that_is_taken_is_told_before_the_start(desk: Desk) -> None:
    runbook = load.load(RUNBOOKS / "mini")
    values = {"PORT": str(desk.port), "CONTROL": str(desk.control)}
    assert preflight(runbook, values) == []
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", desk.port))
        taken.listen()
        (told,) = preflight(runbook, values)
    assert told.startswith(f"port {desk.port} is held by pid {os.getpid()}")


def test_a_port_on_which_the_last_connections_linger_is_free(desk: Desk) -> None:
    with socket.create_server(("127.0.0.1", desk.port)) as last:
        client = socket.create_connection(("127.0.0.1", desk.port))
        # The side that closes first is the one that waits.
        last.accept()[0].close()
        client.close()
    assert desk.omnitui(*desk.mini()).code == 0


def test_two_runs_never_share_an_output_folder(desk: Desk, tmp_path: Path, other_port: int) -> None:
    desk.pause("client")
    shared = f"WORK={tmp_path / 'shared'}"
    first = desk.detach(*desk.mini("--detach", "--set", shared))
    desk.reached("client")
    second = desk.omnitui(*desk.mini("--detach", "--set", shared, PORT=str(other_port)))
    assert second.code == 3
    assert f"the output folder {tmp_path / 'shared'}" in second.err
    assert f"belongs to run {first.name}" in second.err
    desk.release("client")
    desk.saw(first, "runner_ended")


def test_a_value_that_no_server_could_use_is_refused_before_a_run_is_made(desk: Desk) -> None:
    told = desk.omnitui(*desk.mini("--detach", PORT="99999"))
    assert told.code == 2
    assert "no port between 1 and 65535" in told.err
    assert store.runs() == []
