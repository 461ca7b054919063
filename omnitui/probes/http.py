"""One look at a server's health page. Never through a proxy, always 127.0.0.1, never longer than asked.

`http.client` keeps one connection and costs a fifth of httpx's kept client; this look is taken several times a
second while a benchmark is about to be measured.
"""

import http.client
import socket
import time

import msgspec
from msgspec import Struct

TIMEOUT_S = 3.0


class Answer(Struct, frozen=True):
    """What came back: `status` is None when nothing did, and `error` says why."""

    status: int | None = None
    latency_s: float = 0.0
    body: bytes = b""
    error: str = ""
    refused: bool = False
    """Nobody listens on the port."""
    fresh: bool = False
    """It came over a new connection: whoever answers may be somebody else than before."""


class Client:
    """A kept connection to one local port."""

    def __init__(self, port: int, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._connection = _Local("127.0.0.1", port, timeout=timeout_s)

    def get(self, path: str) -> Answer:
        """GET `path`; errors are answers."""
        kept = self._connection.sock is not None
        answer = self._ask(path)
        # A server may close a connection that was idle at any time: that says nothing about its health.
        return self._ask(path) if kept and answer.error and not answer.latency_s else answer

    def _ask(self, path: str) -> Answer:
        begun = time.monotonic()
        fresh = self._connection.sock is None
        try:
            self._connection.request("GET", path)
            response = self._connection.getresponse()
            body = response.read(1 << 20)
            if not response.isclosed():
                self._connection.close()
        except TimeoutError:
            self._connection.close()
            return Answer(latency_s=time.monotonic() - begun, error=f"no answer within {self._timeout_s:g} s")
        except ConnectionRefusedError as error:
            self._connection.close()
            return Answer(error=str(error), refused=True)
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            return Answer(error=str(error) or type(error).__name__)
        return Answer(response.status, time.monotonic() - begun, body, fresh=fresh)

    def models(self) -> tuple[tuple[str, ...] | None, str]:
        """The ids that `/v1/models` lists (the OpenAI API's list), or None and why not."""
        answer = self.get("/v1/models")
        if answer.status != 200:
            return None, answer.error or f"HTTP status {answer.status}"
        try:
            return tuple(model.id for model in msgspec.json.decode(answer.body, type=_Models).data), ""
        except msgspec.MsgspecError as error:
            return None, f"not a list of models: {error}"

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class _Local(http.client.HTTPConnection):
    """Connects without asking the resolver what 127.0.0.1 means: half of what a refused look costs."""

    def connect(self) -> None:
        self.sock = socket.socket()
        self.sock.settimeout(self.timeout)
        try:
            self.sock.connect((self.host, self.port))
        except OSError:
            self.close()
            raise
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class _Model(Struct):
    id: str


class _Models(Struct):
    data: list[_Model]
