"""What the operator decides: hold, stop, confirm, skip, redo, and where to go on."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from omnitui import store
from omnitui.probes import listeners
from omnitui.store import RunFolder
from tests.books import make_book
from tests.flow.desk import PASS, RUNBOOKS, Desk, alive, contents
from tests.waiting import until

ASKS = str(RUNBOOKS / "asks")


def failed_at_warm_up(desk: Desk, schedule: str) -> RunFolder:
    """A run that has failed between READY and the client."""
    (desk.control / "warm.fail").touch()
    told = desk.omnitui(*desk.mini(schedule=schedule))
    assert told.code == 1
    assert "told to fail at warm" in told.out
    (desk.control / "warm.fail").unlink()
    return desk.only_run()


def series(desk: Desk, run: RunFolder) -> dict[str, Any]:
    """What `omnitui results --json` says of the one series."""
    (found,) = json.loads(desk.omnitui("results", run.name, "--json").out)["series"]
    assert isinstance(found, dict)
    return found


# -- hold and stop ---------------------------------------------------------------------------------------------


def test_hold_ends_the_runner_after_the_step_and_resume_goes_on(desk: Desk) -> None:
    run = desk.waiting("client")
    watching = desk.begin("attach", run.name, "--headless")
    assert desk.omnitui("hold", run.name).code == 0
    desk.saw(run, "request", request="hold")
    desk.release("client")
    told = desk.end(watching)
    assert told.code == 3, told
    assert desk.status_of(run, f"{PASS}/client") == "Passed"
    assert desk.status_of(run, f"{PASS}/stop") == "Waiting"
    assert "Server speech is still up" in told.out
    assert desk.status(run)["outcome"] == "held"
    told = desk.resume(run)
    assert told.code == 0, told
    assert not (run.path / "work" / "run1-incomplete").exists()


def test_stop_ends_the_client_and_the_server_and_the_pass_is_redone(desk: Desk) -> None:
    run = desk.waiting("client")
    watching = desk.begin("attach", run.name, "--headless")
    assert desk.omnitui("stop", run.name).code == 0
    assert desk.end(watching).code == 130
    assert not desk.marked()
    assert not listeners.look(desk.port).listeners
    assert desk.status_of(run, f"{PASS}/client") == "Stopped"
    assert desk.omnitui("status", run.name).code == 130
    desk.release("client")
    before = contents(run.path / "work" / "run1")
    assert desk.resume(run).code == 0
    assert contents(run.path / "work" / "run1-incomplete") == before


def test_term_to_the_runner_means_stop(desk: Desk) -> None:
    run = desk.waiting("client")
    holder = store.holder(run)
    assert holder
    os.kill(holder.identity.pid, signal.SIGTERM)
    until(lambda: store.holder(run) is None, about="the runner has ended")
    assert desk.status_of(run, f"{PASS}/client") == "Stopped"
    assert desk.status(run)["outcome"] == "stopped"
    until(lambda: not desk.processes(), about="nothing is left over")


def test_a_hangup_does_not_reach_the_runner_nor_its_jobs(desk: Desk) -> None:
    run = desk.waiting("client")
    holder = store.holder(run)
    assert holder
    os.kill(holder.identity.pid, signal.SIGHUP)
    desk.release("client")
    until(lambda: store.holder(run) is None, about="the run is over")
    assert desk.status(run)["outcome"] == "complete"


def test_stop_without_a_runner_ends_what_was_left(desk: Desk) -> None:
    run = desk.waiting("client")
    desk.kill_runner(run)
    client = desk.group_of(run, f"{PASS}/client")
    told = desk.omnitui("stop", run.name)
    assert told.code == 0
    assert "speech" in told.out
    assert not alive(client)
    assert not desk.marked()
    assert not listeners.look(desk.port).listeners
    assert not desk.state(run).servers
    assert desk.status(run)["outcome"] == "stopped"
    assert desk.omnitui("stop", run.name).out == "nothing was running\n"
    desk.release("client")
    assert desk.resume(run).code == 0


def test_a_server_that_a_failed_run_left_is_stopped_by_stop(desk: Desk) -> None:
    run = failed_at_warm_up(desk, "one")
    assert listeners.look(desk.port).listeners
    assert desk.status(run)["servers"] == ["speech"]
    assert "stopped server speech" in desk.omnitui("stop", run.name).out
    assert not listeners.look(desk.port).listeners


# -- questions -------------------------------------------------------------------------------------------------


def test_a_question_and_a_destructive_step_wait_for_the_operator(desk: Desk) -> None:
    told = desk.omnitui("run", ASKS, "--headless")
    assert told.code == 3
    assert "Is the machine plugged in?" in told.out
    run = desk.only_run()
    assert f"Say yes with: omnitui confirm {run.name}" in told.out
    assert desk.omnitui("status", run.name).code == 3
    assert desk.omnitui("resume", run.name, "--headless").code == 3

    assert desk.omnitui("confirm", run.name).code == 0
    told = desk.omnitui("resume", run.name, "--headless")
    assert told.code == 3
    assert "deletes or rebuilds" in told.out
    assert not (run.path / "wiped.txt").exists()

    assert desk.omnitui("confirm", run.name).code == 0
    told = desk.omnitui("resume", run.name, "--headless")
    assert told.code == 3
    assert "“Renew the cache” deletes or rebuilds" in told.out
    assert (run.path / "wiped.txt").read_text() == "wiped\n"
    assert not (run.path / "renewed.txt").exists()

    assert desk.omnitui("confirm", run.name).code == 0
    assert desk.omnitui("resume", run.name, "--headless").code == 0
    assert (run.path / "renewed.txt").exists()
    assert [event["step"] for event in desk.events(run, "confirmed")] == ["_/_/plug", "_/_/wipe", "_/_/renew"]
    assert all(event["by"] for event in desk.events(run, "confirmed"))
    assert desk.omnitui("confirm", run.name).code == 2


def test_yes_answers_every_question(desk: Desk) -> None:
    assert desk.omnitui("run", ASKS, "--headless", "--yes").code == 0
    assert (desk.only_run().path / "wiped.txt").read_text() == "wiped\n"


def test_nothing_can_be_confirmed_that_does_not_ask(desk: Desk) -> None:
    run = failed_at_warm_up(desk, "one")
    told = desk.omnitui("confirm", run.name)
    assert told.code == 2
    assert "does not ask" in told.err
    desk.omnitui("stop", run.name)


# -- passes ----------------------------------------------------------------------------------------------------


def test_a_skipped_step_marks_its_pass(desk: Desk) -> None:
    run = failed_at_warm_up(desk, "two")
    step = f"{PASS}/warm"
    assert desk.omnitui("skip", run.name, step, "--reason", " ").code == 2
    assert desk.omnitui("skip", run.name, f"{PASS}/wram", "--reason", "x").code == 2
    assert desk.omnitui("skip", run.name, step, "--reason", "the cache is warm").code == 0
    assert desk.omnitui("skip", run.name, step, "--reason", "again").code == 2
    assert desk.events(run, "skipped", step=step, reason="the cache is warm")
    told = desk.resume(run)
    assert desk.status_of(run, f"{PASS}/collect") == "Passed"
    found = series(desk, run)
    assert found["averaged"] == ["run2"]
    assert found["left_out"] == [["run1", "warm was skipped: the cache is warm"]]
    assert not found["complete"]
    # The table is red, because a pass that should count does not.
    assert told.code == 1
    assert "run1 is left out: warm was skipped: the cache is warm" in told.out


def test_resuming_at_the_failed_step_marks_the_pass(desk: Desk) -> None:
    run = failed_at_warm_up(desk, "two")
    server = desk.group_of(run, f"{PASS}/serve")
    desk.pause("client")
    resumed = desk.begin("resume", run.name, "--headless", "--yes", "--at", "step")
    desk.reached("client")
    assert alive(server)
    desk.release("client")
    told = desk.end(resumed)
    assert "left out of the averages" in told.out
    assert not (run.path / "work" / "run1-incomplete").exists()
    assert series(desk, run)["left_out"] == [["run1", "resumed in place at warm"]]
    assert series(desk, run)["averaged"] == ["run2"]

    # Redoing the pass takes the mark away.
    assert desk.omnitui("redo", run.name, PASS).code == 0
    assert desk.resume(run).code == 0
    assert series(desk, run)["averaged"] == ["run1", "run2"]


def test_resuming_in_place_starts_a_server_that_is_gone(desk: Desk) -> None:
    run = failed_at_warm_up(desk, "one")
    desk.omnitui("stop", run.name)
    told = desk.resume(run, "--at", "step")
    assert "Start server speech again" in told.out
    assert desk.status_of(run, f"{PASS}/collect") == "Passed"
    assert (run.path / "trace.txt").read_text().split().count("run1-out") == 1


def test_a_pass_that_is_redone_is_moved_aside(desk: Desk) -> None:
    assert desk.omnitui(*desk.mini()).code == 0
    run = desk.only_run()
    before, metrics = contents(run.path / "work" / "run1"), contents(run.pass_folder(PASS))
    assert desk.omnitui("redo", run.name, "mini/run9").code == 2
    told = desk.omnitui("redo", run.name, PASS)
    assert told.code == 0
    assert f"moved aside: {run.path / 'work' / 'run1-incomplete'}" in told.out
    assert series(desk, run)["left_out"] == [["run1", "not collected"]]
    assert desk.resume(run).code == 0
    assert contents(run.path / "work" / "run1-incomplete") == before
    aside = run.pass_folder(PASS)
    assert contents(aside.with_name(f"{aside.name}-incomplete")) == metrics
    assert series(desk, run)["averaged"] == ["run1"]
    assert len(desk.state(run).step("_/_/table").attempts) == 2


def test_a_later_pass_that_was_left_half_done_begins_again_too(desk: Desk) -> None:
    run = desk.waiting("client", schedule="two")
    (desk.control / "warm.fail").touch()
    desk.release("client")
    until(lambda: store.holder(run) is None, about="run2 has failed at its warm up")
    (desk.control / "warm.fail").unlink()
    assert desk.status_of(run, "mini/run2/warm") == "Failed"
    before = contents(run.path / "work" / "run2")
    assert desk.omnitui("redo", run.name, PASS).code == 0
    told = desk.resume(run)
    assert told.code == 0, told
    assert "Begin pass mini/run2 again at its first step" in told.out
    assert contents(run.path / "work" / "run2-incomplete") == before
    assert (run.path / "trace.txt").read_text().split().count("run2-out") == 2
    assert series(desk, run)["averaged"] == ["run1", "run2"]


def test_the_output_of_another_run_is_moved_aside_and_not_overwritten(desk: Desk, tmp_path: Path) -> None:
    work = tmp_path / "shared"
    assert desk.omnitui(*desk.mini(WORK=str(work))).code == 0
    before = contents(work / "run1")
    told = desk.omnitui(*desk.mini(WORK=str(work)))
    assert told.code == 0, told
    assert f"moved aside: {work / 'run1-earlier'}" in told.out
    assert contents(work / "run1-earlier") == before
    assert (work / "run1" / "metrics.json").exists()


def test_redo_after_the_runner_died_ends_the_client_first(desk: Desk) -> None:
    run = desk.waiting("client")
    desk.kill_runner(run)
    client = desk.group_of(run, f"{PASS}/client")
    assert desk.omnitui("redo", run.name, PASS).code == 0
    assert not alive(client)
    assert not desk.marked()
    desk.release("client")
    assert desk.resume(run).code == 0


def test_a_live_run_is_not_decided_over(desk: Desk) -> None:
    run = desk.waiting("client")
    for verb in (["skip", run.name, f"{PASS}/client", "--reason", "x"], ["redo", run.name, PASS]):
        told = desk.omnitui(*verb)
        assert told.code == 3, told
        assert "held by a runner" in told.err
    desk.release("client")
    until(lambda: store.holder(run) is None, about="the run is over")


def test_ctrl_c_leaves_the_run_alone_and_says_so(desk: Desk) -> None:
    desk.pause("client")
    watching = desk.begin(*desk.mini())
    desk.reached("client")
    watching.send_signal(signal.SIGINT)
    told = desk.end(watching)
    assert told.code == 0
    assert "Detached; the run goes on" in told.out
    run = desk.only_run()
    assert store.holder(run)
    desk.release("client")
    until(lambda: store.holder(run) is None, about="the run is over")
    assert desk.status(run)["outcome"] == "complete"


@pytest.mark.parametrize("then", ["true", "false"])
def test_what_a_step_left_in_a_session_of_its_own_is_stopped_in_the_end(
    desk: Desk, tmp_path: Path, then: str
) -> None:
    book = make_book(
        tmp_path / "daemon",
        """
schema = 1
title = "Leaves something"
summary = "A step that starts a daemon."

[[phases]]
id = "all"
title = "All"

[[phases.steps]]
id = "daemon"
title = "Start a daemon"
run = '''
setsid sleep 300 < /dev/null > /dev/null 2>&1 &
until [ "$(ps -o sid= -p $! | tr -d ' ')" = $! ]; do sleep 0.01; done
echo $! > "$RUN_DIR/daemon"
THEN
'''
""".replace("THEN", then),
    )
    told = desk.end(desk.begin("run", book, "--headless"))
    run = desk.only_run()
    if then == "false":
        # A failed run keeps what it started, for the operator to look at.
        assert told.code == 1
        told = desk.omnitui("stop", run.name)
    assert told.code == 0, told
    assert "stopped 1 processes that steps had left behind" in told.out
    # A run without passes has no table.
    assert f"Leaves something · {run.name}" not in told.out
    assert not alive(int((run.path / "daemon").read_text()))
