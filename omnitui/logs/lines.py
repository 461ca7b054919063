r"""Reads a log of any size by byte offsets: each question costs the same for 1 KiB and for 1 TiB.

Lines end at `\n` only. A line is one `LogLine` up to 16 KiB at least. A longer one is cut into pieces where the
bytes nearby say so, so that forwards and backwards agree and nothing searches through a line of 1 GiB: a multiple
of 16 KiB whose preceding 16 KiB hold no newline is a cut, moved on to the next start of a UTF-8 character.
"""

import os
import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from omnitui.logs.counting import MARK_BYTES, LineCount, count_on, nth_newline
from omnitui.logs.files import Identity, blanked, identity_of, leaks_of, open_log

PIECE_BYTES = 16 * 1024
"""How much is read at a time; a piece of a long line is shorter than twice this."""

_PRINT_BYTES = 64
_NEWLINE = re.compile(rb"\n")


class Change(Enum):
    """What `LogFile.refresh` found since the last look."""

    UNCHANGED = "unchanged"
    APPEARED = "appeared"
    GREW = "grew"
    TRUNCATED = "truncated"
    ROTATED = "rotated"


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
        if identity_of(now) != self.identity:
            self._reopen()
            return Change.ROTATED
        return self._compare(now)

    def _reopen(self) -> None:
        self.close()
        self._fd = open_log(self.path)
        self._take(os.fstat(self._fd))

    def _compare(self, now: os.stat_result) -> Change:
        if (now.st_size, now.st_mtime_ns) == (self.size, self._modified_ns):
            return Change.UNCHANGED
        truncated = now.st_size < self.size or self._read_print() != self._print
        grown = Change.GREW if now.st_size > self.size else Change.UNCHANGED
        self._take(now)
        return Change.TRUNCATED if truncated else grown

    def _take(self, now: os.stat_result) -> None:
        self.identity, self.size, self._modified_ns = identity_of(now), now.st_size, now.st_mtime_ns
        self._print = self._read_print()

    def _read_print(self) -> bytes:
        return self.read(max(0, self.size - _PRINT_BYTES), self.size)

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
        starts = [_Start(offset, offset > 0 and self.read(offset - 1, offset) != b"\n")]
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
        return count.newlines_before_mark(index) + self.read(index * MARK_BYTES, offset).count(b"\n") + 1

    def count_on(self, count: LineCount) -> LineCount:
        """Count on from `count` to the size; also where the file has another name by now, or none."""
        return count_on(self._fd, count, self.size)

    def offset_of_line(self, count: LineCount, number: int) -> int | None:
        """Return the byte at which line `number`, from 1, begins; None where `count` knows no such line."""
        if not 1 <= number <= count.lines:
            return None
        if number == 1:
            return 0
        index = count.mark_with_newline(number - 1)
        data = self.read(index * MARK_BYTES, min((index + 1) * MARK_BYTES, count.counted_bytes))
        nth = number - 1 - count.newlines_before_mark(index)
        return index * MARK_BYTES + nth_newline(data, nth) + 1

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
        data = self.read(low, min(low + PIECE_BYTES + 4, self.size))
        starts = [_Start(low + match.end(), False) for match in _NEWLINE.finditer(data, 0, PIECE_BYTES)]
        if not starts and len(data) > PIECE_BYTES:
            cut = _next_character(data, PIECE_BYTES)
            return [_Start(low + cut, True)] if data[cut : cut + 1] not in (b"", b"\n") else []
        return [start for start in starts if start.offset < self.size]

    def _lines(self, starts: list[_Start], end: int) -> tuple[LogLine, ...]:
        first = starts[0].offset if starts else end
        data = self.read(first, end)
        lines = []
        for (start, continued), stop in zip(starts, [*(s.offset for s in starts[1:]), end], strict=False):
            raw = data[start - first : stop - first]
            cut = not raw.endswith(b"\n") and stop < self.size
            lines.append(LogLine(start, stop, raw.removesuffix(b"\n"), continued, cut))
        return tuple(lines)

    def read(self, low: int, high: int) -> bytes:
        """Return the bytes from `low` to `high`, or fewer; secrets are blanked."""
        data = os.pread(self._fd, high - low, low) if self._fd >= 0 and high > low else b""
        return blanked(data, low, leaks_of(self.path)) if data else b""


def _next_character(data: bytes, at: int) -> int:
    last = min(at + 3, len(data))
    while at < last and data[at] & 0xC0 == 0x80:
        at += 1
    return at
