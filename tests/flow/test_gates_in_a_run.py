"""Gates with real servers, real ports and real commands behind them."""

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from omnitui import store
from tests.books import make_book
from tests.flow.desk import PASS, RUNBOOKS, Desk, Told, alive
from tests.waiting import until

WORDS = str(RUNBOOKS / "words")
MIDWAY = """
import http.server, os, sys, threading, time
from pathlib import Path
run = Path(os.environ["RUN_DIR"])
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
while not (run / "measuring").exists():
    time.sleep(0.02)
server.shutdown()
server.server_close()
(run / "closed").touch()
time.sleep(600)
"""
LISTEN = """
import socket, sys, time
held = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listening", flush=True)
time.sleep(600)
"""


def speak(desk: Desk, command: str) -> Told:
    """Run the one step of the runbook `words`; it must print DONE and may not print BROKEN."""
    return desk.omnitui("run", WORDS, f"--set=DO={command}", "--headless")


def red_reason(desk: Desk, step: str = "_/_/speak") -> str:
    """Why a step failed."""
    status = desk.state(desk.only_run()).step(step).status
    assert type(status).__name__ == "Failed", status
    return str(status.reason)  # type: ignore[union-attr]


@pytest.fixture
def stranger(desk: Desk) -> Iterator["subprocess.Popen[str]"]:
    """Somebody else's process, which listens on our port."""
    process = subprocess.Popen(
        [sys.executable, "-c", LISTEN, str(desk.port)], stdout=subprocess.PIPE, text=True, env={}
    )
    assert process.stdout
    assert process.stdout.readline() == "listening\n"
    yield process
    process.kill()
    process.communicate()


# -- words -----------------------------------------------------------------------------------------------------


def test_a_word_with_exit_status_0_is_green(desk: Desk) -> None:
    told = speak(desk, "echo DONE")
    assert told.code == 0
    assert "✔ DONE" in told.out


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("echo DONE; exit 1", "exit status 1"),
        ("echo almost", "DONE not printed"),
        ("echo not DONE yet", "DONE not printed"),
        ("echo DONE; false", "exit status 1"),
        ("echo DONE; kill -KILL $$", "exit status 137"),
    ],
)
def test_a_word_alone_or_an_exit_status_alone_is_red(desk: Desk, command: str, reason: str) -> None:
    told = speak(desk, command)
    assert told.code == 1
    assert reason in red_reason(desk)
    assert reason in told.out
    assert desk.status_of(desk.only_run(), "_/_/after") == "Waiting"


def test_a_refused_word_stops_the_step_at_once(desk: Desk) -> None:
    told = speak(desk, "echo BROKEN; sleep 600; echo DONE")
    assert told.code == 1
    assert "BROKEN" in red_reason(desk)


def test_a_word_after_a_carriage_return_or_in_colour_or_without_a_newline_counts(desk: Desk) -> None:
    assert speak(desk, r"printf '10 %%\r\033[32mDONE\033[0m'").code == 0


def test_what_a_step_hands_on_reaches_later_steps(desk: Desk) -> None:
    told = speak(desk, "echo 'LATER=see you = then' >> $OMNITUI_ENV; echo DONE")
    assert told.code == 0
    run = desk.only_run()
    assert desk.job(run, "_/_/after").log.read_text() == "after: see you = then\n"
    assert desk.state(run).handed == {"_/_": {"LATER": "see you = then"}}


@pytest.mark.parametrize("line", ["no equals sign", "2X=1", "X=${NOBODY_KNOWS_ME}"])
def test_a_bad_line_handed_on_fails_the_step_and_is_shown(desk: Desk, line: str) -> None:
    # `${NAME}` in the value of a variable would be expanded before bash sees it.
    quoted = line.replace("${", "$'{'")
    told = speak(desk, f"echo '{quoted}' >> $OMNITUI_ENV; echo DONE")
    assert told.code == 1
    assert "$OMNITUI_ENV" in red_reason(desk)
    assert line in red_reason(desk)


# -- servers ---------------------------------------------------------------------------------------------------


def test_a_server_that_dies_while_starting_is_red_for_that_with_the_end_of_its_log(desk: Desk) -> None:
    told = desk.omnitui(*desk.mini(FAULT="die", START_S="0.5"))
    assert told.code == 1
    assert "RuntimeError: CUDA out of memory" in told.out
    run = desk.only_run()
    assert "the server ended while starting (exit status 7)" in red_reason(desk, f"{PASS}/serve")
    assert not desk.state(run).servers


def test_a_port_held_by_somebody_else_is_named_and_nobody_is_killed(
    desk: Desk, stranger: "subprocess.Popen[str]"
) -> None:
    told = desk.omnitui(*desk.mini())
    assert told.code == 1
    reason = red_reason(desk, f"{PASS}/serve")
    assert f"port {desk.port}" in reason
    assert f"pid {stranger.pid}" in reason
    assert f"pid {stranger.pid}" in told.out
    assert stranger.poll() is None
    assert not (desk.control / "serve.reached").exists()


class Stranger(BaseHTTPRequestHandler):
    """Says that all is well."""

    def do_GET(self) -> None:
        """Answer 200."""
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        """Say nothing."""


def test_somebody_elses_200_is_not_ready(desk: Desk) -> None:
    # The port is taken only after our server has been started.
    run = desk.waiting("serve")
    with HTTPServer(("127.0.0.1", desk.port), Stranger) as stranger:
        answering = threading.Thread(target=stranger.serve_forever)
        answering.start()
        until(lambda: store.holder(run) is None, about="the run has failed")
        stranger.shutdown()
        answering.join()
    assert "not by our server" in red_reason(desk, f"{PASS}/serve")
    until(lambda: not desk.marked(), about="our own server is stopped")


def test_health_that_says_503_first_is_waited_for(desk: Desk) -> None:
    told = desk.omnitui(*desk.mini(UNHEALTHY_LOOKS="2"))
    assert told.code == 0, told
    verdicts = [e["verdict"] for e in desk.events(desk.only_run(), "gate", word="READY")]
    assert [verdict["is"] for verdict in verdicts] == ["unknown", "green"]


def test_a_server_with_another_model_is_red(desk: Desk) -> None:
    told = desk.omnitui(*desk.mini(SERVED="other"))
    assert told.code == 1
    assert "the server serves other, not mini" in red_reason(desk, f"{PASS}/serve")


def test_the_death_of_the_server_fails_the_client(desk: Desk) -> None:
    run = desk.waiting("client")
    client = desk.group_of(run, f"{PASS}/client")
    server = int((desk.control / "server.pid").read_text())
    subprocess.run(["kill", "-KILL", str(server)], check=True)
    until(lambda: store.holder(run) is None, about="the run has failed")
    assert "server speech died while the step ran" in red_reason(desk, f"{PASS}/client")
    assert not alive(client)
    desk.release("client")
    assert desk.resume(run).code == 0


def test_a_port_that_somebody_else_takes_midway_fails_the_step(desk: Desk, tmp_path: Path) -> None:
    book = make_book(
        tmp_path / "midway",
        f"""
schema = 1
title = "Midway"
summary = "A server that lives on without its port."
servers.web = {{ title = "Web", port = "{desk.port}", health = "/" }}

[[phases]]
id = "all"
title = "All"

[[phases.steps]]
id = "serve"
title = "Serve"
do = "serve"
server = "web"
run = 'exec "$OMNITUI_PYTHON" -S "$RUNBOOK/server.py" {desk.port}'

[[phases.steps]]
id = "measure"
title = "Measure"
run = 'touch "$RUN_DIR/measuring"; sleep 600'

[[phases.steps]]
id = "stop"
title = "Stop"
do = "stop"
server = "web"
""",
    )
    Path(book, "server.py").write_text(MIDWAY)
    run = desk.detach("run", book)
    until((run.path / "closed").exists, about="the server has closed its port")
    other = subprocess.Popen([sys.executable, "-c", LISTEN, str(desk.port)], stdout=subprocess.PIPE, text=True)
    try:
        until(lambda: store.holder(run) is None, about="the run has failed")
        assert "server web was no longer READY while the step ran" in red_reason(desk, "_/_/measure")
        (gate,) = desk.events(run, "gate", word="READY", step="_/_/serve")[-1:]
        assert "not by our server" in gate["verdict"]["reason"]
        assert other.poll() is None
    finally:
        other.kill()
        other.communicate()
    desk.omnitui("stop", run.name)


def test_a_proxy_in_the_environment_does_not_matter(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    assert desk.omnitui(*desk.mini()).code == 0


def test_a_worker_that_outlives_its_server_is_stopped_before_the_step_is_green(desk: Desk) -> None:
    told = desk.omnitui(*desk.mini(FAULT="deaf worker"))
    assert told.code == 0, told
    assert not alive(int((desk.control / "worker.pid").read_text()))
    evidence = desk.state(desk.only_run()).step(f"{PASS}/stop").status.evidence  # type: ignore[union-attr]
    # On a loaded machine the server itself may take longer than that to end.
    assert re.search(r"[12] of them killed after 0\.6 s", evidence[0])


def test_a_server_that_ignores_term_is_killed(desk: Desk) -> None:
    told = desk.omnitui(*desk.mini(FAULT="deaf"))
    assert told.code == 0, told
    assert not alive(int((desk.control / "server.pid").read_text()))
