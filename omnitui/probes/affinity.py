"""Where the threads of some processes may run."""

from collections.abc import Iterable

from omnitui.errors import JobError
from omnitui.pinning import AffinityReading
from omnitui.places import Place
from omnitui.places.base import Process


def look(place: Place, processes: Iterable[Process]) -> AffinityReading:
    """One reading of all their threads. What ends during the look is left out."""
    commands = {process.pid: process.command for process in processes}
    try:
        threads = place.affinity(commands)
        if threads is None:
            return AffinityReading(absent="this system tells of no CPUs that a thread keeps to")
        silent = commands.keys() - {one.pid for one in threads}
        unread = [pid for pid in sorted(silent) if (now := place.process(pid)) and not now.zombie]
    except JobError as error:
        return AffinityReading(error=str(error))
    return AffinityReading(tuple(threads), commands, tuple(unread))
