"""The ASR page, from its host block to the CI tests, and how it ends red where the page says to redo a run."""

from collections.abc import Callable

import pytest
from omnitui import store
from omnitui.model import Failed, Passed

from tests.rehearsals.conftest import Told

pytestmark = [pytest.mark.rehearsal, pytest.mark.timeout(600)]
Rehearse = Callable[..., Told]


@pytest.mark.long
def test_the_whole_page(rehearse: Rehearse) -> None:
    told = rehearse("asr", "--set", "PARTS=measure,ci")
    assert told.code == 0, told.out
    assert told.run is not None
    state = store.read(told.run)
    assert all(isinstance(record.status, Passed) for record in state.steps.values())
    assert "1088 2020 800 20 25" in told.out
    for scope in ("main/warm", "main/1", "main/2", "main/3"):
        assert (told.run.pass_folder(scope) / "metrics.json").exists()
    assert "3 scored passes averaged (1, 2, 3)" in told.out
    assert "Not measured" not in told.out


def test_two_commits_turn_by_turn_each_measured_as_itself(rehearse: Rehearse) -> None:
    told = rehearse(
        *("asr", "--schedule", "two-commits", "--set", "MODELS=qwen3"),
        *("--set", "COMMIT_A=origin/main~1", "--set", "COMMIT_B=origin/main"),
    )
    assert told.code == 0, told.out
    assert told.run is not None
    state = store.read(told.run)
    measured = {series: state.handed[f"{series}/_"]["COMMIT_SHA"] for series in ("a", "b")}
    assert measured["a"] != measured["b"]
    built = [scope for scope in state.schedule if _built(state.steps[f"{scope}/venv"].status)]
    assert built == ["a/1", "b/1", "a/2", "b/3"]
    # RUN_READY is printed only when HEAD is the commit of the series.
    assert all(isinstance(state.step(f"{scope}/folder").status, Passed) for scope in state.schedule)
    assert told.out.count("3 scored passes averaged (1, 2, 3)") == 2
    assert "Not measured: whisper.en" in told.out


def _built(status: object) -> bool:
    assert isinstance(status, Passed)
    return not status.already


def test_the_ci_tests_alone_need_nothing_else(rehearse: Rehearse) -> None:
    told = rehearse("asr", "--set", "PARTS=ci")
    assert told.code == 0, told.out
    assert told.run is not None
    assert {step.rpartition("/")[0] for step in store.read(told.run).steps} == {"_/_"}


def test_a_pair_with_the_gpu_under_test_in_it_is_refused(rehearse: Rehearse) -> None:
    told = rehearse("asr", "--set", "PARTS=measure,ci", "--set", "GPU=2")
    assert told.code == 1
    assert "which this run measures on" in told.out


FAULTS = [
    ("no-access", "moss_td", "main/_/get-movies800time", "printed NO_ACCESS"),
    ("freeze-differs", "qwen3", "main/1/freeze", "printed FREEZE_DIFFERS"),
    ("tokens-sent", "moss_td", "main/1/collect", "max_new_tokens"),
    ("skipped-samples", "qwen3", "main/1/qwen3-en", "gave 1085, 1088 instead of 1088, 1088"),
    ("skipped-samples", "moss_td", "main/1/movies800times", "exit status 1; CLIENT_OK not printed"),
    ("client-cut", "qwen3", "main/1/qwen3-en", "exit status 137"),
    ("wrong-commit", "qwen3", "main/_/build", "printed WRONG_COMMIT"),
    ("disk-full", "qwen3", "main/1/qwen3-en", "exit status 1"),
    ("venv-stale", "qwen3", "main/_/build", "Verified <N> exact dependency pins not printed"),
]


@pytest.mark.parametrize(("fault", "models", "step", "reason"), FAULTS)
def test_a_fault_ends_red_where_the_page_says_and_is_green_once_lifted(
    rehearse: Rehearse, fault: str, models: str, step: str, reason: str
) -> None:
    order = "main/warm,main/1" if fault == "freeze-differs" else "main/1"
    told = rehearse("asr", "--order", order, "--set", f"MODELS={models}", "--fault", fault)
    assert told.code == 1, told.out
    assert told.run is not None
    state = store.read(told.run)
    status = state.step(step).status
    assert isinstance(status, Failed), told.out
    # Why a pass is incomplete is told by what collected it.
    assert reason in (told.out if step.endswith("/collect") else status.reason)
    assert [name for name, record in state.steps.items() if not isinstance(record.status, Passed)] == [step]

    again = rehearse("--resume", told.run.name, "--fault", "none")
    assert again.code == 0, again.out
