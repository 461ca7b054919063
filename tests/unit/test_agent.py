"""The agent that looks from within a container, run here by the Python of this machine."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from omnitui.errors import JobError, PlaceError
from omnitui.pinning import Threads
from omnitui.places import Local
from omnitui.places.agent import Agent
from omnitui.places.local import threads_of
from tests.waiting import until

PYTHON = (sys.executable, "-I", "-S", "-c")


MINIMAL = (
    *PYTHON[:-1],
    "-c",
    "import sys; sys.modules.update({'json': None, 'http.client': None}); exec(sys.argv[1])",
)
"""As Debian's python3-minimal, which has neither."""


@pytest.fixture(params=[PYTHON, MINIMAL], ids=["whole Python", "python3-minimal"])
def agent(request: pytest.FixtureRequest) -> Iterator[Agent]:
    one = Agent(request.param, "container box")
    yield one
    one.close()


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    with subprocess.Popen(["sleep", "600"], start_new_session=True) as one:
        # The kernel names it a moment after it has begun.
        until(lambda: (seen := Local().process(one.pid)) is not None and seen.command == "sleep")
        yield one
        one.kill()


def test_it_sees_what_this_process_sees(agent: Agent, sleeper: "subprocess.Popen[bytes]") -> None:
    here = Local()
    assert agent.boot == here.boot()
    seen = here.process(sleeper.pid)
    assert seen
    told = [seen.pid, seen.parent, seen.group, seen.session, seen.start, seen.zombie, seen.command]
    assert agent.ask("process", sleeper.pid)[:7] == told
    assert agent.ask("process", 2**22 + 1) is None
    assert os.getpid() in [row[0] for row in agent.ask("processes", "")]


def test_it_tells_where_threads_may_run(agent: Agent, sleeper: "subprocess.Popen[bytes]") -> None:
    first = min(os.sched_getaffinity(0))
    os.sched_setaffinity(sleeper.pid, {first})
    told = threads_of(agent.ask("affinity", [sleeper.pid, 2**22 + 1]))
    assert told == [Threads(sleeper.pid, sleeper.pid, "sleep", 1, frozenset({first}))]
    assert Local().affinity([sleeper.pid]) == told


def test_a_process_of_another_time_is_not_signalled(agent: Agent, sleeper: "subprocess.Popen[bytes]") -> None:
    start = agent.ask("process", sleeper.pid)[4]
    assert agent.ask("signal", sleeper.pid, start + 1, int(signal.SIGKILL)) is False
    assert sleeper.poll() is None
    assert agent.ask("signal", sleeper.pid, start, int(signal.SIGKILL)) is True
    assert sleeper.wait() == -signal.SIGKILL


def test_what_it_must_not_do_is_told(agent: Agent) -> None:
    with pytest.raises(JobError, match="container box: PermissionError: pid 1 is never signalled"):
        agent.ask("signal", 1, 0, 0)
    with pytest.raises(JobError, match="KeyError"):
        agent.ask("nonsense")
    assert agent.ask("boot") == agent.boot


def test_a_wait_does_not_keep_others_waiting(agent: Agent, sleeper: "subprocess.Popen[bytes]") -> None:
    waiting = agent.begin("wait", sleeper.pid, agent.ask("process", sleeper.pid)[4])
    assert agent.ask("boot") == agent.boot
    assert not waiting.done()
    sleeper.kill()
    assert waiting.result(30) is None


def test_an_agent_that_dies_answers_with_an_error(agent: Agent, sleeper: "subprocess.Popen[bytes]") -> None:
    waiting = agent.begin("wait", sleeper.pid, agent.ask("process", sleeper.pid)[4])
    agent.close()
    with pytest.raises(PlaceError, match="the look into container box has ended"):
        waiting.result(30)
    with pytest.raises(PlaceError):
        agent.ask("boot")
    assert not agent.lives


def test_one_that_is_silent_is_given_up(agent: Agent) -> None:
    os.kill(agent._process.pid, signal.SIGSTOP)
    with pytest.raises(PlaceError, match=r"does not answer within 0\.05 s"):
        agent.ask("boot", patience_s=0.05)
    until(lambda: not agent.lives, about="it is given up")


@pytest.mark.parametrize("argv", [("false",), ("sh", "-c", "echo no python3 >&2; exit 127"), ("/no/such/file",)])
def test_a_container_without_python_says_so(argv: tuple[str, ...]) -> None:
    with pytest.raises(PlaceError, match="container box"):
        Agent(argv, "container box")


def test_what_else_is_printed_there_harms_nothing() -> None:
    noisy = ("sh", "-c", 'echo hello; exec "$0" "$@"', *PYTHON)
    one = Agent(noisy, "container box")
    assert one.ask("boot") == one.boot
    one.close()


def test_it_may_be_asked_from_many_threads(agent: Agent) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(agent.ask("boot"))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [agent.boot] * 20


def test_hands(agent: Agent, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert agent.ask("move_aside", str(out), "incomplete") == f"{out}-incomplete"
    assert agent.ask("move_aside", str(out), "incomplete") == ""
    out.mkdir()
    assert agent.ask("move_aside", f"{out}/", "incomplete") == f"{out}-incomplete-2"
    agent.ask("write", str(tmp_path / "file"), "é\n")
    assert (tmp_path / "file").read_text() == "é\n"


def test_ports_and_pages(agent: Agent, free_port: int) -> None:
    assert agent.ask("listeners", free_port, [], "/proc/self", "") == []
    assert agent.ask("get", "a", free_port, 1.0, "/health")["refused"] is True
    agent.ask("drop", "a")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", {"status": 200, "body": "ok"}),
        (b"HTTP/1.0 503 Busy\r\n\r\n", {"status": 503}),
        (b"nonsense", {}),
    ],
)
def test_a_health_page_is_asked_for(agent: Agent, free_port: int, answer: bytes, told: dict[str, object]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            # It may be asked again when the answer makes no sense.
            for _ in range(2):
                with suppress(OSError), server.accept()[0] as talk:
                    talk.recv(4096)
                    talk.sendall(answer)

        server.settimeout(10)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        seen = agent.ask("get", "key", server.getsockname()[1], 3.0, "/health")
        assert {name: value for name, value in seen.items() if name in ("status", "body") and value} == told
        assert ("error" in seen) is (not told)
    assert agent.ask("get", "other", free_port, 3.0, "/health")["refused"] is True
