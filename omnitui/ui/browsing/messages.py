"""What the workers of the browser's screens end in, and what those screens ask the app for."""

from dataclasses import dataclass

from textual.message import Message

from omnitui.ui.browsing.view import Found


@dataclass
class PassesRead(Message):
    """Rows of the list of all passes."""

    found: Found


@dataclass
class IndexChanged(Message):
    """Somebody has written to the catalog."""


@dataclass
class SeriesRead(Message):
    """The passes of a series, to be put on a side of the comparison."""

    side: str
    folders: frozenset[str]
