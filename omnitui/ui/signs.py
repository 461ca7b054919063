"""Symbols and words for every state, and times in words. Colour is never the only sign."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple

Tone = Literal["", "strong", "muted", "green", "red", "warn", "blue"]
"""What a piece of text is drawn as; each widget names a theme colour for it."""


class Sign(NamedTuple):
    """How a state is shown."""

    symbol: str
    word: str
    tone: Tone


OUTCOMES: Mapping[str, Sign] = {
    "complete": Sign("✔", "complete", "green"),
    "running": Sign("▶", "running", "blue"),
    "failed": Sign("✘", "failed", "red"),
    "stopped": Sign("■", "stopped", "warn"),
    "interrupted": Sign("◌", "interrupted", "warn"),
    "asking": Sign("?", "asks", "warn"),
    "held": Sign("○", "held", "muted"),
    "corrupt": Sign("✘", "corrupt", "red"),
    "unreadable": Sign("✘", "unreadable", "red"),
}
"""How a run stands."""

GATES: Mapping[str, Sign] = {
    "green": Sign("✔", "green", "green"),
    "red": Sign("✘", "red", "red"),
    "unknown": Sign("◌", "not yet", "blue"),
    "moot": Sign("–", "does not apply", "muted"),
    "to come": Sign("○", "to come", "muted"),
    "stale": Sign("◌", "STALE", "warn"),
}
"""How a gate was read."""


def epoch(stamp: str) -> float:
    """Seconds since the epoch of a stored time (UTC, ISO 8601)."""
    return datetime.fromisoformat(stamp).timestamp()


def span(seconds: float) -> str:
    """A duration in at most seven characters: `0.4s`, `42s`, `6m 05s`, `1h 06m`, `3d 04h`."""
    if 0 <= seconds < 1:
        return f"{seconds:.1f}s"
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    if whole < 86400:
        return f"{whole // 3600}h {whole % 3600 // 60:02}m"
    return f"{whole // 86400}d {whole % 86400 // 3600:02}h"


def spoken(seconds: float) -> str:
    """A long duration as one says it: `42 s`, `6 min`, `2 h 10 min`, `3 d 4 h`."""
    whole = round(seconds)
    if whole < 60:
        return f"{max(1, whole)} s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} d {hours % 24} h"


def clock_span(seconds: float) -> str:
    """A duration as hours, minutes and seconds: `00:41:07`."""
    whole = max(0, int(seconds))
    return f"{whole // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}"


def ago(seconds: float) -> str:
    """How long ago something was, coarse enough to stand still while it is read."""
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds) // 60} min ago"
    if seconds < 86400:
        return f"{int(seconds) // 3600} h ago"
    return f"{int(seconds) // 86400} d ago"
