"""Parts of a log as clean text: for a file, and for the clipboard."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from omnitui.logs.files import Identity
from omnitui.logs.lines import LogFile, LogLine
from omnitui.logs.patterns import shown

_SOME = 64
Part = range | tuple[int, ...]
"""Lines that begin within a range of bytes, the first of which begins one, or at each of these bytes."""


def text_of(lines: Iterable[LogLine]) -> Iterator[str]:
    """Yield the lines as they are shown, without colours; the pieces of a long one are one again."""
    for line in lines:
        yield shown(line.raw, open_end=line.cut) + ("" if line.cut else "\n")


def lines_between(log: LogFile, low: int, high: int) -> Iterator[LogLine]:
    """Yield the lines that begin from byte `low`, the start of one, up to `high`."""
    while low < min(high, log.size):
        some = log.lines_after(low, _SOME)
        if not some:
            return
        yield from (line for line in some if line.start < high)
        low = some[-1].end


def lines_at(log: LogFile, starts: Iterable[int]) -> Iterator[LogLine]:
    """Yield the lines that begin at these bytes."""
    for start in starts:
        yield from log.lines_after(start, 1)


def lines_of(log: LogFile, part: Part) -> Iterator[LogLine]:
    """Yield the lines of a part."""
    return lines_between(log, part.start, part.stop) if isinstance(part, range) else lines_at(log, part)


def save(path: Path, identity: Identity, part: Part, target: Path) -> int:
    """Write the lines of a part to a new file; how many characters.

    Raises OSError, also when `target` exists or the log is another file by now.
    """
    log = LogFile(path)
    try:
        log.refresh()
        if log.identity != identity:
            raise FileNotFoundError(2, "the log was replaced", str(path))
        written = 0
        with target.open("x", encoding="utf-8", errors="replace") as file:
            os.fchmod(file.fileno(), 0o600)
            for text in text_of(lines_of(log, part)):
                written += file.write(text)
        return written
    finally:
        log.close()
