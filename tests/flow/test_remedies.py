"""What the page says to do when a gate is red: listed, taken, journalled, and never in a runner's way."""

import os
import signal
import tomllib
from pathlib import Path

from omnitui import store
from omnitui.logs import LEAKS
from omnitui.store import RunFolder
from tests.books import make_book
from tests.flow.desk import RUNBOOKS, Desk
from tests.waiting import until

DUO = str(RUNBOOKS / "duo")
RED = "_/_/mended"
SECRET = "hunter2"
HOSTILE = """
schema = 1
title = "Slow"
summary = "A remedy that takes its time, and one that tells a secret."
[variables.TOKEN]
secret = true
help = "What the remedy signs in with."
[environments.market]
cwd = "/usr"
exports = { FRUIT = "plum" }
[[phases]]
id = "only"
title = "Only"
[[phases.steps]]
id = "red"
title = "Red"
env = "market"
run = "false"
remedies = [
    { say = "Wait.", run = 'touch "$RUN_DIR/waits"; exec sleep 600' },
    { say = "Here.", run = 'echo "here: $FRUIT in $PWD"' },
    { say = "On the host.", run = 'echo "host: ${FRUIT:-none} in $PWD"', place = "host" },
    { say = "Sign in.", run = 'echo "with $TOKEN"; printf "no newline %s" "$TOKEN"' },
]
"""


def red_run(desk: Desk) -> RunFolder:
    told = desk.omnitui("run", DUO, "--headless", "--yes", "--schedule=one", "--set=MODELS=fun", "--set=BREAK=yes")
    assert told.code == 1, told
    assert desk.status_of(desk.only_run(), RED) == "Failed"
    return desk.only_run()


def slow_run(desk: Desk, tmp_path: Path) -> RunFolder:
    folder = make_book(tmp_path / "slow", HOSTILE)
    assert desk.omnitui("run", folder, "--headless", f"--set=TOKEN={SECRET}").code == 1
    return desk.only_run()


def test_remedies_are_listed_and_one_is_taken_and_journalled(desk: Desk) -> None:
    run = red_run(desk)
    listed = desk.omnitui("remedy", run.name, RED)
    assert listed.code == 0
    assert listed.out.splitlines() == [
        "1. Or call the caretaker, whose number is on the door.",
        "2. Mend it.",
        '     echo "mending for $COMMIT_A in $PWD"',
        '     touch "$RUN_DIR/mended"',
        "3. Hit it. It may hit back.",
        "     echo ouch; exit 3",
    ]
    assert not desk.events(run, "remedy_begun")

    told = desk.omnitui("remedy", run.name, RED, "2")

    assert told.code == 0, told
    assert f"mending for 5ed8a8d in {Path.cwd()}" in told.out
    (event,) = desk.events(run, "remedy_taken")
    assert (event["step"], event["remedy"], event["exit"]) == (RED, "Mend it.", 0)
    assert (run.path / "jobs" / RED / "remedy-1" / "log").read_text().startswith("mending for 5ed8a8d")
    # It is no attempt of the step, and the run goes on by itself only when it is asked to.
    assert len(store.read(run).step(RED).attempts) == 1
    assert desk.status_of(run, RED) == "Failed"
    assert desk.resume(run).code == 0
    assert desk.status_of(run, RED) == "Passed"
    assert "Mend it. (exit status 0)" in desk.omnitui("attach", run.name, "--headless").out


def test_a_remedy_that_fails_says_so(desk: Desk) -> None:
    run = red_run(desk)
    told = desk.omnitui("remedy", run.name, RED, "3")
    assert (told.code, told.out.splitlines()[0]) == (1, "ouch")
    assert "exit status 3" in told.out
    assert desk.omnitui("remedy", run.name, RED, "3").code == 1
    assert [event["exit"] for event in desk.events(run, "remedy_taken")] == [3, 3]
    assert [event["job"] for event in desk.events(run, "remedy_begun")] == [
        f"jobs/{RED}/remedy-1",
        f"jobs/{RED}/remedy-2",
    ]


def test_what_cannot_be_taken_is_refused_with_the_reason(desk: Desk) -> None:
    run = red_run(desk)
    for step, number, reason in (
        (RED, "1", "remedy 1 has no command: Or call the caretaker"),
        (RED, "4", f"{RED} has 3 remedies"),
        (RED, "0", f"{RED} has 3 remedies"),
        ("a/1/out", "1", "a/1/out is not red"),
        ("out", "1", "a/1/out is not red"),
        ("a/1/nothing", "1", "the run has no step a/1/nothing"),
    ):
        told = desk.omnitui("remedy", run.name, step, number)
        assert told.code == 2, told
        assert reason in told.err
    assert not desk.events(run, "remedy_begun")
    assert "has no remedies" in desk.omnitui("remedy", run.name, "a/1/out").out


def test_a_remedy_holds_the_run_and_a_stop_ends_it(desk: Desk, tmp_path: Path) -> None:
    run = slow_run(desk, tmp_path)
    remedy = desk.begin("remedy", run.name, "_/_/red", "1", env={"TOKEN": SECRET})
    until((run.path / "waits").exists, about="the remedy")
    busy = desk.omnitui("skip", run.name, "_/_/red", "--reason=waited enough")
    assert busy.code == 3 and f"run {run.name} is held by a operator" in busy.err
    assert desk.omnitui("stop", run.name).code == 0
    assert desk.end(remedy).code == 1
    (event,) = desk.events(run, "remedy_taken")
    assert event["exit"] == 128 + signal.SIGTERM
    assert not desk.marked()


def test_nothing_begins_beside_a_remedy_whose_shell_was_killed(desk: Desk, tmp_path: Path) -> None:
    run = slow_run(desk, tmp_path)
    remedy = desk.begin("remedy", run.name, "_/_/red", "1", env={"TOKEN": SECRET})
    until((run.path / "waits").exists, about="the remedy")
    os.kill(remedy.pid, signal.SIGKILL)
    desk.end(remedy)
    for verb in (("resume", run.name, "--headless"), ("remedy", run.name, "_/_/red", "2")):
        told = desk.process(*verb, env={"TOKEN": SECRET})
        assert told.code == 3, told
        assert f"end it with: omnitui stop {run.name}" in told.err
    assert desk.omnitui("stop", run.name).code == 0
    assert not desk.marked()
    assert desk.process("remedy", run.name, "_/_/red", "2", env={"TOKEN": SECRET}).code == 0


def test_ctrl_c_ends_a_remedy_and_a_lost_terminal_does_not(desk: Desk, tmp_path: Path) -> None:
    run = slow_run(desk, tmp_path)
    remedy = desk.begin("remedy", run.name, "_/_/red", "1", env={"TOKEN": SECRET})
    until((run.path / "waits").exists, about="the remedy")
    os.kill(remedy.pid, signal.SIGHUP)
    assert store.holder(run) is not None
    os.kill(remedy.pid, signal.SIGINT)
    assert desk.end(remedy).code == 1
    assert len(desk.events(run, "remedy_taken")) == 1
    assert not desk.marked()


def test_a_secret_reaches_a_remedy_and_nothing_else(desk: Desk, tmp_path: Path) -> None:
    run = slow_run(desk, tmp_path)
    told = desk.process("remedy", run.name, "_/_/red", "4", env={"TOKEN": SECRET})
    assert told.out.splitlines()[:2] == ["with ********", "no newline ********"]
    folder = run.path / "jobs" / "_/_/red" / "remedy-1"
    assert SECRET in (folder / "log").read_text()
    held = [file for file in run.path.rglob("*") if file.is_file() and SECRET.encode() in file.read_bytes()]
    assert held == [folder / "log"]
    assert (folder / LEAKS).exists()
    missing = desk.omnitui("remedy", run.name, "_/_/red", "4")
    assert missing.code == 3
    assert "TOKEN is not in the environment" in missing.err


def test_a_remedy_runs_in_the_steps_environment_or_on_the_host_with_nothing_added(
    desk: Desk, tmp_path: Path
) -> None:
    run = slow_run(desk, tmp_path)
    here = desk.process("remedy", run.name, "_/_/red", "2", env={"TOKEN": SECRET})
    host = desk.process("remedy", run.name, "_/_/red", "3", env={"TOKEN": SECRET})
    assert here.out.splitlines()[0] == "here: plum in /usr"
    assert host.out.splitlines()[0] == f"host: none in {Path.cwd()}"


MEASURED = """
schema = 1
title = "Jams"
summary = "A pass whose first step needs a remedy."
[passes]
out = "${RUN_DIR}/out/${PASS}"
[[schedules]]
id = "one"
title = "One"
order = ["a/1"]
[[phases]]
id = "measure"
title = "Measure"
per = "pass"
[[phases.steps]]
id = "client"
title = "Client"
run = 'test -e "$RUN_DIR/mended"; mkdir -p "$OUT"; echo "{\\"n\\": 1, \\"wer\\": 0.5}" > "$OUT/r.json"; echo OK'
gates = [{ gate = "output", word = "OK", remedies = [{ say = "Mend it.", run = 'touch "$RUN_DIR/mended"' }] }]
[[phases.steps]]
id = "collect"
title = "Collect"
do = "collect"
[[workloads]]
id = "w"
title = "W"
file = "r.json"
count = "n"
expect = "1"
[[metrics]]
id = "wer"
file = "r.json"
path = "wer"
"""


def test_a_remedy_is_told_with_the_pass_that_stands_on_it(desk: Desk, tmp_path: Path) -> None:
    folder = make_book(tmp_path / "jams", MEASURED)
    assert desk.omnitui("run", folder, "--headless").code == 1
    run = desk.only_run()
    assert desk.omnitui("remedy", run.name, "a/1/client", "1").code == 0
    assert desk.resume(run).code == 0
    known = tomllib.loads((run.pass_folder("a/1") / "provenance.toml").read_text())
    told = {"step": "a/1/client", "remedy": "Mend it.", "command": 'touch "$RUN_DIR/mended"', "exit": 0}
    assert known["remedies"] == [told]
