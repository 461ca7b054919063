"""The models and data sets of a page: which ones a run wants, what can be known of one, in words. Pure."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, assert_never

from msgspec import Struct

from omnitui.runbook.schema import Asset, Runbook
from omnitui.runbook.variables import expand

_SHORT = 8
NAMED = 3
"""How many missing files are named before the rest is counted."""


class Wanted(Struct, frozen=True):
    """One asset, with its variables replaced."""

    id: str
    repo: str
    kind: Literal["model", "dataset"] = "model"
    revision: str = ""
    """The commit; empty where the page pins none: then it is whatever `refs/main` says."""
    ref_main: bool = False
    private: bool = False
    note: str = ""


# -- what can be known of one -----------------------------------------------------------------------------------


class Cached(Struct, frozen=True, tag="cached", tag_field="is"):
    """It is there, whole. `size` is in bytes; `proof` says what its files were held against."""

    revision: str
    files: int
    size: int
    proof: str


class OtherRevision(Struct, frozen=True, tag="other revision", tag_field="is"):
    """The wanted commit is not there, only others."""

    wanted: str
    found: tuple[str, ...]


class Partial(Struct, frozen=True, tag="partial", tag_field="is"):
    """The commit is there, but these files of it are not, or not whole."""

    revision: str
    missing: tuple[str, ...]


class OtherMain(Struct, frozen=True, tag="other main", tag_field="is"):
    """It is there, but `refs/main` is missing (empty) or says something else: loading it by name fails offline."""

    revision: str
    main: str


class Absent(Struct, frozen=True, tag="absent", tag_field="is"):
    """Nothing of it is there."""


class Unread(Struct, frozen=True, tag="unread", tag_field="is"):
    """It could not be looked at."""

    reason: str


State: TypeAlias = Cached | OtherRevision | Partial | OtherMain | Absent | Unread


class Found(Struct, frozen=True):
    """One asset, and what a look at the cache told of it."""

    asset: Wanted
    state: State


class AssetsReading(Struct, frozen=True):
    """The assets of a run as the cache has them, or why there is no reading."""

    assets: tuple[Found, ...] = ()
    error: str = ""


# -- in words -------------------------------------------------------------------------------------------------


def wanted_of(runbook: Runbook, values: Mapping[str, str], ids: tuple[str, ...] = ()) -> tuple[Wanted, ...]:
    """The assets of a runbook that was narrowed to one run, or those with these ids. Raises `UsageError`."""
    return tuple(_wanted(asset, values) for asset in runbook.assets if not ids or asset.id in ids)


def _wanted(asset: Asset, values: Mapping[str, str]) -> Wanted:
    return Wanted(
        id=asset.id,
        repo=expand(asset.repo, values),
        kind=asset.kind,
        revision=expand(asset.revision, values),
        ref_main=asset.ref_main,
        private=asset.private,
        note=asset.note,
    )


def short(revision: str) -> str:
    """The beginning of a commit, which is enough to tell it from others."""
    return revision[:_SHORT]


def sized(size: float) -> str:
    """A number of bytes in decimal units, as the hub's pages show it."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def said(found: Found) -> str:
    """What a look told, in one line."""
    match found.state:
        case Cached(revision, files, size, proof):
            return f"{files} file{'s' * (files != 1)}, {sized(size)} at {short(revision)}: {proof}"
        case OtherRevision(wanted, revisions):
            return f"{short(wanted)} is not there, only {', '.join(map(short, revisions))}"
        case Partial(revision, missing):
            more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
            return f"at {short(revision)} not whole: {', '.join(missing[:NAMED])}{more}"
        case OtherMain(revision, main):
            what = (
                f"says {short(main)!r}, not {short(revision)}" if main.strip() != revision else "ends in a blank"
            )
            return f"refs/main {what if main else 'is missing'}: loading by name fails offline"
        case Absent():
            return "not there"
        case Unread(reason):
            return f"cannot be looked at: {reason}"
        case _:
            assert_never(found.state)


def sign(state: State) -> tuple[str, str]:
    """A symbol and a word for a state: its colour is never the only sign."""
    return _SIGNS[type(state)]


_SIGNS: Mapping[type, tuple[str, str]] = {
    Cached: ("✔", "cached"),
    OtherRevision: ("≠", "other revision"),
    Partial: ("◐", "partial"),
    OtherMain: ("≠", "refs/main"),
    Absent: ("○", "missing"),
    Unread: ("◌", "unknown"),
}
