"""A small runbook that uses all that is stood in for, from its first step to its table, and how it breaks."""

import json
import tomllib
from collections.abc import Callable

import pytest
from omnitui import store
from omnitui.cli import run_cli
from omnitui.model import Failed, Passed
from omnitui.rehearsal.faults import FAULTS

from tests.rehearsals.conftest import DATA, Told

pytestmark = [pytest.mark.rehearsal, pytest.mark.timeout(300)]
RUNBOOK = str(DATA / "rehearsed")
Rehearse = Callable[..., Told]


def test_a_runbook_is_rehearsed_to_its_table_and_marked(
    rehearse: Rehearse, capfd: pytest.CaptureFixture[str]
) -> None:
    told = rehearse(RUNBOOK)
    assert told.code == 0, told.out
    assert "REHEARSAL" in told.out
    assert told.run is not None
    state = store.read(told.run)
    assert state.rehearsal
    assert all(isinstance(record.status, Passed) for record in state.steps.values())
    known = tomllib.loads((told.run.pass_folder("main/run1") / "provenance.toml").read_text())
    assert known["rehearsal"] is True
    capfd.readouterr()
    assert run_cli(["resume", told.run.name, "--headless", "--yes"]) == 0
    assert run_cli(["results", told.run.name]) == 0
    assert "REHEARSAL" in capfd.readouterr().out


def test_two_commits_differ(rehearse: Rehearse) -> None:
    told = rehearse(RUNBOOK, "--schedule", "two")
    assert told.code == 0, told.out
    assert told.run is not None
    handed = store.read(told.run).handed
    assert handed["a/_"]["COMMIT_SHA"] != handed["b/_"]["COMMIT_SHA"]
    results = [
        json.loads((told.run.pass_folder(f"{series}/run1") / "metrics.json").read_text()) for series in ("a", "b")
    ]
    assert results[0]["metrics"] != results[1]["metrics"]


def test_a_commit_of_the_real_project_has_a_stand_in(rehearse: Rehearse) -> None:
    told = rehearse(RUNBOOK, "--set", "COMMIT=5ed8a8d", "--set", "GPU=3")
    assert told.code == 0, told.out


ENDS = {
    "server-dies": ("main/run1/serve", "the server ended while starting (exit status 1)"),
    "slow-start": ("main/run1/serve", "nobody listens on port 8000 yet (waited "),
    "port-taken": ("main/run1/serve", "port 8000 is held by pid"),
    "client-cut": ("main/run1/client", "exit status 137"),
    "reboot": ("main/run1/client", ""),
    "skipped-samples": ("main/run1/collect", "summary.failed_requests is 3 instead of 0"),
    "nan-result": ("main/run1/collect", "summary.utmos_mean is nan"),
    "memory-kept": ("main/run1/stop", "not below 1024 (waited "),
    "disk-full": ("main/run1/client", "No space left on device"),
    "partial-download": ("_/_/download", "DOWNLOADED not printed"),
    "wrong-commit": ("main/run1/ready", "HEAD is another commit"),
    "venv-stale": ("main/run1/ready", "VENV_OK not printed"),
}
"""Where the small runbook ends red, and what is told then."""
BEGIN_AGAIN = ("skipped-samples", "nan-result")
"""What was measured stays wrong: only the whole pass can be green."""


def test_every_fault_is_tested() -> None:
    assert ENDS.keys() == {name for name, fault in FAULTS.items() if not fault.page}


@pytest.mark.parametrize("fault", [name for name in ENDS if name != "reboot"])
def test_a_fault_ends_red_where_it_must_and_is_green_once_lifted(rehearse: Rehearse, fault: str) -> None:
    step, reason = ENDS[fault]
    told = rehearse(RUNBOOK, "--fault", fault)
    assert told.code == 1, told.out
    assert told.run is not None
    state = store.read(told.run)
    status = state.step(step).status
    assert isinstance(status, Failed), told.out
    assert reason in told.out
    assert f"--resume {told.run.name} --fault none" in told.out
    red = [name for name, record in state.steps.items() if not isinstance(record.status, Passed)]
    assert red == [step], told.out

    at = ("--at", "start") if fault in BEGIN_AGAIN else ()
    again = rehearse("--resume", told.run.name, "--fault", "none", *at)
    assert again.code == 0, again.out
    assert "--fault none" not in again.out
