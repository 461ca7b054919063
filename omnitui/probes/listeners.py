"""Who listens on a TCP port of a place, from the kernel's own tables: no connection is made, no proxy can lie."""

from collections.abc import Iterable
from pathlib import Path

from omnitui.places import Local, Place
from omnitui.readings import PortReading


def look(
    port: int, ours: Iterable[int] = (), proc: Path = Path("/proc/self"), place: Place | None = None
) -> PortReading:
    """The listeners of `port` in the network of `proc`; `ours` are the pids that count as our own."""
    return (place or Local()).listeners(port, ours, proc)
