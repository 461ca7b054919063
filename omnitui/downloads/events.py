"""What a download tells of itself."""

from typing import TypeAlias, assert_never

from msgspec import Struct

from omnitui.assets import Wanted, short, sized


class Request(Struct, frozen=True):
    """What is to be fetched, and into which cache."""

    hub: str
    asset: Wanted


class Progress(Struct, frozen=True, tag="progress", tag_field="is"):
    """How far it is. Before the hub has listed the files, `of_files` is 0."""

    files: int = 0
    of_files: int = 0
    size: int = 0
    of_size: int = 0
    """Bytes that are there, and of how many."""
    rate: float = 0.0
    """Bytes a second, over the last ten seconds."""
    left_s: float | None = None
    """Seconds left at that rate; None while there is none."""


class Fetched(Struct, frozen=True, tag="fetched", tag_field="is"):
    """It is there."""

    revision: str
    files: int
    size: int
    seconds: float
    at: float = 0.0
    """When, in seconds since the epoch."""


class NotFetched(Struct, frozen=True, tag="not fetched", tag_field="is"):
    """It ended before all was there; files that were whole are kept."""

    reason: str
    stopped: bool = False
    at: float = 0.0
    """When, in seconds since the epoch; 0 where nobody lived to tell."""


Event: TypeAlias = Progress | Fetched | NotFetched


def line(event: Event) -> str:
    """An event in one line."""
    match event:
        case Progress(of_files=0):
            return "asking the hub for the list of files"
        case Progress(files, of_files, size, of_size, rate, left_s):
            percent = 100 * size // of_size if of_size else 100
            done = f"{percent:3} %  {files} of {of_files} files  {sized(size)} of {sized(of_size)}"
            return done + (f"  {sized(rate)}/s" if rate else "") + (f"  {_span(left_s)} left" if left_s else "")
        case Fetched(revision, files, size, seconds):
            return f"fetched {files} files, {sized(size)}, at {short(revision)} in {_span(seconds)}"
        case NotFetched(reason):
            return reason
        case _:
            assert_never(event)


def _span(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
