"""The journal, replaying it, and what a live runner is asked."""

from contextlib import suppress
from typing import Any

import msgspec

from omnitui.errors import CorruptState, UsageError
from omnitui.model import SCHEMA, RunState
from omnitui.store.files import make_folder, replace_file
from omnitui.store.folder import RunFolder, now


def ask(run: RunFolder, request: str) -> None:
    """Leave a request (`hold`, `stop`) for the live runner."""
    make_folder(run.requests)
    replace_file(run.requests / request, now().encode())


def drop_old_requests(run: RunFolder) -> None:
    """Forget what was asked of an earlier runner; what is younger than our hold of the lock is meant for us."""
    with suppress(FileNotFoundError):
        held = run.lock.stat().st_mtime_ns
        for file in run.requests.iterdir():
            if file.stat().st_mtime_ns < held:
                file.unlink()


def asked(run: RunFolder) -> set[str]:
    """What the live runner has been asked. A request stays until that runner ends, so that everybody sees it."""
    with suppress(OSError):
        return {file.name for file in run.requests.iterdir() if not file.name.startswith(".")}
    return set()


def forget_requests(run: RunFolder) -> None:
    """Drop the requests: the runner that they were for ends, or another begins."""
    for name in asked(run):
        (run.requests / name).unlink(missing_ok=True)


def events(run: RunFolder, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
    """The journal's whole lines from a byte offset on, and the offset after them. A broken line is left out."""
    try:
        with run.journal.open("rb") as file:
            file.seek(offset)
            data = file.read()
    except FileNotFoundError:
        return [], offset
    whole, newline, _ = data.rpartition(b"\n")
    found = []
    for line in whole.split(b"\n"):
        try:
            event = msgspec.json.decode(line)
        except msgspec.DecodeError:
            continue
        # A line that somebody edited is as broken as one that was cut.
        if (
            isinstance(event, dict)
            and isinstance(event.get("event"), str)
            and isinstance(event.get("set", {}), dict)
            and isinstance(event.get("set", {}).get("steps", {}), dict)
        ):
            found.append(event)
    return found, offset + len(whole) + len(newline)


def replay(run: RunFolder) -> RunState:
    """The state as the journal tells it. Raises `CorruptState` when even its beginning is gone."""
    raw: dict[str, Any] = {}
    lines, _ = events(run)
    for line in lines:
        for name, value in line.get("set", {}).items():
            if name == "steps":
                raw.setdefault("steps", {}).update(value)
            else:
                raw[name] = value
    if "schedule" not in raw:
        raise CorruptState(f"{run.journal} does not hold the beginning of the run; it cannot be rebuilt")
    try:
        state = msgspec.convert(raw, RunState)
    except msgspec.ValidationError as error:
        raise CorruptState(f"{run.journal} does not fit ({error}); it cannot be rebuilt") from error
    if state.schema > SCHEMA:
        raise UsageError(
            f"{run.journal} has schema {state.schema}; this OmniTUI reads {SCHEMA}: use a newer OmniTUI"
        )
    return state
