"""A job whose environment asks for CPUs is read back: every thread of every process of it, while it runs."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from omnitui import store
from omnitui.model import PINNED
from tests.flow.desk import Desk
from tests.waiting import until

CPUS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
pytestmark = pytest.mark.skipif(len(CPUS) < 2 or not shutil.which("taskset"), reason="needs two CPUs, and taskset")
RUN = "main/run1"
BOOK = """
schema = 1
title = "Pinned"
summary = "A server and a client that are to keep to one CPU."
servers.web = { title = "Web", port = "PORT", health = "/" }
passes = { out = "${RUN_DIR}/out/${PASS}", unscored = ["warm"] }
environments.bench = { cpus = "INSIDE" }

[variables.SERVER]
default = "none"
help = "What a thread of the server does."

[variables.CLIENT]
default = "none"
help = "What a thread of the client does."

[[schedules]]
id = "one"
title = "One"
order = ["main/run1"]

[[schedules]]
id = "warm"
title = "Warm"
order = ["main/warm"]

[[phases]]
id = "measure"
title = "Measure"
per = "pass"

[[phases.steps]]
id = "serve"
title = "Serve"
do = "serve"
server = "web"
env = "bench"
run = 'exec "$OMNITUI_PYTHON" "$RUNBOOK/work.py" "$SERVER" PORT'

[[phases.steps]]
id = "client"
title = "Client"
env = "bench"
run = '"$OMNITUI_PYTHON" "$RUNBOOK/work.py" "$CLIENT"; echo CLIENT_OK'
gates = [{ gate = "output", word = "CLIENT_OK" }]

[[phases.steps]]
id = "free"
title = "Without CPUs of its own"
run = "true"

[[phases.steps]]
id = "stop"
title = "Stop"
do = "stop"
server = "web"
"""
WORK = """
import http.server, os, sys, threading, time
from pathlib import Path
done = Path(os.environ["RUN_DIR"]) / "done"
def thread(how):
    if how == "strays later":
        while not (done.parent / "serving").exists():
            time.sleep(0.02)
        os.sched_setaffinity(0, {OUTSIDE})
    while not done.exists():
        time.sleep(0.02)
def first():
    if sys.argv[1] == "strays":
        os.sched_setaffinity(0, {OUTSIDE})
    there.set()
    thread(sys.argv[1])
there = threading.Event()
one = threading.Thread(target=first, daemon=True)
if sys.argv[1] != "none":
    one.start()
    # Nobody finds a server ready before its thread is where it is to be.
    there.wait()
if len(sys.argv) > 2:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[2])), http.server.SimpleHTTPRequestHandler).serve_forever()
elif sys.argv[1] != "none":
    one.join()
"""


@pytest.fixture
def book(desk: Desk, tmp_path: Path) -> Callable[..., tuple[str, ...]]:
    """The arguments that run the runbook with these values."""
    folder = tmp_path / "pinned"
    folder.mkdir()
    inside, outside = CPUS[:2]
    (folder / "runbook.toml").write_text(BOOK.replace("PORT", str(desk.port)).replace("INSIDE", str(inside)))
    (folder / "work.py").write_text(WORK.replace("OUTSIDE", str(outside)))

    def arguments(schedule: str = "one", **values: str) -> tuple[str, ...]:
        return ("run", str(folder), "--schedule", schedule, *(f"--set={n}={v}" for n, v in values.items()))

    return arguments


def verdicts(desk: Desk, step: str, scope: str = RUN) -> list[str]:
    """How the gate's verdict changed. On a loaded machine the first look may come before the job has begun."""
    events = desk.events(desk.only_run(), "gate", word=PINNED, step=f"{scope}/{step}")
    return [event["verdict"]["is"] for event in events if event["verdict"]["is"] != "unknown"]


def test_a_job_that_keeps_to_its_cpus_has_evidence(desk: Desk, book: Callable[..., tuple[str, ...]]) -> None:
    run = desk.detach(*book(CLIENT="stays"))
    until(lambda: verdicts(desk, "client"), about="the client was looked at")
    (run.path / "done").touch()
    until(lambda: store.holder(run) is None, about="the run has ended")
    state = desk.state(run)
    assert desk.events(run, "contaminated", kind="not pinned") == []
    told = desk.omnitui("gates", run.name).out
    assert f"{PINNED}  {RUN}/serve  last green: 1 thread of 1 process keeps to CPUs {CPUS[0]}" in told
    keeps = {
        "serve": "1 thread of 1 process keeps",
        # The shell, and as much of the client as there was when it was looked at.
        "client": r"\d threads? of \d process(es)? keeps?",
    }
    for step, threads in keeps.items():
        evidence = state.step(f"{RUN}/{step}").status.evidence  # type: ignore[union-attr]
        (seen,) = (one for one in evidence if one.startswith(PINNED))
        assert re.fullmatch(f"{threads} to CPUs {CPUS[0]}", seen.removeprefix(f"{PINNED}: "))
    assert (verdicts(desk, "serve"), verdicts(desk, "client")) == (["green"], ["green"])
    # Who asks for no CPUs is not looked at.
    assert verdicts(desk, "free") == []


def test_a_job_that_is_over_before_the_look_is_told_of_as_nothing(
    desk: Desk, book: Callable[..., tuple[str, ...]]
) -> None:
    told = desk.omnitui(*book(), "--headless")
    assert told.code == 0, told
    # On a loaded machine it may be there long enough to be looked at.
    gates = desk.events(desk.only_run(), "gate", word=PINNED, step=f"{RUN}/client")
    assert {event["verdict"]["is"] for event in gates} <= {"green"}
    assert desk.events(desk.only_run(), "contaminated", kind="not pinned") == []


def test_a_thread_of_a_client_that_strays_marks_the_scored_pass_at_once(
    desk: Desk, book: Callable[..., tuple[str, ...]]
) -> None:
    run = desk.detach(*book(CLIENT="strays"))
    event = desk.saw(run, "contaminated", kind="not pinned")
    assert store.holder(run)
    reason = event["reason"]
    assert f" may run on CPUs {CPUS[1]}, not only on {CPUS[0]} during client" in reason
    assert "not pinned: pid " in reason
    assert ", thread " in reason
    (run.path / "done").touch()
    until(lambda: store.holder(run) is None, about="the run has ended")
    state = desk.state(run)
    assert reason in state.passes[RUN].marks
    status = state.step(f"{RUN}/client").status
    assert not any(one.startswith(PINNED) for one in status.evidence)  # type: ignore[union-attr]
    assert verdicts(desk, "client")[-1] == "red"


def test_a_pass_that_is_not_scored_shows_it_and_is_not_marked(
    desk: Desk, book: Callable[..., tuple[str, ...]]
) -> None:
    run = desk.detach(*book(schedule="warm", CLIENT="strays"))
    until(lambda: "red" in verdicts(desk, "client", "main/warm"), about="it is seen outside")
    (run.path / "done").touch()
    until(lambda: store.holder(run) is None, about="the run has ended")
    assert desk.status_of(run, "main/warm/client") == "Passed"
    assert desk.events(run, "contaminated", kind="not pinned") == []


def test_a_server_with_a_thread_that_strays_is_red_with_a_way_out(
    desk: Desk, book: Callable[..., tuple[str, ...]]
) -> None:
    told = desk.omnitui(*book(SERVER="strays"), "--headless")
    assert told.code == 1
    run = desk.only_run()
    reason = desk.state(run).step(f"{RUN}/serve").status.reason  # type: ignore[union-attr]
    assert f" may run on CPUs {CPUS[1]}, not only on {CPUS[0]}; keep it there, or give its environment" in reason
    assert verdicts(desk, "serve") == ["red"]
    assert not desk.state(run).servers
    assert not desk.marked()


def test_a_server_that_strays_while_it_serves_marks_the_pass_that_it_serves(
    desk: Desk, book: Callable[..., tuple[str, ...]]
) -> None:
    run = desk.detach(*book(SERVER="strays later", CLIENT="stays"))
    desk.saw(run, "step_started", step=f"{RUN}/client")
    (run.path / "serving").touch()
    reason = desk.saw(run, "contaminated", kind="not pinned")["reason"]
    assert reason.endswith(f" may run on CPUs {CPUS[1]}, not only on {CPUS[0]} during serve")
    assert verdicts(desk, "serve") == ["green", "red"]
    (run.path / "done").touch()
    until(lambda: store.holder(run) is None, about="the run has ended")
    assert reason in desk.state(run).passes[RUN].marks
    assert desk.status_of(run, f"{RUN}/stop") == "Passed"
