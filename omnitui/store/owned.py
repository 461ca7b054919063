"""A run whose lock is held: the only way to write its state."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from omnitui.errors import OmniError, RunbookError, StoreError, UsageError
from omnitui.model import Identity, RunState
from omnitui.runbook.load import load
from omnitui.store.files import make_folder, replace_file, sync_folder
from omnitui.store.folder import RunFolder, home, now
from omnitui.store.journal import events
from omnitui.store.lock import locked
from omnitui.store.pass_file import write_standings
from omnitui.store.state_file import END, read, to_toml


@dataclass
class Owned:
    """A run whose lock we hold: the only way to write its state."""

    run: RunFolder
    state: RunState
    listeners: list[Callable[[str, Mapping[str, Any]], None]] = field(repr=False, default_factory=list)
    """Are told of every event once it is journalled and the state is saved. Must not raise."""
    _journal: int = field(repr=False, default=-1)
    _told: bool = field(repr=False, default=False)
    _unscored: tuple[str, ...] | None = field(repr=False, default=None)

    def commit(self, event: str, state: RunState | None = None, **facts: object) -> None:
        """Journal an event with what it changed, then save the state. Raises `StoreError`."""
        after = self.state if state is None else state
        changes = _changes(self.state, after)
        line: dict[str, object] = {"t": now(), "event": event, **facts}
        if changes:
            line["set"] = changes
        self._append(line)
        if changes:
            self._save(after)
        self._tell_passes(after)
        self.state = after
        for heard in tuple(self.listeners):
            heard(event, facts)

    def _tell_passes(self, after: RunState) -> None:
        before = self.state
        changed = {scope for scope in after.schedule if after.passes.get(scope) != before.passes.get(scope)}
        if after.steps is not before.steps:
            changed |= {
                key.rpartition("/")[0]
                for key, record in after.steps.items()
                if before.steps.get(key) is not record
            }
        # Whoever had the lock before may have died between the state and these files.
        wanted = [scope for scope in after.schedule if scope in changed or not self._told]
        if not self._told:
            self._unscored = _unscored(self.run)
        self._told = True
        write_standings(self.run, after, wanted, self._unscored)

    def begin(self) -> None:
        """Write the first line of the journal, with the whole state, and the state."""
        self._append({"t": now(), "event": "created", "set": msgspec.to_builtins(self.state)})
        self._save(self.state)

    def restore(self) -> None:
        """Write a state that was rebuilt, and say so in the journal."""
        self._append({"t": now(), "event": "repaired", "set": msgspec.to_builtins(self.state)})
        self._save(self.state)
        self.close()

    def _save(self, state: RunState) -> None:
        replace_file(self.run.state, f"{to_toml(state)}\n{END}\n".encode())

    def _append(self, line: Mapping[str, object]) -> None:
        try:
            if self._journal < 0:
                self._journal = os.open(
                    self.run.journal, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600
                )
                size = os.fstat(self._journal).st_size
                if size and os.pread(self._journal, 1, size - 1) != b"\n":
                    os.write(self._journal, b"\n")
            try:
                data = json.dumps(line, ensure_ascii=False, default=msgspec.to_builtins).encode() + b"\n"
            except UnicodeEncodeError as error:
                raise UsageError(
                    f"{error.object[max(0, error.start - 20) : error.end]!r} is not valid UTF-8"
                ) from error
            if os.write(self._journal, data) != len(data):
                raise StoreError(f"{self.run.journal} cannot be written: the disk is full")
            os.fdatasync(self._journal) if hasattr(os, "fdatasync") else os.fsync(self._journal)
        except OSError as error:
            raise StoreError(f"{self.run.journal} cannot be written: {error.strerror}") from error

    def close(self) -> None:
        """Close the journal; the lock is freed by `owned()`."""
        if self._journal >= 0:
            os.close(self._journal)
            self._journal = -1


def _unscored(run: RunFolder) -> tuple[str, ...] | None:
    """The passes that the run's runbook does not score; None when it cannot be read."""
    try:
        return load(run.runbook).passes.unscored
    except RunbookError:
        return None


def _changes(before: RunState, after: RunState) -> dict[str, object]:
    changed: dict[str, object] = {}
    for name in RunState.__struct_fields__:
        old, new = getattr(before, name), getattr(after, name)
        if old is new or old == new:
            continue
        if name == "steps":
            changed[name] = {
                key: msgspec.to_builtins(record) for key, record in new.items() if old.get(key) != record
            }
        else:
            changed[name] = msgspec.to_builtins(new)
    return changed


@contextmanager
def owned(run: RunFolder, identity: Identity, role: str = "runner", patience_s: float = 1.0) -> Iterator[Owned]:
    """Hold the run's lock and its state. Raises `RunBusy` naming the holder, or `CorruptState`."""
    with locked(run, identity, role, patience_s):
        held = Owned(run, read(run))
        try:
            yield held
        finally:
            held.close()


def create(state: RunState, runbook_folder: Path, files: list[Path]) -> RunFolder:
    """Make a run's folder with its copy of the runbook, its journal and its first state.

    The folder is filled under another name and renamed, so that a run is there whole or not at all.
    """
    parent = home() / "runs"
    make_folder(parent)
    final = RunFolder(parent / state.run)
    try:
        _fill(final, state, runbook_folder, files)
    except OSError as error:
        raise StoreError(f"{final.path} cannot be made: {error.filename or ''} {error.strerror}") from error
    return final


def take_back(run: RunFolder, identity: Identity) -> None:
    """Remove a run that was made and never began. One that anybody took up stays, or whose runner died of a bug.

    It is gone whole; where it cannot be, it stays.
    """
    with (
        suppress(OmniError, OSError),
        locked(run, identity, "command"),
        tempfile.TemporaryDirectory(prefix=".old-", dir=run.path.parent) as scratch,
    ):
        told = run.runner_log.exists() and run.runner_log.stat().st_size
        if [event["event"] for event in events(run)[0]] == ["created"] and not told:
            run.path.rename(Path(scratch) / run.name)


def _fill(final: RunFolder, state: RunState, runbook_folder: Path, files: list[Path]) -> None:
    parent = final.path.parent
    with tempfile.TemporaryDirectory(prefix=".new-", dir=parent) as scratch:
        fresh = RunFolder(Path(scratch) / state.run)
        make_folder(fresh.requests)
        for file in files:
            copy = fresh.runbook / file.relative_to(runbook_folder)
            make_folder(copy.parent)
            copy.write_bytes(file.read_bytes())
            copy.chmod(file.stat().st_mode & 0o700 | 0o600)
        with closing(Owned(fresh, state)) as held:
            held.begin()
        fresh.path.rename(final.path)
        sync_folder(parent)
