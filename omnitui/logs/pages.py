"""What a pane asks of a log, and gets: lines around a place, and which numbers they have. One thread's own."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from omnitui.logs.counting import MARK_BYTES, LineCount
from omnitui.logs.files import Identity
from omnitui.logs.lines import Change, LogFile, LogLine

RESTARTS = (Change.APPEARED, Change.TRUNCATED, Change.ROTATED)
"""After these, nothing that was known of the file holds."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Which lines: `before` and `after` the one that holds byte `anchor`, or the last `before` ones (None)."""

    anchor: int | None
    before: int
    after: int
    count: LineCount
    starts: tuple[int, ...] | None = None
    """Instead: the lines that begin there. `at` says which of them is the anchor."""
    at: int = 0
    if_changed: bool = False
    """Nothing but the change is wanted where there is none."""


@dataclass(frozen=True, slots=True)
class Page:
    """The lines, as of one look at the file."""

    change: Change
    identity: Identity | None
    size: int
    lines: tuple[LogLine, ...]
    at: int
    """How many of the lines come before the anchor's."""
    count: LineCount
    numbers: tuple[int | None, ...]
    """The number of each line, from 1, or None where it is not counted yet."""
    last: int = 0
    """Where the last line of the file begins."""


class Pages:
    """Reads one log. Raises OSError from every method."""

    def __init__(self, path: Path) -> None:
        self._log = LogFile(path)

    def close(self) -> None:
        """Let go of the file."""
        self._log.close()

    def page(self, ask: Ask) -> Page:
        """Look at the file, and return the lines. A file that is another one by now is shown from its end."""
        log = self._log
        change = log.refresh()
        if change in RESTARTS:
            ask = Ask(None, ask.before + ask.after, 0, LineCount())
        count = self._counted(ask.count)
        if change is Change.UNCHANGED and ask.if_changed:
            return Page(change, log.identity, log.size, (), 0, count, ())
        lines, at = self._lines(ask)
        numbers = tuple(self._numbers(lines, count))
        last = log.tail(1)
        return Page(
            change, log.identity, log.size, lines, at, count, numbers, last=last[0].start if last else log.size
        )

    def _lines(self, ask: Ask) -> tuple[tuple[LogLine, ...], int]:
        log = self._log
        if ask.starts is not None:
            return tuple(line for start in ask.starts for line in log.lines_after(start, 1)), ask.at
        if ask.anchor is None:
            lines = log.tail(ask.before)
            return lines, len(lines)
        anchor = log.start_of(ask.anchor)
        before = log.lines_before(anchor, ask.before)
        return (*before, *log.lines_after(anchor, ask.after)), len(before)

    def _counted(self, count: LineCount) -> LineCount:
        log = self._log
        if log.identity is None or not 0 < log.size - count.counted_bytes <= MARK_BYTES:
            return count
        return log.count_on(count)

    def _numbers(self, lines: tuple[LogLine, ...], count: LineCount) -> Iterator[int | None]:
        number: int | None = None
        before: LogLine | None = None
        for line in lines:
            if line.start >= count.counted_bytes:
                number = None
            elif before and number is not None and 0 <= line.start - before.end <= MARK_BYTES:
                number += (not before.cut) + self._log.read(before.end, line.start).count(b"\n")
            else:
                number = self._log.line_number(count, line.start)
            before = line
            yield number

    def start_of(self, offset: int) -> int:
        """Return where the line begins that holds a byte."""
        return self._log.start_of(offset)

    def offset_of_line(self, count: LineCount, number: int) -> int | None:
        """Return where a line begins; None where the count knows no such line."""
        return self._log.offset_of_line(count, number)

    def offset_of_time(self, text: str) -> int | str:
        """Return where the first line of that time or later begins, or why that cannot be told."""
        from omnitui.logs.times import offset_of_time  # noqa: PLC0415 - not needed for the first paint

        self._log.refresh()
        return offset_of_time(self._log, text)
