"""What the Assets screen's workers end in."""

from collections.abc import Mapping
from dataclasses import dataclass

from textual.message import Message

from omnitui.downloads import Event
from omnitui.stock import Shelf, Stock


@dataclass
class ShelfRead(Message):
    """What the runbook wants, and where it keeps it; the cache is being looked at."""

    shelf: Shelf


@dataclass
class StockRead(Message):
    """What a look at the cache told, begun when so many had been asked for."""

    stock: Stock
    looks: int


@dataclass
class DownloadsRead(Message):
    """The downloads at work, and how the last ones ended, by the assets' ids."""

    events: Mapping[str, Event]
