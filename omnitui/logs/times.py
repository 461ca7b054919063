"""When a line was written, as it says itself, and the first line of a given time: a binary search over the file.

Times are compared as they stand in the log, without their zones. A log without dates is taken to cover less than a
day, and one without years less than a year.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from omnitui.logs.lines import LogFile
from omnitui.logs.patterns import shown

_CLOCK = r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?:[.,](?P<part>\d{1,9}))?)?"
_STAMP = re.compile(
    r"(?<![\d.:-])(?:(?:(?P<year>\d{4})[-/])?(?P<month>0[1-9]|1[0-2])[-/](?P<day>0[1-9]|[12]\d|3[01])[T ])?"
    + _CLOCK
    + r"(?!\d|:\d)"
)
_BACK = re.compile(r"-(?P<count>\d{1,6})\s*(?P<unit>[smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_LOOKED_AT = 256
_LOOKED_CHARS = 120
_YEAR = 2000
"""A leap year, for stamps that name none."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time as it was written; `dated` when its day was told."""

    at: datetime
    dated: bool


def stamp_of(text: str, *, bare: bool = False) -> Stamp | None:
    """Return the first time in the beginning of a line; `bare`: nothing else may stand there."""
    text = text[:_LOOKED_CHARS]
    match = _STAMP.fullmatch(text) if bare else _STAMP.search(text)
    # A ratio or a port looks like hours and minutes: a log's own clock tells seconds.
    if match is None or (match["second"] is None and not bare):
        return None
    part = int((match["part"] or "0").ljust(6, "0")[:6])
    clock = (int(match["hour"]), int(match["minute"]), int(match["second"] or 0), part)
    try:
        day = (int(match["year"] or _YEAR), int(match["month"] or 1), int(match["day"] or 1))
        return Stamp(datetime(*day, *clock), match["month"] is not None)
    except ValueError:
        return None


def offset_of_time(log: LogFile, text: str) -> int | str:
    """Return where the first line of that time or later begins, or a sentence that says why not.

    `text` is `12:30` or `12:30:05`, with `2026-03-02` or `03-02` before it or not, or `-10m` (s, m, h, d): so long
    before the last time.
    """
    first, last = _stamp_after(log, 0), _stamp_before(log, log.size)
    if first is None or last is None:
        return "no times are seen in this log"
    begun = first[1].at
    ended = _of_log(last[1], begun)
    wanted = _wanted(text.strip(), begun, ended, dated=first[1].dated)
    if wanted is None:
        return f"{text!r} is no time: 12:30, 12:30:05, 03-02 12:30, 2026-03-02 12:30, or -10m before the end"
    if wanted > ended:
        return f"the last time is {_told(last[1])}"
    low, high = 0, log.size
    while low < high:
        middle = (low + high) // 2
        found = _stamp_after(log, log.start_of(middle))
        if found is None or found[0] >= high or _of_log(found[1], begun) >= wanted:
            high = min(middle, log.start_of(middle))
        else:
            low = max(found[0] + 1, middle + 1)
    found = _stamp_after(log, log.start_of(low))
    while found is not None and _of_log(found[1], begun) < wanted:
        found = _stamp_after(log, found[0], skip=1)
    return found[0] if found else log.start_of(low)


def _told(stamp: Stamp) -> str:
    return stamp.at.strftime("%m-%d %H:%M:%S" if stamp.dated else "%H:%M:%S")


def _of_log(stamp: Stamp, begun: datetime) -> datetime:
    if not stamp.dated and stamp.at < begun - _DAY / 2:
        return stamp.at + _DAY
    return stamp.at


def _wanted(text: str, begun: datetime, ended: datetime, *, dated: bool) -> datetime | None:
    if back := _BACK.fullmatch(text):
        return max(begun, ended - timedelta(**{_UNITS[back["unit"]]: int(back["count"])}))
    given = stamp_of(text, bare=True)
    if given is None:
        return None
    if given.dated:
        return given.at.replace(year=begun.year) if _YEAR in (given.at.year, begun.year) else given.at
    if not dated:
        return _of_log(given, begun)
    # Of the last day, or of the one before where that has not come yet.
    at = datetime.combine(ended.date(), given.at.time())
    return at - _DAY if at > ended and at - _DAY >= begun.replace(second=0, microsecond=0) else at


def _stamp_after(log: LogFile, offset: int, skip: int = 0) -> tuple[int, Stamp] | None:
    for line in log.lines_after(offset, _LOOKED_AT)[skip:]:
        if found := stamp_of(shown(line.raw[:4096])):
            return line.start, found
    return None


def _stamp_before(log: LogFile, offset: int) -> tuple[int, Stamp] | None:
    for line in _reversed(log, offset):
        if found := stamp_of(shown(line[1])):
            return line[0], found
    return None


def _reversed(log: LogFile, offset: int) -> Iterator[tuple[int, bytes]]:
    for line in reversed(log.lines_before(offset, _LOOKED_AT)):
        yield line.start, line.raw[:4096]
