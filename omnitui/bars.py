"""The progress bars that tqdm draws into a log: `12%|█▎ | 130/1088 [00:08<01:01, 15.6it/s]`. Pure.

tqdm writes each state over the last with a carriage return, and several bars over each other with cursor moves. A
log that is read while it grows ends anywhere, so only a bar whose bracket is closed counts. The form is that of
`tqdm.std.tqdm.format_meter`.
"""

import math
import re

from msgspec import Struct

from omnitui.sanitise import plain

_NUMBER = r"\d+(?:\.\d+)?[kMGTPEZ]?"
_CLOCK = r"(?:\d+ days?, )?\d+:\d\d(?::\d\d)?"
_METER = re.compile(
    rf"(?:(?P<percent>\d{{1,3}})%(?:\|[^|]*\|)?\s*)?(?P<done>{_NUMBER})(?:/(?P<total>{_NUMBER}))?(?P<unit>[^\s\d\[/]*)"
    rf" \[(?P<spent>{_CLOCK})(?:<(?P<left>{_CLOCK}|\?))?,\s+(?P<rate>{_NUMBER}|\?)(?P<per>[^\s,\]]+)[^\]]*\]"
)
_SEGMENT = re.compile(r"[\r\n]|\x1b\[[0-9]*[A-H]")
_SCALES = {letter: 1000.0**power for power, letter in enumerate("kMGTPEZ", 1)}
_LONGEST_LABEL = 40
_LONGEST_SEGMENT = 4096
_LONGEST_S = 1000 * 3600.0


class Bar(Struct, frozen=True):
    """One bar: how many of how many, how fast, and how long it still takes by its own reckoning."""

    done: float
    total: float | None = None
    per_s: float | None = None
    left_s: float | None = None
    label: str = ""


def last_bar(text: str) -> Bar | None:
    """The last bar of a piece of log that is whole, or None."""
    for segment in reversed(_SEGMENT.split(text)):
        if "[" in segment and len(segment) <= _LONGEST_SEGMENT and (bar := bar_of(plain(segment))):
            return bar
    return None


def bar_of(line: str) -> Bar | None:
    """The last whole bar in a line without control characters, or None."""
    found = None
    for match in _METER.finditer(line):
        found = _bar(match, line[: match.start()]) or found
    return found


def _bar(match: re.Match[str], before: str) -> Bar | None:
    done, total = _number(match["done"]), _number(match["total"] or "")
    if done is None or (match["percent"] is None) != (total is None):
        return None
    if total is None and before.rstrip().endswith(("|", "/")):
        # The end of a bar whose beginning was cut off.
        return None
    rate = _number(match["rate"])
    if rate is not None and match["per"].startswith("s/"):
        rate = 1 / rate if rate else None
    elif "/s" not in match["per"]:
        rate = None
    left = _seconds(match["left"] or "")
    label = before.strip().removesuffix(":").strip()[-_LONGEST_LABEL:]
    return Bar(done, total, rate, left, label)


def _number(text: str) -> float | None:
    if not text or text == "?":
        return None
    found = float(text[:-1]) * _SCALES[text[-1]] if text[-1].isalpha() else float(text)
    return found if math.isfinite(found) else None


def _seconds(text: str) -> float | None:
    if not text or text == "?":
        return None
    days, _, clock = text.rpartition(", ")
    whole = int(days.split()[0]) * 86400.0 if days else 0.0
    for place, part in enumerate(reversed(clock.split(":"))):
        whole += int(part) * 60.0**place
    return whole if whole <= _LONGEST_S else None
