"""The output folder of a pass: whose it is, and that nobody's results are taken for another's."""

import os
import signal
from pathlib import Path

from omnitui import store
from omnitui.store import RunFolder
from tests.flow.desk import PASS, Desk
from tests.waiting import until


def let_go(desk: Desk, run: RunFolder) -> None:
    """Let the client go on, and wait for the end."""
    desk.release("client")
    until(lambda: store.holder(run) is None, about="the end of the run")


def test_numbers_of_another_run_are_never_collected(desk: Desk, tmp_path: Path) -> None:
    work = tmp_path / "work"
    first = desk.waiting("score", WORK=str(work))
    desk.omnitui("hold", first.name)
    desk.saw(first, "request")
    desk.release("score")
    until(lambda: store.holder(first) is None, about="the hold")
    assert desk.status(first)["outcome"] == "held"
    second = desk.omnitui(*desk.mini(WORK=str(work)))
    assert second.code == 0, second
    theirs = (work / "run1" / "began").read_bytes()

    told = desk.resume(first)

    assert told.code == 1
    assert "is not the folder that this pass made" in told.out
    assert (work / "run1" / "began").read_bytes() == theirs
    assert desk.omnitui("results", first.name).code == 1


def test_a_folder_is_claimed_however_it_is_spelled(desk: Desk, tmp_path: Path, other_port: int) -> None:
    first = desk.waiting("client", WORK=str(tmp_path / "work"))
    (tmp_path / "link").symlink_to(tmp_path / "work")
    for spelled in (f"{tmp_path}/work/", f"{tmp_path}/./work", str(tmp_path / "link")):
        told = desk.omnitui(*desk.mini("--detach", WORK=spelled, PORT=str(other_port)))
        assert told.code == 3, told
        assert f"belongs to run {first.name}" in told.err
    let_go(desk, first)
    assert desk.status(first)["outcome"] == "complete"


def test_a_pass_is_not_redone_over_the_head_of_another_run(desk: Desk, tmp_path: Path) -> None:
    work = str(tmp_path / "work")
    assert desk.omnitui(*desk.mini(WORK=work)).code == 0
    (done,) = store.runs()
    living = desk.waiting("client", WORK=work)
    told = desk.omnitui("redo", done.name, PASS)
    assert told.code == 3
    assert f"belongs to run {living.name}" in told.err
    let_go(desk, living)
    assert desk.status(living)["outcome"] == "complete"


def test_what_the_operator_made_by_hand_stays(desk: Desk, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    run = desk.waiting("versions", WORK=str(work))
    (work / "run1").write_text("in the way")
    desk.release("versions")
    until(lambda: store.holder(run) is None, about="the red step")
    (work / "run1").unlink()
    (work / "run1").mkdir()
    (work / "run1" / "by-hand").touch()
    assert desk.omnitui("skip", run.name, f"{PASS}/out", "--reason", "made by hand").code == 0
    desk.resume(run)
    assert (work / "run1" / "by-hand").exists()
    assert not (work / "run1-earlier").exists()


def test_a_skipped_first_step_does_not_leave_the_results_of_another_run_in_the_way(
    desk: Desk, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    first = desk.omnitui(*desk.mini(WORK=str(work)))
    assert first.code == 0, first
    theirs = (work / "run1" / "speed_results.json").read_bytes()
    run = desk.waiting("versions", WORK=str(work))
    assert desk.omnitui("hold", run.name).code == 0
    desk.release("versions")
    until(lambda: store.holder(run) is None, about="the hold")
    assert desk.omnitui("skip", run.name, f"{PASS}/out", "--reason", "it is there").code == 0

    desk.resume(run)

    assert (work / "run1-earlier" / "speed_results.json").read_bytes() == theirs
    assert desk.events(run, "moved_aside")
    desk.omnitui("stop", run.name)


def test_stopping_leaves_nothing_though_the_runner_is_killed_meanwhile(desk: Desk) -> None:
    run = desk.waiting("client")
    holder = store.holder(run)
    assert holder
    os.kill(holder.identity.pid, signal.SIGSTOP)
    stopping = desk.begin("stop", run.name)
    until(lambda: "stop" in store.asked(run), about="the request")
    os.kill(holder.identity.pid, signal.SIGKILL)
    told = desk.end(stopping)
    assert told.code == 0, told
    assert not desk.marked()
