"""A scan in a process of its own: an expression that backtracks for ever stops no keys, and can be killed."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import IO

from omnitui.errors import OmniError
from omnitui.logs.files import Identity
from omnitui.logs.lines import LogFile
from omnitui.logs.patterns import Pattern
from omnitui.logs.scan import Scanned, scan


@dataclass(frozen=True, slots=True)
class Request:
    """What to look for, and from where; `patterns` must all match."""

    path: str
    identity: Identity
    patterns: tuple[str, ...]
    start: int
    forward: bool
    most: int = 1


@dataclass(frozen=True, slots=True)
class Refused:
    """The scan could not be done."""

    why: str


Told = Callable[[Request, Scanned | Refused], object]


class Scanning:
    """Asks one child after the other. `told` is called from a thread of its own."""

    def __init__(self, told: Told) -> None:
        self._told = told
        self._child: subprocess.Popen[bytes] | None = None
        self.request: Request | None = None
        """What is being looked for now."""

    def ask(self, request: Request) -> None:
        """Begin another scan; one that is at work is ended first. Raises OSError when no process can be made."""
        if self.request is not None:
            self.cancel()
        if self._child is None or self._child.poll() is not None:
            self._child = self._begun()
        self.request = request
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(json.dumps(asdict(request)).encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError as error:
            self.cancel()
            raise OSError("the search process has ended") from error

    def answered(self, request: Request) -> bool:
        """Take an answer that ends a request; False when it is of an earlier one."""
        if request is not self.request:
            return False
        self.request = None
        return True

    def cancel(self) -> None:
        """End what is at work. Nobody waits for a process that hangs on a dead disk."""
        if self._child is not None:
            self._child.kill()
            if self._child.stdin is not None:
                with suppress(BrokenPipeError):
                    self._child.stdin.close()
        self._child = self.request = None

    def _begun(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [sys.executable, "-m", "omnitui.logs.scanning"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        threading.Thread(target=self._listen, args=(child,), daemon=True, name="log-scan").start()
        return child

    def _listen(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None
        with child.stdout:
            for line in child.stdout:
                request = self.request
                if child is self._child and request is not None:
                    self._told(request, _answer(line))
        child.wait()
        request = self.request
        if child is self._child and request is not None:
            self._told(request, Refused("the search process has ended"))


def _answer(line: bytes) -> Scanned | Refused:
    told = json.loads(line)
    if "why" in told:
        return Refused(told["why"])
    return Scanned(**{**told, "starts": tuple(told["starts"])})


def answers(line: str) -> Iterator[Scanned | Refused]:
    """Yield what one request comes to."""
    given = json.loads(line)
    log = LogFile(Path(given["path"]))
    try:
        log.refresh()
        if log.identity != Identity(*given["identity"]):
            yield Refused("the file was replaced")
            return
        patterns = [Pattern(text) for text in given["patterns"]]
        yield from scan(log, patterns, _line_start(log, given), given["most"], forward=given["forward"])
    except OSError as error:
        yield Refused(error.strerror or str(error))
    except OmniError as error:
        yield Refused(str(error))
    finally:
        log.close()


def _line_start(log: LogFile, given: dict[str, int]) -> int:
    """Return where to begin: forward, in the middle of a line, with the next one."""
    start = given["start"]
    if not given["forward"] or start >= log.size or log.start_of(start) == start:
        return start
    (line,) = log.lines_after(log.start_of(start), 1)
    return line.end


def _leave_with(parent: int) -> None:
    # Also in the middle of an expression: `re` lets signals through.
    def look(_number: int, _frame: FrameType | None) -> None:
        if os.getppid() != parent:
            os._exit(0)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)


def main(asked: IO[str] = sys.stdin, told: IO[str] = sys.stdout) -> None:
    """Answer requests, one JSON object a line, until there are no more."""
    _leave_with(os.getppid())
    for line in asked:
        for answer in answers(line):
            told.write(json.dumps(asdict(answer)) + "\n")
            told.flush()


if __name__ == "__main__":
    main()
