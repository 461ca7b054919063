"""What the Run screen's workers end in."""

from dataclasses import dataclass

from msgspec import Struct
from textual.message import Message

from omnitui.errors import OmniError
from omnitui.plan import Resume
from omnitui.snapshot import Snapshot


@dataclass
class SnapshotRead(Message):
    """A run has changed."""

    snapshot: Snapshot


@dataclass
class SnapshotFailed(Message):
    """A run cannot be read, or not any more."""

    error: OmniError


class Plans(Struct, frozen=True):
    """How a run can go on: as its runbook says, from the start of the pass, and at the failed step."""

    snapshot: Snapshot
    default: Resume
    start: Resume
    place: Resume
    runbook_changed: bool


@dataclass
class PlansRead(Message):
    """How the run can go on, read a moment ago; `one` when one step is asked for."""

    plans: Plans
    one: bool
