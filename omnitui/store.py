"""The run folder: its names, the one lock, the durable state, the journal and the requests.

Whoever holds the lock holds the state: `owned()` gives the only object that can write it. Everybody else reads.
The journal carries, with each event, the parts of the state that the event changed; replaying it rebuilds
the state.
"""

import fcntl
import json
import os
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from omnitui.errors import CorruptState, RunBusy, StoreError, UsageError
from omnitui.model import SCHEMA, Identity, RunState, StepRecord

TABLES = ("handed", "servers", "passes")
"""The tables of the state that are small enough to be written whole at each change."""


def now() -> str:
    """The time in UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def home() -> Path:
    """Where runs are kept: `OMNITUI_HOME`, or the XDG data folder."""
    if given := os.environ.get("OMNITUI_HOME"):
        return Path(given).absolute()
    from platformdirs import user_data_path  # noqa: PLC0415 - not needed when OMNITUI_HOME is set

    return user_data_path("omnitui")


@dataclass(frozen=True)
class RunFolder:
    """The names in one run's folder."""

    path: Path

    @property
    def name(self) -> str:
        """The run's id."""
        return self.path.name

    @property
    def state(self) -> Path:
        """The truth."""
        return self.path / "state.toml"

    @property
    def journal(self) -> Path:
        """Every transition and decision, one JSON object a line."""
        return self.path / "journal.jsonl"

    @property
    def lock(self) -> Path:
        """Held by the process that owns the run."""
        return self.path / "lock"

    @property
    def requests(self) -> Path:
        """What a live runner is asked."""
        return self.path / "requests"

    @property
    def live(self) -> Path:
        """The gates' last readings; not durable."""
        return self.path / "live.json"

    @property
    def runbook(self) -> Path:
        """The runbook as it was when the run began."""
        return self.path / "runbook"

    @property
    def runner_log(self) -> Path:
        """What the runner itself printed: empty unless it met a bug."""
        return self.path / "runner.log"

    def job(self, step_id: str, attempt: int) -> Path:
        """The folder of one attempt."""
        return self.path / "jobs" / step_id / str(attempt)

    def pass_folder(self, pass_id: str) -> Path:
        """Provenance, metrics and verdict of one pass (`series/label`)."""
        return self.path / "passes" / pass_id


def runs() -> list[RunFolder]:
    """All runs, newest first. Folders without state and journal are not runs."""
    try:
        entries = sorted((home() / "runs").iterdir(), reverse=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{home() / 'runs'} cannot be read: {error.strerror}") from error
    found = (RunFolder(entry) for entry in entries)
    return [run for run in found if run.state.exists() or run.journal.exists()]


def find(name: str | None) -> RunFolder:
    """The run with this id, a unique beginning of it, or its folder; without a name, the newest."""
    if name and (Path(name) / "journal.jsonl").exists():
        return RunFolder(Path(name).absolute())
    known = runs()
    if not known:
        raise UsageError(f"there are no runs in {home() / 'runs'}; start one with: omnitui run RUNBOOK")
    if name is None:
        return known[0]
    fits = [run for run in known if run.name == name] or [run for run in known if run.name.startswith(name)]
    if len(fits) != 1:
        raise UsageError(f"{len(fits)} runs begin with {name!r}; `omnitui runs` lists them")
    return fits[0]


# -- durable files ---------------------------------------------------------------------------------------------


def replace_file(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write `path` so that it holds either its old or its new content, whatever happens."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        fresh.replace(path)
        if durable:
            _sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise StoreError(f"{path} cannot be written: {error.strerror}; free space or fix its rights") from error


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_folder(path: Path) -> None:
    """Create a private folder with its parents, which are private too."""
    if path.is_dir():
        return
    make_folder(path.parent)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be made: {error.strerror}; set OMNITUI_HOME to a writable folder"
        ) from error


def move_aside(paths: Iterable[Path]) -> list[Path]:
    """Rename each existing path to `NAME-incomplete`, `-incomplete-2`, ...; nothing is deleted or overwritten."""
    moved = []
    for path in paths:
        if not (path.exists() or path.is_symlink()):
            continue
        aside = path.with_name(f"{path.name}-incomplete")
        number = 2
        while aside.exists() or aside.is_symlink():
            aside = path.with_name(f"{path.name}-incomplete-{number}")
            number += 1
        try:
            path.rename(aside)
        except OSError as error:
            raise StoreError(
                f"{path} cannot be moved aside: {error.strerror}; move it by hand, then resume"
            ) from error
        moved.append(aside)
    return moved


# -- the state as TOML -----------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _step_toml(step_id: str, record: StepRecord) -> str:
    # Records are frozen, so a save renders only those that changed: its cost does not grow with the run.
    return tomli_w.dumps({"steps": {step_id: _built_in(record)}})


def _built_in(value: object) -> Any:
    # TOML has no null, so fields at their default are simply left out by `omit_none`-like builtins.
    return msgspec.to_builtins(value)


def to_toml(state: RunState) -> str:
    """The text of `state.toml`."""
    head = msgspec.structs.asdict(state)
    steps = head.pop("steps")
    parts = [tomli_w.dumps(_built_in(head)), *(_step_toml(key, record) for key, record in steps.items())]
    return "\n".join(parts)


def from_toml(text: str, path: Path) -> RunState:
    """Read a state. Raises `CorruptState` for anything that is not whole."""
    repair = f"it is kept; rebuild it with: omnitui repair {path.parent.name}"
    if not text.strip():
        raise CorruptState(f"{path} is empty: the disk was full or the machine was cut; {repair}")
    if "\0" in text:
        raise CorruptState(f"{path} is filled with NUL bytes: it was never written out; {repair}")
    if not text.rstrip().endswith(_END):
        raise CorruptState(f"{path} is cut: its last line is missing; {repair}")
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CorruptState(f"{path} is not TOML ({error}); {repair}") from error
    schema = raw.get("schema")
    if isinstance(schema, int) and schema > SCHEMA:
        raise UsageError(f"{path} has schema {schema}; this OmniTUI reads {SCHEMA}: use a newer OmniTUI")
    try:
        return msgspec.convert(raw, RunState)
    except msgspec.ValidationError as error:
        raise CorruptState(f"{path} does not fit ({error}); {repair}") from error


_END = "# end"
"""The last line of a state file: many prefixes of a TOML file are valid TOML."""


def read(run: RunFolder) -> RunState:
    """The state of a run. Raises `CorruptState`; never makes a new one up."""
    try:
        text = run.state.read_bytes().decode()
    except FileNotFoundError as error:
        raise CorruptState(f"{run.state} is missing; rebuild it with: omnitui repair {run.name}") from error
    except UnicodeDecodeError as error:
        raise CorruptState(
            f"{run.state} is not text ({error.reason}); it is kept; rebuild it with: omnitui repair {run.name}"
        ) from error
    except OSError as error:
        raise StoreError(f"{run.state} cannot be read: {error.strerror}") from error
    return from_toml(text, run.state)


# -- the lock --------------------------------------------------------------------------------------------------


class Holder(msgspec.Struct, frozen=True):
    """Who holds a run."""

    role: str
    host: str
    identity: Identity


def holder(run: RunFolder) -> Holder | None:
    """Who holds the lock now, or nobody. A lock that is held but not yet named reads as an unnamed holder."""
    try:
        fd = os.open(run.lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _named_holder(os.pread(fd, 4096, 0))
        return None
    finally:
        os.close(fd)


def _named_holder(data: bytes) -> Holder:
    try:
        return msgspec.json.decode(data, type=Holder)
    except msgspec.MsgspecError:
        return Holder(role="process", host="", identity=Identity(pid=0, start=0, boot=""))


def _take(run: RunFolder, role: str, identity: Identity, patience_s: float) -> int:
    # Python's descriptors are not inherited, so no child of ours can keep the lock.
    try:
        fd = os.open(run.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"{run.lock} cannot be opened: {error.strerror}") from error
    until = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # A reader that asks who holds the lock holds it itself for an instant.
            if time.monotonic() > until:
                other = _named_holder(os.pread(fd, 4096, 0))
                os.close(fd)
                raise RunBusy(
                    f"run {run.name} is held by a {other.role} (pid {other.identity.pid} on {other.host}); "
                    f"watch it with: omnitui attach {run.name}"
                ) from None
            time.sleep(0.01)
        else:
            data = msgspec.json.encode(Holder(role=role, host=os.uname().nodename, identity=identity))
            try:
                os.ftruncate(fd, 0)
                os.pwrite(fd, data, 0)
            except OSError as error:
                os.close(fd)
                raise StoreError(f"{run.lock} cannot be written: {error.strerror}; free space") from error
            return fd


@dataclass
class Owned:
    """A run whose lock we hold: the only way to write its state."""

    run: RunFolder
    state: RunState
    _journal: int = field(repr=False, default=-1)

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
        self.state = after

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
        replace_file(self.run.state, f"{to_toml(state)}\n{_END}\n".encode())

    def _append(self, line: Mapping[str, object]) -> None:
        try:
            if self._journal < 0:
                self._journal = os.open(
                    self.run.journal, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600
                )
                size = os.fstat(self._journal).st_size
                if size and os.pread(self._journal, 1, size - 1) != b"\n":
                    os.write(self._journal, b"\n")
            data = json.dumps(line, ensure_ascii=False, default=msgspec.to_builtins).encode() + b"\n"
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
def locked(run: RunFolder, identity: Identity, role: str, patience_s: float = 1.0) -> Iterator[None]:
    """Hold the run's lock. Raises `RunBusy` naming the holder."""
    lock = _take(run, role, identity, patience_s)
    try:
        yield
    finally:
        os.close(lock)


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
        _sync_folder(parent)


# -- requests and the journal ----------------------------------------------------------------------------------


def ask(run: RunFolder, request: str) -> None:
    """Leave a request (`hold`, `stop`) for the live runner."""
    make_folder(run.requests)
    replace_file(run.requests / request, now().encode())


def take_requests(run: RunFolder) -> set[str]:
    """Consume what was asked."""
    taken = set()
    with suppress(FileNotFoundError):
        for file in run.requests.iterdir():
            if not file.name.startswith("."):
                file.unlink(missing_ok=True)
                taken.add(file.name)
    return taken


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
        if isinstance(event, dict):
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
        return msgspec.convert(raw, RunState)
    except msgspec.ValidationError as error:
        raise CorruptState(f"{run.journal} does not fit ({error}); it cannot be rebuilt") from error
