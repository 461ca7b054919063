"""The HTTP side of both speech servers: OpenAI-style errors, health, model list, access log, clean ending."""

from __future__ import annotations

import json
import os
import signal
import socketserver
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NoReturn

HOST = "127.0.0.1"
LARGEST_BODY_BYTES = 25 * 1024 * 1024


class ApiError(Exception):
    """A refusal that the caller gets to read, in OpenAI's error shape."""

    def __init__(self, status: HTTPStatus, message: str, code: str | None = None, param: str | None = None):
        super().__init__(message)
        self.status = status
        kind = "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
        self.body = {"error": {"message": message, "type": kind, "param": param, "code": code}}


@dataclass(frozen=True)
class Request:
    """A POST body with its content type."""

    content_type: str
    body: bytes


@dataclass(frozen=True)
class Reply:
    """A successful answer."""

    content_type: str
    body: bytes


@dataclass(frozen=True)
class Service:
    """What a server serves: one model, one POST route, and how its engine is loaded, judged and ended.

    `load` runs in a thread of its own after the port is open and raises when the engine cannot be had;
    `problem` is asked on every health check and names what broke since, or is None.
    """

    model: str
    route: str
    load: Callable[[], None]
    answer: Callable[[Request], Reply]
    problem: Callable[[], str | None]
    close: Callable[[], None]


def json_reply(value: Mapping[str, Any]) -> Reply:
    """Encode an answer as JSON."""
    return Reply("application/json", json.dumps(value, ensure_ascii=False, allow_nan=False).encode())


def check_model(requested: object, served: str) -> None:
    """Refuse a request for a model that is not served (404, as OpenAI does)."""
    if not isinstance(requested, str) or not requested:
        raise ApiError(HTTPStatus.BAD_REQUEST, "name the model to use", param="model")
    if requested != served:
        message = f"the model {requested!r} does not exist here; this server has {served!r}"
        raise ApiError(HTTPStatus.NOT_FOUND, message, code="model_not_found", param="model")


class SpeechServer(ThreadingHTTPServer):
    """A threading server on 127.0.0.1 for one `Service`."""

    request_queue_size = 128

    def __init__(self, port: int, service: Service) -> None:
        """Open the port (0 picks a free one); raises OSError when it cannot be had."""
        super().__init__((HOST, port), SpeechHandler)
        self.service = service
        self.loaded = threading.Event()
        self.started_unix_s = int(time.time())

    def server_bind(self) -> None:
        """Bind without the base class's reverse name look-up, which can hang on a machine without a resolver."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log a caller that went away in one line, and anything else with its traceback."""
        error = sys.exc_info()[1]
        if isinstance(error, ConnectionError):
            say(f"{client_address[0]} went away: {error}")
        else:
            super().handle_error(request, client_address)

    def health_problem(self) -> str | None:
        """Say why the server cannot answer requests now, or None."""
        return self.service.problem() if self.loaded.is_set() else "the engine is still loading"


class SpeechHandler(BaseHTTPRequestHandler):
    """Routes one connection's requests and writes the access log."""

    protocol_version = "HTTP/1.1"
    # Headers and body in one segment: two small writes wait for the peer's delayed acknowledgement.
    wbufsize = 64 * 1024
    disable_nagle_algorithm = True
    server: SpeechServer

    def do_GET(self) -> None:
        """Answer /health and /v1/models."""
        self._respond(self._get)

    def do_POST(self) -> None:
        """Answer the service's own route."""
        self._respond(self._post)

    def _get(self) -> Reply:
        model = self.server.service.model
        if self.path == "/health":
            self._require_healthy()
            return json_reply({"status": "ok", "model": model})
        if self.path == "/v1/models":
            created = self.server.started_unix_s
            entry = {"id": model, "object": "model", "created": created, "owned_by": "quickstart"}
            return json_reply({"object": "list", "data": [entry]})
        raise ApiError(HTTPStatus.NOT_FOUND, f"there is no GET {self.path} here")

    def _post(self) -> Reply:
        body = self._read_body()
        if self.path != self.server.service.route:
            raise ApiError(HTTPStatus.NOT_FOUND, f"there is no POST {self.path} here")
        self._require_healthy()
        return self.server.service.answer(Request(self.headers.get("Content-Type", ""), body))

    def _require_healthy(self) -> None:
        problem = self.server.health_problem()
        if problem is not None:
            raise ApiError(HTTPStatus.SERVICE_UNAVAILABLE, problem)

    def _read_body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        # An unread body would be taken for the next request of this connection.
        if not (length.isascii() and length.isdigit()):
            self.close_connection = True
            raise ApiError(HTTPStatus.LENGTH_REQUIRED, "send a Content-Length")
        if int(length) > LARGEST_BODY_BYTES:
            self.close_connection = True
            raise ApiError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is larger than {LARGEST_BODY_BYTES} bytes"
            )
        return self.rfile.read(int(length))

    def _respond(self, answer: Callable[[], Reply]) -> None:
        started_s = time.monotonic()
        try:
            status, reply = HTTPStatus.OK, answer()
        except ApiError as error:
            status, reply = error.status, json_reply(error.body)
        except Exception:  # noqa: BLE001  (a bug must not look like a dropped connection; the log has it whole)
            traceback.print_exc()
            unexpected = ApiError(HTTPStatus.INTERNAL_SERVER_ERROR, "unexpected error; see the server's log")
            status, reply = unexpected.status, json_reply(unexpected.body)
        self.send_response(status)
        self.send_header("Content-Type", reply.content_type)
        self.send_header("Content-Length", str(len(reply.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(reply.body)
        # Health is asked several times a second and would bury the requests.
        if self.path != "/health":
            elapsed_ms = (time.monotonic() - started_s) * 1000
            say(f'{self.address_string()} "{self.command} {self.path}" {status.value} {elapsed_ms:.1f} ms')

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Leave the access log to `_respond`, which knows how long an answer took."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the base class names it so)
        """Write the base class's complaints about malformed requests to the log."""
        say(f"{self.address_string()} {format % args}")


def say(line: str) -> None:
    """Print one log line at once; one write, so that lines of two threads do not mix."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stdout.flush()


def serve(port: int, service: Service) -> NoReturn:
    """Serve until SIGTERM or SIGINT, which end the process with status 0.

    Status 1: the port cannot be had or the engine cannot be loaded; one line says why.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        server = SpeechServer(port, service)
    except OSError as error:
        reason = error.strerror or error
        sys.exit(f"error: cannot listen on {HOST}:{port}: {reason}; stop what holds it or pass another --port")
    say(f"{service.model} listens on http://{HOST}:{server.server_port}")
    threading.Thread(target=_load, args=(server,), daemon=True).start()
    try:
        server.serve_forever()
    except SystemExit:
        say("asked to stop")
    _leave(service, 0)


def _load(server: SpeechServer) -> None:
    started_s = time.monotonic()
    try:
        server.service.load()
    except Exception as error:  # noqa: BLE001  (whatever it is, a server without an engine must end and say why)
        say(f"error: {server.service.model} cannot be loaded: {error}")
        _leave(server.service, 1)
    say(f"{server.service.model} loaded in {time.monotonic() - started_s:.2f} s")
    server.loaded.set()


def _leave(service: Service, status: int) -> NoReturn:
    """End the process without waiting for threads that are inside native code and cannot be unwound."""
    service.close()
    sys.stdout.flush()
    os._exit(status)
