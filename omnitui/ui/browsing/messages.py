"""What the workers of the browser's screens end in."""

from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message

from omnitui.results.alignment import Aligned
from omnitui.results.judging.compare import Comparison
from omnitui.results.samples import SampleSet
from omnitui.results.waveform import Waveform
from omnitui.ui.browsing.one_pass import Details
from omnitui.ui.browsing.trends import Trend
from omnitui.ui.browsing.view import Found


@dataclass
class PassesRead(Message):
    """Rows of the list of all passes, asked for after so many `changes` of the index were heard of."""

    found: Found
    changes: int


@dataclass
class IndexChanged(Message):
    """Somebody has written to the catalog."""


@dataclass
class SeriesRead(Message):
    """The passes of a series, to be put on a side of the comparison."""

    side: str
    folders: frozenset[str]


@dataclass
class DetailsRead(Message):
    """All that is stored of one pass."""

    found: Details


@dataclass
class ComparisonRead(Message):
    """Two sides were compared, waving `despite` through."""

    found: Comparison
    sides: tuple[frozenset[str], frozenset[str]]
    despite: frozenset[str]


@dataclass
class SampleSetsRead(Message):
    """The samples of a pass."""

    sets: tuple[SampleSet, ...]


@dataclass
class SampleSeen(Message):
    """One sample was aligned, and its sound read. Two workloads may have samples of one name."""

    workload: int
    id: str
    aligned: Aligned | None
    sound: Waveform | None


@dataclass
class TrendRead(Message):
    """The passes of a runbook on one model of GPU."""

    trend: Trend


@dataclass
class FileThere(Message):
    """A file that was to be written is there already; `tell` gives its text in a format."""

    file: str
    tell: Callable[[str], str]
