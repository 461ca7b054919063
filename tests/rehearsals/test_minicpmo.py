"""The MiniCPM-o offline page, rehearsed: its runs, two commits turn by turn, the CI stages, and how it breaks."""

from collections.abc import Callable
from pathlib import Path

import pytest
from omnitui import store
from omnitui.model import Failed, Passed
from omnitui.rehearsal import sandbox

from tests.rehearsals.conftest import Told

pytestmark = [pytest.mark.rehearsal, pytest.mark.timeout(600)]
RUNBOOK = "minicpmo-offline"
Rehearse = Callable[..., Told]


def results(told: Told) -> Path:
    """The host's folder of results, as the operator finds it."""
    assert told.run is not None
    return sandbox.of_run(told.run).root / "data" / "omni-bench" / "results"


@pytest.mark.parametrize(("where", "schedule"), [("docker", "one-commit"), ("local", "short")])
def test_the_page_ends_green_with_its_ci_stages(rehearse: Rehearse, where: str, schedule: str) -> None:
    told = rehearse(RUNBOOK, "--schedule", schedule, "--set", "PARTS=measure,ci", "--set", f"WHERE={where}")
    assert told.code == 0, told.out
    assert told.run is not None
    state = store.read(told.run)
    assert all(isinstance(record.status, Passed) for record in state.steps.values()), told.out
    if where == "docker":
        codes = sorted(results(told).glob("*/ci/run1/*.rc"))
        assert [code.read_text() for code in codes] == ["0\n"] * 10
        assert {one.name for one in results(told).glob("*/run*")} == {"run0", "run1", "run2", "run3"}
        assert "3 scored passes averaged (run1, run2, run3)" in told.out


def test_every_pass_of_two_commits_measures_its_own(rehearse: Rehearse) -> None:
    commit_b = ("--set", "COMMIT_B=origin/main~1")
    told = rehearse(RUNBOOK, "--schedule", "two-commits", *commit_b, "--set", "SEED=0")
    assert told.code == 0, told.out
    assert told.run is not None
    handed = store.read(told.run).handed
    assert handed["a/_"]["COMMIT_SHA"] != handed["b/_"]["COMMIT_SHA"]
    for scope in store.read(told.run).schedule:
        series, _, label = scope.partition("/")
        own = handed[f"{series}/_"]
        found = results(told) / f"{own['SHORT']}-{series}" / label / "commit.txt"
        assert found.read_text().strip() == own["COMMIT_SHA"]
        assert handed[scope]["SESSION_SEED"] == "0"


def test_a_scored_run_needs_a_compile_cache_that_its_code_filled(rehearse: Rehearse) -> None:
    told = rehearse(RUNBOOK, "--order", "main/run1")
    assert told.code == 1
    assert "run0 comes first" in told.out


@pytest.mark.parametrize(
    ("fault", "step", "reason"),
    [
        ("client-cut", "videoamme-client", "exit status 137"),
        ("memory-kept", "videoamme-stop", "GPU_FREE: GPU0"),
        ("server-dies", "videoamme-server", "READY: the server ended while starting"),
    ],
)
def test_a_pass_that_was_cut_off_busy_or_not_ready_begins_again_and_keeps_what_was_there(
    rehearse: Rehearse, fault: str, step: str, reason: str
) -> None:
    told = rehearse(RUNBOOK, "--schedule", "short", "--fault", fault)
    assert told.code == 1
    assert told.run is not None
    status = store.read(told.run).step(f"main/run0/{step}").status
    assert isinstance(status, Failed)
    assert reason in status.reason
    before = {path.name: path.read_bytes() for path in results(told).glob("*/run0/*.txt")}
    again = rehearse("--resume", told.run.name, "--fault", "none")
    assert again.code == 0, again.out
    assert {one.name for one in results(told).glob("*/run*")} == {"run0", "run0-incomplete", "run1"}
    assert before == {path.name: path.read_bytes() for path in results(told).glob("*/run0-incomplete/*.txt")}
