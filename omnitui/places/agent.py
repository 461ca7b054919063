"""One long-lived process in a container that looks and acts there for us: nothing is spawned for a look.

It ends by itself when its stdin closes, so it never outlives who started it.
"""

import ast
import json
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from importlib.resources import files
from typing import Any
from weakref import WeakSet

from omnitui.errors import JobError, PlaceError
from omnitui.places.base import Answer

_OPEN: "WeakSet[Agent]" = WeakSet()
PATIENCE_S = 3.0
"""How long an answer may take."""
_START_S = 15.0

_EYES, _ANSWERS = (files("omnitui.places").joinpath(name).read_bytes() for name in ("eyes.py", "answers.py"))
PROGRAM = f"""import sys
def load(size, name):
    known = {{"__name__": name}}
    exec(compile(sys.stdin.buffer.read(size), name, "exec"), known)
    return known
eyes = load({len(_EYES)}, "eyes")
load({len(_ANSWERS)}, "answers")["serve"](eyes, sys.stdin.buffer, sys.stdout.buffer)
"""
"""Reads the two files from stdin, then the requests."""


def _request(number: int, verb: str, values: Sequence[object]) -> bytes:
    """JSON that is a Python literal as well: numbers, lists, and strings whose characters stand for themselves."""
    return json.dumps({"id": number, "do": verb, "with": values}, ensure_ascii=False).encode()


def _reply(line: bytes) -> dict[str, Any]:
    try:
        return dict(json.loads(line))
    except ValueError:
        # From a Python without `json`.
        return dict(ast.literal_eval(line.decode()))


class Agent:
    """The process, and who waits for which answer. May be asked from any thread."""

    def __init__(self, argv: Sequence[str], where: str) -> None:
        self._where = where
        self._lock = threading.Lock()
        self._waiting: dict[int, Future[Any]] = {}
        self._number = 0
        self._said = b""
        self._ended = False
        try:
            self._process = subprocess.Popen(
                [*argv, PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise PlaceError(f"{where} cannot be looked at: {error}") from error
        _OPEN.add(self)
        self._hearing = self._begin(self._hear)
        self._begin(self._read)
        # One that ended at once is told below, with what it said.
        with suppress(OSError, ValueError):
            self._send(_EYES + _ANSWERS)
        self.boot = str(self.ask("boot", patience_s=_START_S))

    def _begin(self, work: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=work, name="agent", daemon=True)
        thread.start()
        return thread

    @property
    def lives(self) -> bool:
        """Whether it can be asked."""
        return not self._ended

    def ask(self, verb: str, *values: object, patience_s: float = PATIENCE_S) -> Any:
        """What it gave. Raises `PlaceError` when it does not answer in time, `JobError` when it refuses."""
        future = self.begin(verb, *values)
        try:
            return future.result(patience_s)
        except TimeoutError:
            # Whatever it is busy with, the next look gets a fresh one.
            self.close()
            raise PlaceError(f"{self._where} does not answer within {patience_s:g} s") from None

    def begin(self, verb: str, *values: object) -> "Future[Any]":
        """Ask, and be told later."""
        future: Future[Any] = Future()
        with self._lock:
            self._number += 1
            number = self._number
            self._waiting[number] = future
            try:
                self._send(_request(number, verb, values) + b"\n")
            except (OSError, ValueError):
                self._ended = True
        if self._ended:
            self._let_go()
        return future

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                reply = _reply(line)
                future = self._waiting.pop(reply["id"], None)
            except (ValueError, LookupError, TypeError, SyntaxError):
                # No line of ours: something else there writes to our pipe.
                continue
            if future is None:
                continue
            # Who asked may not wait any more.
            with suppress(InvalidStateError):
                if "error" in reply:
                    future.set_exception(JobError(f"{self._where}: {reply['error']}"))
                else:
                    future.set_result(reply["gave"])
        self._ended = True
        self._hearing.join(1.0)
        self._let_go()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        self._process.wait()

    def _hear(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as pipe:
            for line in pipe:
                self._said = (self._said + line)[-2000:]

    def _let_go(self) -> None:
        said = " ".join(self._said.decode(errors="replace").split())
        why = PlaceError(f"the look into {self._where} has ended" + (f": {said[-300:]}" if said else ""))
        with self._lock:
            left = list(self._waiting.values())
            self._waiting.clear()
        for future in left:
            with suppress(InvalidStateError):
                future.set_exception(why)

    def close(self) -> None:
        """End it; a later look starts another one."""
        self._ended = True
        with suppress(OSError):
            self._process.kill()
        with suppress(OSError, ValueError):
            self._process.stdin.close()  # type: ignore[union-attr]
        self._let_go()


class AgentConnection:
    """A connection that the agent keeps for us; a new agent makes a new one."""

    def __init__(self, up: Callable[[], Agent], port: int, timeout_s: float) -> None:
        self._up = up
        self._port = port
        self._timeout_s = timeout_s

    def get(self, path: str) -> Answer:
        """GET `path`; errors are answers."""
        try:
            patience_s = self._timeout_s + PATIENCE_S
            told = self._up().ask("get", str(id(self)), self._port, self._timeout_s, path, patience_s=patience_s)
        except JobError as error:
            return Answer(error=str(error))
        return Answer(**{**told, "body": told.get("body", "").encode("latin-1")})

    def close(self) -> None:
        """Close it; an agent that is gone has closed it already."""
        with suppress(JobError):
            self._up().begin("drop", str(id(self)))


def close_agents() -> None:
    """End every agent of this process."""
    for agent in list(_OPEN):
        agent.close()
