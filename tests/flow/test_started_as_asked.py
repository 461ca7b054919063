"""How a job finds itself when the whole chain started it: command line, detached runner, bash."""

import json
import os
import shutil
from typing import Any

import pytest
from omnitui.store import RunFolder
from tests.flow.desk import RUNBOOKS, Desk, Told

FACTS = str(RUNBOOKS / "facts")


def facts(desk: Desk, *before: str, **env: str) -> dict[str, Any]:
    """What a step saw of itself."""
    told: Told = desk.process("run", FACTS, "--headless", before=before, env=env)
    assert told.code == 0, told
    found: dict[str, Any] = json.loads((desk.only_run().path / "facts.json").read_text())
    return found


def test_a_job_is_a_session_of_its_own_without_a_terminal(desk: Desk) -> None:
    # An operator's shell whose jobs ignore signals, in a terminal of a given size.
    ignoring = ("bash", "-c", 'trap "" INT HUP QUIT; exec "$@"', "bash")
    seen = facts(desk, *ignoring, COLUMNS="44", LINES="11")
    wrapper = desk.group_of(desk.only_run(), "_/_/look")
    assert seen["session"] == seen["group"] == wrapper
    assert seen["pid"] != wrapper
    assert seen["stdin"] == "/dev/null"
    assert seen["sizes"] == []
    assert seen["interrupt"]
    assert not {"SIGINT", "SIGHUP", "SIGTERM"} & set(seen["ignored"])
    assert seen["setproctitle"] == "1"
    assert seen["marker"] == f"{desk.only_run().name}:_/_/look:1"


def test_a_job_inherits_no_file_of_the_runner(desk: Desk) -> None:
    seen = facts(desk)
    run = desk.only_run()
    mine = [path for path in seen["descriptors"] if path.startswith(str(desk.home.parent))]
    assert sorted(set(mine)) == sorted({str(run.path / "facts.json"), str(desk.job(run, "_/_/look").log)})


@pytest.mark.skipif(not shutil.which("taskset"), reason="needs taskset")
def test_a_job_has_the_cpus_and_the_niceness_of_the_operators_shell(desk: Desk) -> None:
    cpu = max(os.sched_getaffinity(0))
    seen = facts(desk, "nice", "-n", "5", "taskset", "-c", str(cpu))
    assert seen["cpus"] == [cpu]
    assert seen["nice"] == os.nice(0) + 5


def test_a_run_is_private(desk: Desk) -> None:
    facts(desk)
    run: RunFolder = desk.only_run()
    for path in (run.path, run.path / "jobs", desk.job(run, "_/_/look").path, run.requests):
        assert path.stat().st_mode & 0o777 == 0o700, path
    for path in (run.state, run.journal, run.lock, run.runner_log, desk.job(run, "_/_/look").log):
        assert path.stat().st_mode & 0o777 == 0o600, path
