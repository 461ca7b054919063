"""The end of an agent that is in the container: answers requests, a JSON line each, with the eyes it was given.

Standard library alone, and nothing that Python 3.8 lacks: the text of this file is run there, next to `eyes.py`.
Debian's python3-minimal has no `json`: there a request is read, and a reply written, as Python's own literals.
"""

from __future__ import annotations

import ast
import os
import threading
from typing import Any, BinaryIO, Callable, Mapping  # noqa: UP035 - the types are not only named but looked up in 3.8

_written: Callable[[Any], str]
_read: Callable[[str], Any]
try:
    import json
except ImportError:
    _written, _read = repr, ast.literal_eval
else:
    _written, _read = json.dumps, json.loads

_SLOW = ("wait", "get")


class _Answers:
    """`{"id": 1, "do": "process", "with": [7]}` is answered by `{"id": 1, "gave": [7, ...]}`, or by an error."""

    def __init__(self, eyes: Mapping[str, Any], replies: BinaryIO) -> None:
        self._eyes = eyes
        self._replies = replies
        self._writing = threading.Lock()
        self._connections: dict[str, Any] = {}
        self._own: dict[str, Callable[..., Any]] = {"get": self._get, "drop": self._drop}

    def _get(self, key: str, port: int, timeout_s: float, path: str) -> dict[str, Any]:
        kept = self._connections.get(key)
        if kept is None:
            kept = self._connections[key] = self._eyes["Connection"](port, timeout_s)
        answer: dict[str, Any] = kept.get(path)
        return {**answer, "body": answer["body"].decode("latin-1")} if "body" in answer else answer

    def _drop(self, key: str) -> None:
        kept = self._connections.pop(key, None)
        if kept:
            kept.close()

    def give(self, asked: dict[str, Any]) -> None:
        """Do what is asked, and say what came of it."""
        try:
            verb = self._own.get(asked["do"]) or self._eyes[asked["do"]]
            reply: dict[str, Any] = {"id": asked["id"], "gave": verb(*asked["with"])}
        except (OSError, LookupError, TypeError, ValueError) as error:
            reply = {"id": asked["id"], "error": f"{type(error).__name__}: {error}"}
        data = _written(reply).encode() + b"\n"
        with self._writing:
            try:
                self._replies.write(data)
                self._replies.flush()
            except OSError:
                os._exit(0)


def serve(eyes: Mapping[str, Any], requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer until nobody asks any more. What may take long is done by a thread, so replies come in any order."""
    answers = _Answers(eyes, replies)
    for line in requests:
        asked = _read(line.decode())
        if asked["do"] in _SLOW:
            threading.Thread(target=answers.give, args=(asked,), daemon=True).start()
        else:
            answers.give(asked)
