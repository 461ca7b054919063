r"""Reads a log of any size by byte offsets: each question costs the same for 1 KiB and for 1 TiB.

Lines end at `\n` only. A line is one `LogLine` up to 16 KiB at least. A longer one is cut into pieces where the
bytes nearby say so, so that forwards and backwards agree and nothing searches through a line of 1 GiB: a multiple
of 16 KiB whose preceding 16 KiB hold no newline is a cut, moved on to the next start of a UTF-8 character.
"""

import json
import os
import re
import stat
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from errno import EINVAL
from pathlib import Path
from typing import NamedTuple

PIECE_BYTES = 16 * 1024
"""How much is read at a time; a piece of a long line is shorter than twice this."""
MARK_BYTES = 1024 * 1024
"""The distance between two marks of a `LineCount`."""

# Small enough that the buffer stays in a core's own cache between the read and the count.
_COUNT_BYTES = 256 * 1024
_PRINT_BYTES = 64
_NEWLINE = re.compile(rb"\n")


class Change(Enum):
    """What `LogFile.refresh` found since the last look."""

    UNCHANGED = "unchanged"
    APPEARED = "appeared"
    GREW = "grew"
    TRUNCATED = "truncated"
    ROTATED = "rotated"


class Identity(NamedTuple):
    """Which file it is, whatever its name: device and inode."""

    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class LogLine:
    r"""A line, or a piece of a long one.

    `start` and `end` are byte offsets, `end` behind the newline; `raw` is without it.
    `continued`: the line began in an earlier piece. `cut`: it goes on in the next.
    """

    start: int
    end: int
    raw: bytes
    continued: bool = False
    cut: bool = False


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
        fd = _open(path)
    except FileNotFoundError:
        return since
    try:
        return _count(fd, since, until, cancelled) if _identity(os.fstat(fd)) == identity else since
    finally:
        os.close(fd)


def _count(fd: int, since: LineCount, until: int, cancelled: Callable[[], bool]) -> LineCount:
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


class _Start(NamedTuple):
    offset: int
    continued: bool


class LogFile:
    """One log, seen as it was at the last `refresh`; a missing file is an empty one that may appear."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        """Bytes, as of the last refresh."""
        self.identity: Identity | None = None
        """None until the file is there."""
        self._fd = -1
        self._modified_ns = 0
        self._print = b""

    def close(self) -> None:
        """Let go of the file; a later refresh opens it again."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self.identity, self.size = -1, None, 0

    def refresh(self) -> Change:
        """Look at the file once (one stat) and take over its size.

        A file that was renamed or deleted is read on until another one has its name. A truncation that
        was outgrown since is noticed too, by the last bytes known. Raises OSError, also for what is no
        regular file.
        """
        try:
            now = self.path.stat()
        except FileNotFoundError:
            if self._fd < 0:
                return Change.UNCHANGED
            now = os.fstat(self._fd)
        if self._fd < 0:
            self._reopen()
            return Change.APPEARED
        if _identity(now) != self.identity:
            self._reopen()
            return Change.ROTATED
        return self._compare(now)

    def _reopen(self) -> None:
        self.close()
        self._fd = _open(self.path)
        self._take(os.fstat(self._fd))

    def _compare(self, now: os.stat_result) -> Change:
        if (now.st_size, now.st_mtime_ns) == (self.size, self._modified_ns):
            return Change.UNCHANGED
        truncated = now.st_size < self.size or self._read_print() != self._print
        grown = Change.GREW if now.st_size > self.size else Change.UNCHANGED
        self._take(now)
        return Change.TRUNCATED if truncated else grown

    def _take(self, now: os.stat_result) -> None:
        self.identity, self.size, self._modified_ns = _identity(now), now.st_size, now.st_mtime_ns
        self._print = self._read_print()

    def _read_print(self) -> bytes:
        return self._read(max(0, self.size - _PRINT_BYTES), self.size)

    def tail(self, n: int) -> tuple[LogLine, ...]:
        """Return the last `n` lines, or fewer."""
        return self.lines_before(self.size, n)

    def lines_before(self, offset: int, n: int) -> tuple[LogLine, ...]:
        """Return the `n` lines, or fewer, that end at byte `offset`, which is the start of a line or the size."""
        end = min(offset, self.size)
        return self._lines(self._starts_before(end, n), end)

    def lines_after(self, offset: int, n: int) -> tuple[LogLine, ...]:
        """Return the `n` lines, or fewer, that begin at byte `offset`, which is the start of a line."""
        if n <= 0 or offset >= self.size:
            return ()
        starts = [_Start(offset, offset > 0 and self._read(offset - 1, offset) != b"\n")]
        low = offset // PIECE_BYTES * PIECE_BYTES
        while len(starts) <= n and low < self.size:
            starts += [start for start in self._starts(low) if start.offset > offset]
            low += PIECE_BYTES
        end = starts[n].offset if len(starts) > n else self.size
        return self._lines(starts[:n], end)

    def start_of(self, offset: int) -> int:
        """Return the start of the line, or piece, that holds byte `offset`."""
        starts = self._starts_before(min(offset + 1, self.size), 1)
        return starts[0].offset if starts else 0

    def line_number(self, count: LineCount, offset: int) -> int | None:
        """Return the number, from 1, of the line that holds byte `offset`; None where `count` has not been yet."""
        if offset >= count.counted_bytes:
            return None
        index = offset // MARK_BYTES
        return count.newlines_before_mark(index) + self._read(index * MARK_BYTES, offset).count(b"\n") + 1

    def offset_of_line(self, count: LineCount, number: int) -> int | None:
        """Return the byte at which line `number`, from 1, begins; None where `count` knows no such line."""
        if not 1 <= number <= count.lines:
            return None
        if number == 1:
            return 0
        index = count.mark_with_newline(number - 1)
        data = self._read(index * MARK_BYTES, min((index + 1) * MARK_BYTES, count.counted_bytes))
        nth = number - 1 - count.newlines_before_mark(index)
        return index * MARK_BYTES + _nth_newline(data, nth) + 1

    def _starts_before(self, end: int, n: int) -> list[_Start]:
        starts: list[_Start] = []
        low = (end - 1) // PIECE_BYTES * PIECE_BYTES
        while len(starts) < n and low >= 0:
            starts[:0] = [start for start in self._starts(low) if start.offset < end]
            low -= PIECE_BYTES
        if len(starts) < n and end > 0:
            starts.insert(0, _Start(0, False))
        return starts[-n:] if n > 0 else []

    def _starts(self, low: int) -> list[_Start]:
        """Return where lines and pieces begin that the PIECE_BYTES from `low` on, a multiple, call for."""
        data = self._read(low, min(low + PIECE_BYTES + 4, self.size))
        starts = [_Start(low + match.end(), False) for match in _NEWLINE.finditer(data, 0, PIECE_BYTES)]
        if not starts and len(data) > PIECE_BYTES:
            cut = _next_character(data, PIECE_BYTES)
            return [_Start(low + cut, True)] if data[cut : cut + 1] not in (b"", b"\n") else []
        return [start for start in starts if start.offset < self.size]

    def _lines(self, starts: list[_Start], end: int) -> tuple[LogLine, ...]:
        first = starts[0].offset if starts else end
        data = self._read(first, end)
        lines = []
        for (start, continued), stop in zip(starts, [*(s.offset for s in starts[1:]), end], strict=False):
            raw = data[start - first : stop - first]
            cut = not raw.endswith(b"\n") and stop < self.size
            lines.append(LogLine(start, stop, raw.removesuffix(b"\n"), continued, cut))
        return tuple(lines)

    def _read(self, low: int, high: int) -> bytes:
        data = os.pread(self._fd, high - low, low) if self._fd >= 0 and high > low else b""
        return blanked(data, low, leaks_of(self.path)) if data else b""


LEAKS = "leaks.json"
"""Beside a log: the byte ranges in it that hold a secret."""


def leaks_of(log: Path) -> list[tuple[int, int]]:
    """The (offset, length) ranges of a log that must not be shown. They tell nothing about the secret itself."""
    try:
        found = json.loads(log.with_name(LEAKS).read_bytes())
    except (OSError, ValueError):
        return []
    return [(int(at), int(length)) for at, length in found]


def blanked(data: bytes, offset: int, leaks: Iterable[tuple[int, int]]) -> bytes:
    """`data`, which stands at `offset` in its log, with every leak replaced by asterisks."""
    clean = bytearray(data)
    for at, length in leaks:
        low, high = max(0, at - offset), min(len(clean), at + length - offset)
        if low < high:
            clean[low:high] = b"*" * (high - low)
    return bytes(clean)


def _open(path: Path) -> int:
    # Without O_NONBLOCK, opening a FIFO waits for its writer.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(EINVAL, "not a regular file", str(path))
    return fd


def _identity(status: os.stat_result) -> Identity:
    return Identity(status.st_dev, status.st_ino)


def _next_character(data: bytes, at: int) -> int:
    last = min(at + 3, len(data))
    while at < last and data[at] & 0xC0 == 0x80:
        at += 1
    return at


def _nth_newline(data: bytes, nth: int) -> int:
    low, high = 0, len(data)
    while high - low > 1:
        middle = (low + high) // 2
        before = data.count(b"\n", low, middle)
        if before >= nth:
            high = middle
        else:
            nth, low = nth - before, middle
    return low
