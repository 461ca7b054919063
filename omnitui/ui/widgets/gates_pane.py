"""The gates of a run, each with its verdict, its last reading and its age."""

from omnitui.snapshot import Snapshot
from omnitui.ui.widgets.readings import Readings


class GatesPane(Readings):
    """Shows what `show` was last given."""

    def show(self, snapshot: Snapshot, now: float) -> None:
        """Show the gates of a run; `now` is in seconds since the epoch."""
