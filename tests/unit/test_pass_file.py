"""The small file beside a pass's metrics says what the state says of it, whoever wrote the state last."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from omnitui.errors import StoreError
from omnitui.model import PassRecord, Status, StepRecord
from omnitui.store import Owned, RunFolder, read_standing, standing_of
from tests.result_stores import make_runbook
from tests.unit.builders import AT, green, red, running, state

STEPS: dict[str, Status] = {
    "a/1/client": green(),
    "a/1/collect": green(),
    "a/1/stop": red(),
    "a/10/client": green(),
}


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path)
    folder.pass_folder("a/1").mkdir(parents=True)
    return folder


def told(run: RunFolder) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = read_standing(run.pass_folder("a/1"))
    assert found is not None
    return found.marks, found.done


def test_it_has_the_marks_and_the_steps_that_are_done(run: RunFolder) -> None:
    there = state(STEPS, passes={"a/1": PassRecord(marks=("swapping",))})
    owned = Owned(run, state())
    owned.commit("x", there)
    owned.close()
    assert told(run) == (("swapping",), ("client", "collect"))
    found = read_standing(run.pass_folder("a/1"))
    assert found is not None
    assert (found.runbook, found.title, found.began) == ("bench", "Bench", AT)
    assert read_standing(run.pass_folder("a/2")) is None


def test_every_later_change_reaches_it(run: RunFolder) -> None:
    owned = Owned(run, state(STEPS))
    owned.commit("taken")
    assert told(run) == ((), ("client", "collect"))
    owned.commit("ended", owned.state.with_step("a/1/stop", StepRecord(status=green())))
    owned.commit("marked", replace(owned.state, passes={"a/1": PassRecord(marks=("edited",))}))
    owned.close()
    assert read_standing(run.pass_folder("a/1")) == standing_of(owned.state, "a/1")
    assert told(run) == (("edited",), ("client", "collect", "stop"))


def test_whoever_takes_the_lock_sets_it_right(run: RunFolder) -> None:
    (run.pass_folder("a/1") / "standing.json").write_text('{"marks": ["of a runner that died"]}')
    owned = Owned(run, state(STEPS))
    owned.commit("runner_started")
    owned.close()
    assert told(run) == ((), ("client", "collect"))


def test_one_that_cannot_be_read_is_told(run: RunFolder) -> None:
    (run.pass_folder("a/1") / "standing.json").write_text("{")
    with pytest.raises(StoreError, match=r"standing\.json cannot be read"):
        read_standing(run.pass_folder("a/1"))


def test_a_pass_that_has_begun_is_told_before_it_is_collected(run: RunFolder) -> None:
    owned = Owned(run, state())
    owned.commit("began", owned.state.with_step("b/1/client", StepRecord(status=running())))
    owned.close()
    found = read_standing(run.pass_folder("b/1"))
    assert found is not None
    assert (found.done, found.began) == ((), AT)
    assert not run.pass_folder("b/2").exists()


def test_it_says_whether_the_pass_is_scored_where_the_runbook_tells(run: RunFolder) -> None:
    make_runbook(run.path)
    owned = Owned(run, replace(state(), schedule=("a/run0", "a/run1")))
    for scope in ("a/run0", "a/run1"):
        owned.commit("began", owned.state.with_step(f"{scope}/client", StepRecord(status=running())))
    owned.close()
    found = [read_standing(run.pass_folder(scope)) for scope in ("a/run0", "a/run1")]
    assert [one.scored for one in found if one] == [False, True]
    (run.runbook / "runbook.toml").unlink()
    again = Owned(run, owned.state)
    again.commit("taken")
    again.close()
    assert [one.scored for one in map(read_standing, map(run.pass_folder, ("a/run0", "a/run1"))) if one] == [
        None
    ] * 2
