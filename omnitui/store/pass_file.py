"""What a run's state says of its passes, in small files beside their metrics, so that nobody reads the states.

The state is the truth; these are written after it, and all of them again whenever somebody takes the run's lock.
"""

from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from omnitui.errors import StoreError
from omnitui.model import Passed, PassRecord, Running, RunState, Skipped, StepRecord, Waiting
from omnitui.store.files import make_folder, replace_file
from omnitui.store.folder import RunFolder

FILE = "standing.json"


class PassStanding(Struct, frozen=True):
    """`passes/<series>/<label>/standing.json`: the pass's marks, and those of its steps that are done."""

    marks: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    """Step ids within the pass, passed or skipped."""
    runbook: str = ""
    title: str = ""
    rehearsal: bool = False
    began: str = ""
    """When its first step did, UTC, ISO 8601; empty when none has."""
    scored: bool | None = None
    """Whether the runbook scores it; None where the writer could not read the runbook."""


def standing_of(state: RunState, scope: str) -> PassStanding:
    """What the state says of a pass."""
    mine = {key: record for key, record in state.steps.items() if key.startswith(f"{scope}/")}
    done = [key for key, record in mine.items() if isinstance(record.status, Passed | Skipped)]
    times = [_began(record) for record in mine.values() if not isinstance(record.status, Waiting)]
    return PassStanding(
        marks=state.passes.get(scope, PassRecord()).marks,
        done=tuple(key.removeprefix(f"{scope}/") for key in done),
        runbook=state.runbook,
        title=state.title,
        rehearsal=state.rehearsal,
        began=min(times, default=""),
    )


def _began(record: StepRecord) -> str:
    if isinstance(record.status, Running):
        return record.status.since
    return record.attempts[-1].began if record.attempts else getattr(record.status, "at", "")


def write_standings(
    run: RunFolder, state: RunState, scopes: Iterable[str], unscored: Collection[str] | None
) -> None:
    """Write it for those of the passes that have begun. Raises `StoreError`."""
    for scope in scopes:
        folder = run.pass_folder(scope)
        scored = None if unscored is None else folder.name not in unscored
        found = replace(standing_of(state, scope), scored=scored)
        if found.began or folder.is_dir():
            make_folder(folder)
            replace_file(folder / FILE, msgspec.json.encode(found), durable=False)


def read_standing(folder: Path) -> PassStanding | None:
    """What was written into a pass's folder; None when there is nothing. Raises `StoreError`."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=PassStanding)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(f"{folder / FILE} cannot be read: {error}") from error
