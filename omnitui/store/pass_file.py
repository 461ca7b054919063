"""What a run's state says of its collected passes, in small files beside their metrics: nobody reads the states.

The state is the truth; these are written after it, and all of them again whenever somebody takes the run's lock.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from omnitui.errors import StoreError
from omnitui.model import Passed, PassRecord, RunState, Skipped
from omnitui.store.files import replace_file
from omnitui.store.folder import RunFolder

FILE = "standing.json"


class PassStanding(Struct, frozen=True):
    """`passes/<series>/<label>/standing.json`: the pass's marks, and those of its steps that are done."""

    marks: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    """Step ids within the pass, passed or skipped."""


def standing_of(state: RunState, scope: str) -> PassStanding:
    """What the state says of a pass."""
    done = (
        key.removeprefix(f"{scope}/")
        for key, record in state.steps.items()
        if key.startswith(f"{scope}/") and isinstance(record.status, Passed | Skipped)
    )
    return PassStanding(state.passes.get(scope, PassRecord()).marks, tuple(done))


def write_standings(run: RunFolder, state: RunState, scopes: Iterable[str]) -> None:
    """Write it for those of the passes that were collected. Raises `StoreError`."""
    for scope in scopes:
        folder = run.pass_folder(scope)
        if folder.is_dir():
            replace_file(folder / FILE, msgspec.json.encode(standing_of(state, scope)), durable=False)


def read_standing(folder: Path) -> PassStanding | None:
    """What was written into a pass's folder; None when there is nothing. Raises `StoreError`."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=PassStanding)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(f"{folder / FILE} cannot be read: {error}") from error
