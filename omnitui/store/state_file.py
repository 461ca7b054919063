"""`state.toml`: a state as TOML and back. Anything that is not whole is corrupt, never new."""

import tomllib
from functools import lru_cache
from pathlib import Path

import msgspec
import tomli_w

from omnitui.errors import CorruptState, StoreError, UsageError
from omnitui.model import SCHEMA, RunState, StepRecord
from omnitui.store.folder import RunFolder


@lru_cache(maxsize=4096)
def _step_toml(step_id: str, record: StepRecord) -> str:
    # Records are frozen, so a save renders only those that changed: its cost does not grow with the run.
    return tomli_w.dumps({"steps": {step_id: msgspec.to_builtins(record)}})


def to_toml(state: RunState) -> str:
    """The text of `state.toml`."""
    head = msgspec.structs.asdict(state)
    steps = head.pop("steps")
    parts = [tomli_w.dumps(msgspec.to_builtins(head)), *(_step_toml(key, record) for key, record in steps.items())]
    return "\n".join(parts)


def from_toml(text: str, path: Path) -> RunState:
    """Read a state. Raises `CorruptState` for anything that is not whole."""
    repair = f"it is kept; rebuild it with: omnitui repair {path.parent.name}"
    if not text.strip():
        raise CorruptState(f"{path} is empty: the disk was full or the machine was cut; {repair}")
    if "\0" in text:
        raise CorruptState(f"{path} is filled with NUL bytes: it was never written out; {repair}")
    if not text.rstrip().endswith(END):
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


END = "# end"
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
