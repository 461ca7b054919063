"""How many lines a log has, and which of them is where: newlines are counted once, with a mark for every MiB."""

import os
import sys
import threading
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from omnitui.logs.files import Identity, identity_of, open_log

MARK_BYTES = 1024 * 1024
"""The distance between two marks of a `LineCount`."""

# Small enough that the buffer stays in a core's own cache between the read and the count.
_COUNT_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class LineCount:
    """How many newlines the first `counted_bytes` bytes hold.

    `marks` packs one native unsigned 64-bit number per whole MiB: the newlines before the end of that MiB.
    """

    counted_bytes: int = 0
    newlines: int = 0
    open_end: bool = False
    marks: bytes = b""

    @property
    def lines(self) -> int:
        """Lines counted; a last one without its newline counts too."""
        return self.newlines + self.open_end

    def newlines_before_mark(self, index: int) -> int:
        """Return the newlines in the first `index` MiB."""
        return memoryview(self.marks).cast("Q")[index - 1] if index else 0

    def mark_with_newline(self, nth: int) -> int:
        """Return the index of the MiB that holds the nth newline of the file, from 1."""
        return bisect_left(memoryview(self.marks).cast("Q"), nth)


def count_lines(
    path: Path, identity: Identity, since: LineCount, until: int, cancelled: Callable[[], bool] = lambda: False
) -> LineCount:
    """Count on from `since` up to byte `until`; shares nothing with a `LogFile`, so a thread may do it.

    `cancelled` is asked before each 256 KiB. Returns what was counted so far when cancelled or when the file is
    shorter, and `since` when the file at `path` is another one by now or is gone. Raises OSError.
    """
    try:
        fd = open_log(path)
    except FileNotFoundError:
        return since
    try:
        return count_on(fd, since, until, cancelled) if identity_of(os.fstat(fd)) == identity else since
    finally:
        os.close(fd)


def count_on(fd: int, since: LineCount, until: int, cancelled: Callable[[], bool] = lambda: False) -> LineCount:
    """The same in a file that is open."""
    buffer = bytearray(_COUNT_BYTES)
    view = memoryview(buffer)
    position, newlines, open_end = since.counted_bytes, since.newlines, since.open_end
    marks = bytearray(since.marks)
    while position < until and not cancelled():
        wanted = min(_COUNT_BYTES - position % _COUNT_BYTES, until - position)
        got = os.preadv(fd, [view[:wanted]], position)
        if not got:
            break
        newlines += buffer.count(b"\n", 0, got)
        open_end = buffer[got - 1] != ord("\n")
        position += got
        if position % MARK_BYTES == 0:
            marks += newlines.to_bytes(8, sys.byteorder)
    return LineCount(position, newlines, open_end, bytes(marks))


class Counter:
    """Counts in a thread of its own, which nobody waits for: a network disk can hang it for ever."""

    def __init__(self, counted: Callable[[LineCount, LineCount], None]) -> None:
        """`counted` is called from the thread, with where it began and what it came to."""
        self._counted = counted
        self._work: threading.Event | None = None

    def cancel(self) -> None:
        """Count no further."""
        if self._work is not None:
            self._work.set()
        self._work = None

    def count(self, path: Path, identity: Identity, since: LineCount, until: int) -> None:
        """Begin to count on, if that is much and nothing is being counted."""
        if self._work is None and until - since.counted_bytes > MARK_BYTES:
            self._work = threading.Event()
            work = (path, identity, since, until, self._work)
            threading.Thread(target=self._live, args=work, daemon=True, name="log-count").start()

    def _live(self, path: Path, identity: Identity, since: LineCount, until: int, ended: threading.Event) -> None:
        try:
            count = count_lines(path, identity, since, until, ended.is_set)
        except OSError:
            count = since
        if self._work is ended:
            self._work = None
            self._counted(since, count)


def nth_newline(data: bytes, nth: int) -> int:
    """Return where the nth newline stands in `data`, from 1."""
    low, high = 0, len(data)
    while high - low > 1:
        middle = (low + high) // 2
        before = data.count(b"\n", low, middle)
        if before >= nth:
            high = middle
        else:
            nth, low = nth - before, middle
    return low
