"""Lines that match, looked for from one line on, forward or back, in blocks. A caller stops when it likes."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from omnitui.logs.lines import PIECE_BYTES, LogFile, LogLine
from omnitui.logs.patterns import Pattern, all_match

_BLOCK_BYTES = 256 * 1024
_PIECES = 16
TOLD_S = 0.1
"""How often a scan that finds little tells how far it is."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """What one stretch of a log came to: all the lines of it that match are known."""

    starts: tuple[int, ...]
    """Where they begin, in the order of the file."""
    at: int
    """The stretch ends here (forward) or begins here (back): a start of a line."""
    done: bool
    """As many were found as were asked for, or nothing is left in that direction."""
    exhausted: bool = False
    """Nothing is left in that direction: forward, of the first `size` bytes."""
    size: int = 0
    """How long the log was."""
    unfinished: int = -1
    """Where the last line begins, if it matches but has no newline yet; -1 otherwise."""


def scan(log: LogFile, patterns: Sequence[Pattern], start: int, most: int, *, forward: bool) -> Iterator[Scanned]:
    """Yield stretches from byte `start`, the start of a line or the size, until `most` lines were found.

    The end of the log is where it was at the last refresh. Raises OSError.
    """
    stretches = _forward(log, patterns, start) if forward else _back(log, patterns, start)
    gathered: list[int] = []
    told_s, left, at, unfinished = time.monotonic(), most, start, -1
    for hits, reached, open_line in stretches:
        at, unfinished = reached, max(unfinished, open_line)
        taken = hits[:left] if forward else hits[-left:]
        left -= len(taken)
        gathered += [hit.start for hit in taken]
        if not left:
            # The rest of the stretch is not known to whoever asked.
            at = taken[-1].end if forward else taken[0].start
            yield Scanned(tuple(sorted(gathered)), at, done=True, size=log.size)
            return
        if time.monotonic() - told_s >= TOLD_S:
            yield Scanned(tuple(sorted(gathered)), at, done=False, size=log.size)
            told_s, gathered = time.monotonic(), []
    yield Scanned(tuple(sorted(gathered)), at, done=True, exhausted=True, size=log.size, unfinished=unfinished)


_Stretch = tuple[list[LogLine], int, int]


def _forward(log: LogFile, patterns: Sequence[Pattern], at: int) -> Iterator[_Stretch]:
    while at < log.size:
        data = log.read(at, min(at + _BLOCK_BYTES, log.size))
        whole = data[: data.rfind(b"\n") + 1]
        if whole:
            yield list(_in_block(log, patterns, at, whole)), at + len(whole), -1
            at += len(whole)
            continue
        pieces = log.lines_after(at, _PIECES)
        if not pieces:
            return
        ended = [piece for piece in pieces if not _is_open(piece)]
        yield _matching(patterns, ended), (ended[-1].end if ended else at), _open_match(patterns, pieces)
        if len(ended) < len(pieces):
            return
        at = pieces[-1].end


def _back(log: LogFile, patterns: Sequence[Pattern], at: int) -> Iterator[_Stretch]:
    last = log.lines_before(at, 1) if at >= log.size else ()
    if last and _is_open(last[0]):
        at = last[0].start
        yield [], at, _open_match(patterns, last)
    while at > 0:
        low = max(0, at - _BLOCK_BYTES)
        data = log.read(low, at)
        skipped = data.find(b"\n") + 1 if low else 0
        if (low and not skipped) or skipped == len(data) or not data.endswith(b"\n"):
            pieces = log.lines_before(at, _PIECES)
            if not pieces:
                return
            yield _matching(patterns, pieces), pieces[0].start, -1
            at = pieces[0].start
            continue
        yield list(_in_block(log, patterns, low + skipped, data[skipped:])), low + skipped, -1
        at = low + skipped


def _in_block(log: LogFile, patterns: Sequence[Pattern], base: int, data: bytes) -> Iterator[LogLine]:
    first, *others = patterns
    # Long lines are cut into pieces where they are shown, and it is a piece that must match.
    if _has_long_line(data):
        yield from _matching(patterns, _lines_between(log, base, base + len(data)))
        return
    for start, end in first.lines_in(data):
        raw = data[start : end - 1]
        if all_match(others, raw):
            yield LogLine(base + start, base + end, raw)


def _has_long_line(data: bytes) -> bool:
    start = 0
    while len(data) - start > PIECE_BYTES:
        end = data.rfind(b"\n", start, start + PIECE_BYTES) + 1
        if not end:
            return True
        start = end
    return False


def _lines_between(log: LogFile, low: int, high: int) -> Iterator[LogLine]:
    while low < high:
        lines = log.lines_after(low, _PIECES)
        if not lines:
            return
        yield from (line for line in lines if line.start < high)
        low = lines[-1].end


def _matching(patterns: Sequence[Pattern], lines: Sequence[LogLine] | Iterator[LogLine]) -> list[LogLine]:
    return [line for line in lines if all_match(patterns, line.raw, open_end=line.cut)]


def _is_open(line: LogLine) -> bool:
    return not line.cut and line.end - line.start == len(line.raw)


def _open_match(patterns: Sequence[Pattern], lines: Sequence[LogLine]) -> int:
    line = lines[-1]
    return line.start if _is_open(line) and all_match(patterns, line.raw, open_end=True) else -1
