"""What the Run screen's workers end in."""

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import Struct
from textual.message import Message

from omnitui.errors import OmniError
from omnitui.notices import Notice
from omnitui.progress import Progress
from omnitui.resumption import Resume
from omnitui.samples import Line
from omnitui.sampling import Watched
from omnitui.snapshot import Snapshot
from omnitui.ui.timeline_texts import Window
from omnitui.verdicts import Gates


@dataclass
class SnapshotRead(Message):
    """A run has changed."""

    snapshot: Snapshot


@dataclass
class MachineRead(Message):
    """The machine has been looked at, or what is to be looked at has changed."""

    lines: tuple[Line, ...]
    watched: Watched
    log_times: Mapping[str, float]
    """When the logs of the servers were last written, in seconds since the epoch."""


@dataclass
class TimelineRead(Message):
    """The telemetry of a window of time has been read."""

    lines: tuple[Line, ...]
    window: Window


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


@dataclass
class JournalRead(Message):
    """The journal has gone on: the gates' history, and what the operator is to be told."""

    gates: Gates
    notices: tuple[Notice, ...]


@dataclass
class ProgressRead(Message):
    """The running step is so far by now; without a step none is running."""

    step_id: str
    progress: Progress | None
