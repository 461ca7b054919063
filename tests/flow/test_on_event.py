"""The operator's own command: told once of each notice, and never able to disturb the run."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from omnitui import store, supervise
from tests.books import make_book
from tests.flow.desk import PASS, Desk
from tests.waiting import until

RUNBOOK = """
schema = 1
title = "Red"
summary = "A step that is red."
[variables.TOKEN]
secret = true
help = "Nobody may know it."
[[phases]]
id = "only"
title = "Only"
[[phases.steps]]
id = "red"
title = "Red"
run = 'echo "no: $TOKEN"; exit 3'
gates = [{ gate = "output", word = "GREEN" }]
"""
ASKS = """
schema = 1
title = "Asks"
summary = "A step that asks."
[[phases]]
id = "only"
title = "Only"
[[phases.steps]]
id = "agree"
title = "Agree"
do = "confirm"
ask = "Well?"
"""
GOES_ON = r"""
schema = 1
title = "Goes on"
summary = "A step that may be red, and one after it that waits to be let go."
[[phases]]
id = "only"
title = "Only"
[[phases.steps]]
id = "red"
title = "Red"
run = 'echo "code 3"'
go_on = ["code"]
gates = [{ gate = "output", name = "code", pattern = '^code (\d)$', equals = ["0"] }]
[[phases.steps]]
id = "then"
title = "Then"
run = 'until [ -e "$RUN_DIR/go" ]; do sleep 0.02; done'
"""
OK = """
schema = 1
title = "Fine"
summary = "A step that is green."
[[phases]]
id = "only"
title = "Only"
[[phases.steps]]
id = "fine"
title = "Fine"
run = 'echo FINE'
gates = [{ gate = "output", word = "FINE" }]
"""


def told(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture
def heard(tmp_path: Path, config_file: Path) -> Path:
    """Where a command writes what it is told."""
    config_file.write_text(
        # One write each: two of them may come at the same time.
        f"""on_event = 'told=$(cat); printf "%s\\n" "$told" >> "{tmp_path}/heard"; env > "{tmp_path}/env"'\n"""
    )
    return tmp_path / "heard"


def test_a_red_gate_and_the_end_are_told_once_each(desk: Desk, tmp_path: Path, heard: Path) -> None:
    ended = desk.omnitui("run", make_book(tmp_path / "book", RUNBOOK), "--headless", "--set=TOKEN=hunter2hunter2")
    assert ended.code == 1
    run = desk.only_run()
    until(lambda: len(told(heard)) == 2, about="both notices")
    red, end = sorted(told(heard), key=lambda one: one["event"] == "ended")
    assert (red["event"], red["step"], red["run"], red["runbook"]) == ("red", "_/_/red", run.name, "book")
    assert red["reason"].startswith("GREEN: ")
    assert (end["event"], end["step"], end["reason"]) == ("ended", "", "failed")
    assert "hunter2" not in heard.read_text()
    assert "hunter2" not in (tmp_path / "env").read_text()
    # On a loaded machine the runner may not stay until both commands are over.
    assert all("still at work" in event["reason"] for event in desk.events(run, "on_event_failed"))


def test_a_server_that_dies_under_its_client_is_told_once(desk: Desk, heard: Path) -> None:
    run = desk.waiting("client")
    os.kill(int((desk.control / "server.pid").read_text()), signal.SIGKILL)
    until(lambda: store.holder(run) is None, about="the run has failed")
    until(lambda: len(told(heard)) > 1, about="both notices")
    assert sorted((one["event"], one["step"]) for one in told(heard)) == [("ended", ""), ("red", f"{PASS}/serve")]
    desk.omnitui("stop", run.name)


def test_a_step_that_asks_is_told(desk: Desk, tmp_path: Path, heard: Path) -> None:
    assert desk.omnitui("run", make_book(tmp_path / "book", ASKS), "--headless").code == 3
    until(lambda: bool(told(heard)), about="the notice")
    assert [(one["event"], one["reason"]) for one in told(heard)] == [("asks", "Well?")]


def test_the_message_is_in_the_environment(desk: Desk, tmp_path: Path, heard: Path) -> None:
    assert desk.omnitui("run", make_book(tmp_path / "book", OK), "--headless").code == 0
    until(lambda: (tmp_path / "env").exists() and "OMNITUI_REASON" in (tmp_path / "env").read_text())
    lines = (tmp_path / "env").read_text().splitlines()
    assert {"OMNITUI_EVENT=ended", "OMNITUI_REASON=complete", "OMNITUI_STEP="} <= set(lines)
    assert not any(line.startswith("OMNITUI_JOB=") for line in lines)


@pytest.mark.parametrize(
    ("command", "limit_s", "reason"),
    [
        ("echo cannot reach the mail host >&2; exit 7", 600, "exit status 7; cannot reach the mail host"),
        ("no-such-command-here", 600, "exit status 127"),
        ("kill -9 $$", 600, "ended by signal 9"),
        ("sleep 100", 0.3, "took longer than 0.3 s and was ended"),
        ("sleep 100 & sleep 100", 0.3, "took longer than 0.3 s and was ended"),
    ],
)
def test_a_command_that_fails_or_hangs_is_journalled_and_harmless(
    desk: Desk, tmp_path: Path, config_file: Path, command: str, limit_s: float, reason: str
) -> None:
    config_file.write_text(f'on_event = "{command}"\non_event_timeout_s = {limit_s}\n')
    run = desk.detach("run", make_book(tmp_path / "book", GOES_ON))
    # The next step waits: at the end of a run nobody stays long for a command.
    failed = desk.saw(run, "on_event_failed")
    assert failed["reason"].startswith(reason)
    assert (failed["kind"], failed["step"]) == ("red", "_/_/red")
    (run.path / "go").touch()
    assert desk.saw(run, "runner_ended")["outcome"] == "failed"
    assert desk.status_of(run, "_/_/then") == "Passed"
    until(lambda: not desk.processes(), about="the commands are gone")


def test_a_command_that_floods_fills_no_disk() -> None:
    flood = (
        "head -c 8000000 /dev/zero | tr '\\0' x >&2; "
        "until [ $(stat -Lc %b /proc/$$/fd/2) -lt 4096 ]; do sleep 0.01; done; echo last words >&2; exit 3"
    )
    argv = [sys.executable, "-m", "omnitui.on_event", "20", flood]
    found = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert found.stdout == "exit status 3; last words\n"


def test_a_command_that_outlasts_the_runner_keeps_its_limit(desk: Desk, tmp_path: Path, config_file: Path) -> None:
    config_file.write_text('on_event = "sleep 100"\non_event_timeout_s = 3\n')
    assert desk.omnitui("run", make_book(tmp_path / "book", OK), "--headless").code == 0
    (failed,) = desk.events(desk.only_run(), "on_event_failed")
    assert "still at work" in failed["reason"]
    # The desk fails the test when anything of it is left.
    until(lambda: not desk.processes(), about="the command is gone")


def test_a_broken_config_is_told_before_the_run(desk: Desk, tmp_path: Path, config_file: Path) -> None:
    config_file.write_text("on_evnt = 'x'\n")
    told = desk.omnitui("run", make_book(tmp_path / "book", OK), "--headless")
    assert told.code == 2
    assert "did you mean on_event?" in told.err


def test_a_config_that_breaks_later_does_not_disturb_the_runner(
    desk: Desk, tmp_path: Path, config_file: Path
) -> None:
    run = supervise.make_run(make_book(tmp_path / "book", OK), {}, None)
    config_file.write_text("on_evnt = 'x'\n")
    supervise.start(run)
    assert desk.saw(run, "runner_ended")["outcome"] == "complete"
    (failed,) = desk.events(run, "on_event_failed")
    assert "did you mean on_event?" in failed["reason"]
