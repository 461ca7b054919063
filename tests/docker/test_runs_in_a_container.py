"""Whole runs whose steps work in a container, with everything that may happen to it meanwhile."""

import os
import signal
import subprocess
import tomllib

import pytest
from omnitui import store
from omnitui.model import PINNED
from omnitui.store import RunFolder
from tests.docker.conftest import Boxed
from tests.flow.desk import PASS
from tests.waiting import until


def detached(boxed: Boxed, **values: str) -> RunFolder:
    return boxed.detach(*boxed.arguments("--detach", **values)[:-1])


def free(run: RunFolder) -> None:
    until(lambda: store.holder(run) is None, about="nobody holds the run")


def kill_clients(boxed: Boxed) -> None:
    """SIGKILL to every `docker exec` of this desk."""
    for pid, (process, _) in boxed.processes().items():
        if process.command == "docker":
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("init", [True, False], ids=["init", "no init"])
def test_a_run_from_setup_to_table(boxed: Boxed, init: bool) -> None:
    boxed.box.start(*["--init"] * init)

    told = boxed.omnitui(*boxed.arguments())

    assert told.code == 0, told
    run = boxed.only_run()
    out = boxed.box.work / "results" / "run1"
    assert "latency" in told.out
    assert boxed.status_of(run, "_/_/container") == "Passed"
    assert (out / "metrics.json").exists()
    # What root made in the container is read by an ordinary user of the host.
    reading = subprocess.run(["cat", out / "speed_results.json"], user=65534, capture_output=True, check=False)
    assert reading.returncode == 0
    known = tomllib.loads((run.pass_folder(PASS) / "provenance.toml").read_text())
    assert known["out"] == "/work/results/run1"
    assert known["containers"][0]["name"] == boxed.box.name
    assert boxed.box.commands() == []


@pytest.mark.parametrize("init", [True, False], ids=["init", "no init"])
def test_a_server_outlives_runner_and_client_and_is_adopted(boxed: Boxed, init: bool) -> None:
    boxed.box.start(*["--init"] * init)
    boxed.pause("client")
    run = detached(boxed, FAULT="worker")
    boxed.reached("client")
    who = boxed.job(run, f"{PASS}/serve").identity()

    boxed.kill_runner(run)
    kill_clients(boxed)
    assert any(line.startswith("python3 -S /work") for line in boxed.box.commands())
    assert boxed.status(run)["outcome"] == "interrupted"
    boxed.release("client")
    told = boxed.resume(run)

    assert told.code == 0, told
    assert boxed.job(run, f"{PASS}/serve").identity() == who
    assert boxed.box.commands() == []


def test_a_stopped_container_is_told_and_the_run_goes_on_once_it_is_up(boxed: Boxed) -> None:
    boxed.box.start()
    boxed.pause("client")
    run = detached(boxed)
    boxed.reached("client")

    boxed.box.engine.docker("stop", "--time", "0", boxed.box.name)
    free(run)
    assert "is stopped; docker start" in boxed.status(run)["reason"]
    # Still down: told again, and nothing is taken for free or dead that is not.
    told = boxed.resume(run)
    assert told.code == 1
    assert "is stopped; docker start" in told.out + told.err

    boxed.box.engine.docker("start", boxed.box.name)
    boxed.release("client")
    told = boxed.resume(run)
    assert told.code == 0, told
    assert (boxed.box.work / "results" / "run1-incomplete").is_dir()


def test_a_container_that_is_gone_is_told_and_its_results_are_still_found(boxed: Boxed) -> None:
    boxed.box.start()
    boxed.pause("client")
    run = detached(boxed)
    boxed.reached("client")

    boxed.box.engine.docker("rm", "--force", boxed.box.name)
    free(run)
    assert "container" in boxed.status(run)["reason"]
    told = boxed.resume(run)
    assert told.code == 1
    assert "there is no container" in told.out + told.err
    log = boxed.job(run, f"{PASS}/serve").log
    assert "loading mini" in log.read_text()

    # Another container of that name: its processes are nobody's, whatever their numbers.
    boxed.box.start()
    boxed.release("client")
    told = boxed.resume(run)
    assert told.code == 0, told


def test_a_container_that_is_replaced_within_a_pass_marks_it(boxed: Boxed) -> None:
    boxed.box.start()
    boxed.pause("score")
    run = detached(boxed)
    boxed.reached("score")
    assert boxed.omnitui("hold", run.name).code == 0
    boxed.release("score")
    free(run)
    boxed.box.engine.docker("rm", "--force", boxed.box.name)
    boxed.box.start()

    told = boxed.resume(run)

    assert "was replaced before" in "; ".join(boxed.status(run)["marks"][PASS]), told
    assert "was replaced before" in boxed.omnitui("results", run.name).out


def test_a_redo_moves_the_output_aside_in_the_container(boxed: Boxed) -> None:
    boxed.box.start()
    assert boxed.omnitui(*boxed.arguments()).code == 0
    run = boxed.only_run()
    told = boxed.omnitui("redo", run.name, PASS)
    assert told.code == 0, told
    results = boxed.box.work / "results"
    assert sorted(path.name for path in results.iterdir() if path.is_dir()) == ["run1-incomplete"]
    assert boxed.resume(run).code == 0
    assert (results / "run1").is_dir()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"IMAGE": "other@sha256:0"}, "its image is omnitui-test:1, not other@sha256:0"),
        ({"MOUNTED": "/elsewhere"}, "not /elsewhere"),
    ],
)
def test_another_container_than_the_page_describes(boxed: Boxed, values: dict[str, str], told: str) -> None:
    boxed.box.start()
    ended = boxed.omnitui(*boxed.arguments(**values))
    assert ended.code == 1
    run = boxed.only_run()
    assert boxed.status_of(run, "_/_/container") == "Failed"
    assert told in boxed.status(run)["reason"] or "exit status 1" in boxed.status(run)["reason"]


def test_a_stop_by_the_operator_leaves_nothing(boxed: Boxed) -> None:
    boxed.box.start()
    boxed.pause("client")
    run = detached(boxed, FAULT="deaf worker")
    boxed.reached("client")
    assert boxed.omnitui("stop", run.name).code == 0
    assert boxed.box.commands() == []


def test_the_cpus_of_a_job_are_read_back_in_its_container(boxed: Boxed) -> None:
    cpu = min(os.sched_getaffinity(0))
    book = boxed.folder / "runbook.toml"
    bench = '[environments.bench]\nplace = "bench"\n'
    book.write_text(book.read_text().replace(bench, f'{bench}cpus = "{cpu}"\n'))
    boxed.box.start()

    told = boxed.omnitui(*boxed.arguments())

    assert told.code == 0, told
    (event,) = boxed.events(boxed.only_run(), "gate", word=PINNED, step=f"{PASS}/serve")
    assert event["verdict"]["is"] == "green"
    assert event["verdict"]["reason"].endswith(f"to CPUs {cpu}")
