import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import pytest
from omnitui.probes.http import Answer, Client
from tests.waiting import until

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """Answers each request of each connection as told; counts both."""

    def __init__(self, answer: Callable[[bytes], bytes], *, once: bool, port: int = 0) -> None:
        self._answer = answer
        self._once = once
        self.requests: list[bytes] = []
        self.connections = 0
        self._talks: list[threading.Thread] = []
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            talk = threading.Thread(target=self._talk, args=(connection,))
            self._talks.append(talk)
            talk.start()

    def _talk(self, connection: socket.socket) -> None:
        # A client may leave in the middle of an answer.
        with connection, suppress(OSError):
            while request := connection.recv(65_536):
                self.requests.append(request)
                answer = self._answer(request)
                if not answer:
                    connection.recv(1)
                    return
                connection.sendall(answer)
                if self._once:
                    return

    def close(self) -> None:
        # A blocked accept() is not woken by close() alone.
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for thread in (self._thread, *self._talks):
            thread.join()


@contextmanager
def serving(answer: bytes | Callable[[bytes], bytes], *, once: bool = False, port: int = 0) -> Iterator[Server]:
    with closing(Server(answer if callable(answer) else lambda _: answer, once=once, port=port)) as server:
        yield server


@contextmanager
def asking(server: Server, timeout_s: float = 5.0) -> Iterator[Client]:
    with closing(Client(server.port, timeout_s)) as client:
        yield client


def reply(status: str, body: bytes = b"") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize(
    ("status", "number"),
    [("200 OK", 200), ("503 Service Unavailable", 503), ("404 Not Found", 404), ("302 Found", 302), ("200", 200)],
)
def test_the_status_is_told(status: str, number: int) -> None:
    with serving(reply(status, b"body")) as server, asking(server) as client:
        answer = client.get("/health")
    assert (answer.status, answer.body, answer.error) == (number, b"body", "")
    assert answer.latency_s > 0
    assert server.requests[0].startswith(b"GET /health HTTP/1.1\r\n")


def test_a_connection_is_kept() -> None:
    with serving(OK) as server, asking(server) as client:
        assert [client.get("/health").status for _ in range(5)] == [200] * 5
        assert server.connections == 1


def test_a_connection_that_the_server_closed_meanwhile_is_opened_again() -> None:
    with serving(OK, once=True) as server, asking(server) as client:
        assert [client.get("/health").status for _ in range(4)] == [200] * 4
        assert server.connections == 4


def test_a_server_that_says_close_is_asked_anew() -> None:
    closes = OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with serving(closes, once=True) as server, asking(server) as client:
        assert [client.get("/").status for _ in range(3)] == [200] * 3


def test_a_server_that_is_silent_is_told_within_the_time_limit() -> None:
    with serving(b"") as server, asking(server, timeout_s=0.05) as client:
        answer = client.get("/health")
    assert answer.status is None
    assert answer.error == "no answer within 0.05 s"
    assert answer.latency_s >= 0.05


@pytest.mark.parametrize("begins", [b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "])
def test_an_answer_that_drips_is_late_as_a_whole(begins: bytes) -> None:
    dripping = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.sendall(begins)
                while not dripping.wait(0.02):
                    connection.sendall(b"x")

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        with closing(Client(server.getsockname()[1], 0.2)) as one:
            answer = one.get("/health")
        dripping.set()
        thread.join()
    assert (answer.status, answer.error) == (None, "no answer within 0.2 s")
    assert answer.latency_s >= 0.2


def test_a_kept_connection_that_falls_silent_is_asked_once() -> None:
    silent = threading.Event()
    with serving(lambda _: b"" if silent.is_set() else OK) as server, asking(server, timeout_s=0.1) as client:
        # On a loaded machine an answer may be late.
        until(lambda: client.get("/well").status == 200)
        silent.set()
        assert client.get("/health").error == "no answer within 0.1 s"
        until(lambda: any(b"/health" in request for request in server.requests))
    # Closed, so nothing more is to come.
    assert sum(b"/health" in request for request in server.requests) == 1


def test_an_answer_that_stops_halfway_is_no_answer() -> None:
    half = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
    with serving(half) as server, asking(server, timeout_s=0.05) as client:
        assert client.get("/health").status is None
    with serving(half, once=True) as server, asking(server) as client:
        assert client.models()[1].startswith("not a list of models")


@pytest.mark.parametrize(
    "garbage",
    [b"SSH-2.0-OpenSSH_9.2\r\n", b"\x15\x03\x01\x00\x02\x02\x16", b"HTTP/1.1 abc\r\n\r\n", b"\0" * 64, b"\n\n"],
)
def test_what_does_not_speak_http_is_told(garbage: bytes) -> None:
    with serving(garbage, once=True) as server, asking(server) as client:
        answer = client.get("/health")
    assert answer.status is None
    assert answer.error


def test_a_port_on_which_nobody_listens(free_port: int) -> None:
    with closing(Client(free_port)) as client:
        answer = client.get("/health")
        assert answer.status is None
        assert "refused" in answer.error
        assert client.models()[0] is None


def test_a_client_outlives_its_server(free_port: int) -> None:
    # A number that the kernel gave could be another worker's by then.
    with serving(OK, port=free_port) as server:
        client = Client(server.port)
        assert client.get("/health").status == 200
        client.close()
    with closing(client):
        assert client.get("/health").error


def test_a_huge_body_is_cut_and_the_next_look_is_clean() -> None:
    big = reply("200 OK", b"x" * 3_000_000)
    with serving(lambda request: big if b"big" in request else OK) as server, asking(server) as client:
        assert len(client.get("/big").body) == 1 << 20
        assert client.get("/health").body == b"ok"


def test_no_proxy_is_ever_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with serving(OK) as server, asking(server) as client:
        assert client.get("/health").status == 200


@pytest.mark.parametrize(
    ("answer", "ids", "error"),
    [
        (
            reply("200 OK", b'{"object": "list", "data": [{"id": "m", "object": "model"}, {"id": "n"}]}'),
            ("m", "n"),
            "",
        ),
        (reply("200 OK", b'{"data": []}'), (), ""),
        (reply("404 Not Found", b'{"data": [{"id": "m"}]}'), None, "HTTP status 404"),
        (reply("200 OK", b"{}"), None, "not a list of models: "),
        (reply("200 OK", b'{"data": {"id": "m"}}'), None, "not a list of models: "),
        (reply("200 OK", b'{"data": [{"name": "m"}]}'), None, "not a list of models: "),
        (reply("200 OK", b'{"data": [{"id": 3}]}'), None, "not a list of models: "),
        (reply("200 OK", b"<html>"), None, "not a list of models: "),
        (reply("200 OK", b'{"data": [{"id": "\xff"}]}'), None, "not a list of models: "),
        (reply("200 OK"), None, "not a list of models: "),
    ],
)
def test_models_are_listed_or_it_is_said_why_not(answer: bytes, ids: tuple[str, ...] | None, error: str) -> None:
    with serving(answer) as server, asking(server) as client:
        found, told = client.models()
    assert found == ids
    assert told.startswith(error)
    assert bool(told) == (ids is None)
    assert server.requests[0].startswith(b"GET /v1/models ")


def test_an_answer_says_nothing_by_default() -> None:
    assert Answer() == Answer(None, 0.0, b"", "")


def test_an_answer_over_a_new_connection_says_so() -> None:
    with serving(OK) as server, asking(server) as client:
        assert [client.get("/").fresh for _ in range(3)] == [True, False, False]
    # Closed after each answer: whoever answers next may be somebody else.
    with serving(OK, once=True) as server, asking(server) as client:
        assert all(client.get("/").fresh for _ in range(3))
