"""What the New run screen's workers end in."""

from collections.abc import Mapping
from dataclasses import dataclass

from textual.message import Message

from omnitui.model import RunState
from omnitui.runbook.schema import Runbook


@dataclass
class RunbookLoaded(Message):
    """The runbook of the new run; nothing is wrong with it."""

    name: str
    runbook: Runbook


@dataclass
class RunbookChecked(Message):
    """What was found to be wrong with the runbook."""

    problems: tuple[str, ...]


@dataclass
class HostChecked(Message):
    """What on this host would stand in the way of a run with these values."""

    values: Mapping[str, str]
    warnings: tuple[str, ...]


@dataclass
class EarlierRead(Message):
    """The newest runs of the runbook."""

    states: tuple[RunState, ...]
