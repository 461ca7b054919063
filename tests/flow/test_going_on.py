"""A step that may be red lets the steps after it run; the run ends red, and a resume takes up all that went on."""

from pathlib import Path

from omnitui.model import Failed, Passed
from tests.flow.desk import RUNBOOKS, Desk

STAGES = str(RUNBOOKS / "stages")


def test_all_stages_run_and_the_red_ones_are_taken_up_again(desk: Desk, tmp_path: Path) -> None:
    for name in ("fail-1", "fail-2"):
        (tmp_path / name).touch()
    told = desk.omnitui("run", STAGES, f"--set=HOME_DIR={tmp_path}", "--headless")
    assert told.code == 1
    run = desk.only_run()
    status = {name: desk.state(run).step(f"_/_/{name}").status for name in ("one", "two", "last")}
    assert isinstance(status["one"], Failed)
    assert isinstance(status["two"], Failed)
    assert isinstance(status["last"], Passed)
    assert "exit code" in status["one"].reason
    (tmp_path / "fail-2").unlink()
    assert desk.omnitui("resume", run.name, "--headless").code == 1
    assert isinstance(desk.state(run).step("_/_/one").status, Failed)
    assert isinstance(desk.state(run).step("_/_/two").status, Passed)
    (tmp_path / "fail-1").unlink()
    assert desk.omnitui("resume", run.name, "--headless").code == 0
    attempts = [len(desk.state(run).step(f"_/_/{name}").attempts) for name in ("one", "two", "last")]
    assert attempts == [3, 2, 1]


def test_another_red_gate_ends_the_run_there(desk: Desk, tmp_path: Path) -> None:
    for name in ("fail-1", "dirty-1"):
        (tmp_path / name).touch()
    told = desk.omnitui("run", STAGES, f"--set=HOME_DIR={tmp_path}", "--headless")
    assert told.code == 1
    state = desk.state(desk.only_run())
    assert isinstance(state.step("_/_/one").status, Failed)
    assert "_/_/two" not in state.steps
