"""What workers end in and what screens ask the app for. Only frozen values travel.

What the Run screen alone sends itself is in `run_messages`: its types would delay the first paint. For the same
reason runs are named by their folders here, and rows are tuples.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from textual.message import Message

from omnitui.errors import OmniError


class RunbookRow(NamedTuple):
    """A runbook that came with OmniTUI; `error` says why it cannot be read."""

    name: str
    title: str
    summary: str
    error: str = ""


class RunRow(NamedTuple):
    """A run as the list of runs shows it. `at` is when it last changed, in seconds since the epoch.

    `runbook` is the folder that it was begun from, or the runbook's id where that is gone.
    """

    run: Path
    title: str
    outcome: str
    where: str
    done: int
    steps: int
    at: float
    runbook: str = ""
    rehearsal: bool = False


@dataclass
class RunbooksRead(Message):
    """The runbooks that came with OmniTUI."""

    rows: tuple[RunbookRow, ...]


@dataclass
class RunsRead(Message):
    """The newest runs, newest first; `more` older ones were not read."""

    rows: tuple[RunRow, ...]
    more: int


@dataclass
class WorkDone(Message):
    """A worker has done what was asked; `said` tells it, or is empty."""

    said: str


@dataclass
class WorkFailed(Message):
    """A worker could not do what was asked."""

    error: OmniError


@dataclass
class RunbookChosen(Message):
    """A new run of this runbook (an id or a folder) is wanted."""

    runbook: str


@dataclass
class AssetsChosen(Message):
    """The Assets screen of this runbook (an id or a folder) is wanted, with values for its variables."""

    runbook: str
    values: tuple[tuple[str, str], ...] = ()


@dataclass
class ResultsChosen(Message):
    """The list of all passes is wanted, those that have a text if one is given."""

    text: str = ""


@dataclass
class PassChosen(Message):
    """The screen of the pass in this folder is wanted."""

    folder: Path


@dataclass
class SamplesChosen(Message):
    """The samples of the pass in this folder are wanted."""

    folder: Path


@dataclass
class ComparisonChosen(Message):
    """Two sides are to be compared, each given by the folders of its passes."""

    a: frozenset[str]
    b: frozenset[str]


@dataclass
class TrendsChosen(Message):
    """The trends of a runbook's metrics on one model of GPU are wanted."""

    runbook: str
    gpu: str


@dataclass
class RunChosen(Message):
    """The Run screen of this run is wanted, with secrets that were typed in already."""

    run: Path
    secrets: tuple[tuple[str, str], ...] = ()


@dataclass
class RunMade(RunChosen):
    """A run was made on the New run screen, which its Run screen replaces."""


@dataclass
class NoticeHeard(Message):
    """The operator is to be told something through the terminal, wherever they look."""

    text: str


@dataclass
class TitleChanged(Message):
    """The window's title is to be another one."""

    title: str
