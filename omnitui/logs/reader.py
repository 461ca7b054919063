"""A thread for what may hang, such as reading from a dead network disk; whoever asks waits a moment at most."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Late:
    """An answer that came after the patience had ended: what the work gave, or why it failed."""

    token: object
    value: object
    error: OSError | None


@dataclass(frozen=True, slots=True)
class _Work(Generic[S]):
    token: object
    do: Callable[[S], object]
    begun_s: float


class Reader(Generic[S]):
    """Works on one `subject` in one thread. Of what is asked while it is busy, only the last is done."""

    def __init__(self, subject: S, deliver: Callable[[Late], None]) -> None:
        """`deliver` is called from the thread."""
        self._subject = subject
        self._deliver = deliver
        self._changed = threading.Condition()
        self._now: _Work[S] | None = None
        self._next: _Work[S] | None = None
        self._awaited: object = None
        self._answer: Late | None = None
        self._closing: Callable[[S], object] | None = None
        # Nobody waits for it at the end: it may never come back.
        threading.Thread(target=self._live, daemon=True, name="log-reader").start()

    @property
    def busy_s(self) -> float:
        """For how long the work at hand has been going on, in seconds; 0 when there is none."""
        now = self._now
        return time.monotonic() - now.begun_s if now else 0.0

    def ask(
        self, token: object, do: Callable[[S], object], patience_s: float, *, yields: bool = False
    ) -> Late | None:
        """Have something done; the answer, or None when it will be delivered instead.

        What `yields` is dropped where something else waits already.
        """
        with self._changed:
            if yields and self._next is not None:
                return None
            busy = self._now is not None
            self._next = _Work(token, do, time.monotonic())
            self._changed.notify_all()
            if busy:
                return None
            self._awaited, self._answer = token, None
            self._changed.wait_for(lambda: self._answer is not None, patience_s)
            self._awaited = None
            return self._answer

    def close(self, closing: Callable[[S], object]) -> None:
        """End once the work at hand is done; `closing` comes last."""
        with self._changed:
            self._closing = closing
            self._changed.notify_all()

    def _live(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._next is not None or self._closing is not None)
                if self._closing is not None:
                    break
                work = self._now = self._next
                self._next = None
            assert work is not None
            answer = self._done(work)
            with self._changed:
                self._now = None
                if self._awaited is work.token:
                    self._answer = answer
                    self._changed.notify_all()
                    continue
            self._deliver(answer)
        self._closing(self._subject)

    def _done(self, work: _Work[S]) -> Late:
        try:
            return Late(work.token, work.do(self._subject), None)
        except OSError as error:
            return Late(work.token, None, error)
