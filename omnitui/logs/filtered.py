"""Which lines match, as far as is known: one stretch of a log that grows where somebody looks."""

from bisect import bisect_left
from dataclasses import dataclass

from omnitui.logs.scan import Scanned

_AHEAD = 500
_FOLLOWED = 100_000
_MOST_KEPT = 500_000


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where a scan has to go on for a window to be complete."""

    start: int
    forward: bool
    most: int


class Matches:
    """All matching lines between two starts of lines; outside nothing is known."""

    def __init__(self, anchor: int) -> None:
        self._low = self._high = anchor
        self._starts: list[int] = []
        self._unfinished = -1
        self._seen_bytes = 0

    @property
    def stretch(self) -> tuple[int, int]:
        """The bytes between which all is known."""
        return self._low, self._high

    @property
    def known(self) -> int:
        """How many lines are known to match."""
        return len(self._starts) + (self._unfinished >= 0)

    def take(self, found: Scanned, *, forward: bool) -> None:
        """Take in what a scan from one of the two ends came to."""
        if not forward:
            self._starts[:0] = found.starts
            self._low = found.at
            self._forget_end(len(self._starts) - _MOST_KEPT)
            return
        self._starts += found.starts
        self._high, self._unfinished = found.at, found.unfinished
        if found.exhausted:
            self._seen_bytes = found.size
        if (over := len(self._starts) - _MOST_KEPT) > 0:
            del self._starts[:over]
            self._low = self._starts[0]

    def _forget_end(self, over: int) -> None:
        if over > 0:
            self._high = self._starts[-over]
            del self._starts[-over:]
            self._unfinished, self._seen_bytes = -1, 0

    def window(self, anchor: int | None, before: int, after: int) -> tuple[tuple[int, ...], int]:
        """Return the lines around `anchor`, or the last ones, and which of them comes at or after the anchor."""
        starts = [*self._starts, self._unfinished] if self._unfinished >= 0 else self._starts
        at = len(starts) if anchor is None else bisect_left(starts, anchor)
        first = max(0, at - before)
        return tuple(starts[first : at + after]), at - first

    def between(self, low: int, high: int) -> tuple[int, ...]:
        """Return the lines that are known to match and begin between two bytes."""
        starts = [*self._starts, self._unfinished] if self._unfinished >= 0 else self._starts
        return tuple(starts[bisect_left(starts, low) : bisect_left(starts, high)])

    def wanted(self, anchor: int | None, before: int, after: int, size: int) -> Wanted | None:
        """Return where to look for what `window` lacks; None when it is complete."""
        at = self.known if anchor is None else bisect_left(self._starts, anchor)
        if (anchor is None or self.known - at < after) and self._seen_bytes < size:
            return Wanted(self._high, forward=True, most=_FOLLOWED if anchor is None else _AHEAD)
        if at < before and self._low > 0:
            return Wanted(self._low, forward=False, most=_AHEAD)
        return None
