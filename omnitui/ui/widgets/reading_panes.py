"""The panes that show the machine and the servers of a run."""

from collections.abc import Iterator, Mapping

from msgspec import Struct
from textual.containers import Horizontal

from omnitui.gates import word_of
from omnitui.machine import Machine
from omnitui.runbook.gates import GpuFree
from omnitui.runbook.schema import Runbook
from omnitui.sampling import Watched
from omnitui.snapshot import Snapshot
from omnitui.ui.gpu_texts import Frame, gpu_rows
from omnitui.ui.host_texts import AppCost, host_rows
from omnitui.ui.server_texts import server_rows
from omnitui.ui.widgets.readings import Readings
from omnitui.ui.widgets.rows import Row

_COME_AND_GO = 4
"""Loads, holders and warnings come and go by the second, a few lines at a time."""
_OF_CARDS = ("foreign process", "throttled")
_OF_HOST = ("foreign load", "swapping")


class View(Struct, frozen=True):
    """All that the panes show, at one time."""

    snapshot: Snapshot
    machine: Machine
    watched: Watched
    log_times: Mapping[str, float]
    app: AppCost
    now: float


class ReadingPanes(Horizontal):
    """GPU, Host and Server beside each other; those that are not displayed are not drawn."""

    def compose(self) -> Iterator[Readings]:
        """Three panes."""
        for name, title in (("gpu", "GPU"), ("host", "Host"), ("server", "Server")):
            pane = Readings(id=name, classes="pane")
            pane.border_title = title
            yield pane

    def show(self, view: View) -> None:
        """Show everything as it is now."""
        for pane in self.query(Readings):
            room = pane.scrollable_content_region
            if pane.display and room.width and room.height:
                pane.show_rows(_rows(pane.id or "", view, room.width, room.height), slack=_COME_AND_GO)


def _rows(name: str, view: View, width: int, height: int) -> tuple[Row, ...]:
    snapshot = view.snapshot
    if name == "server":
        return server_rows(snapshot, view.log_times, view.now)
    kinds = _OF_CARDS if name == "gpu" else _OF_HOST
    frame = Frame(width, height, view.now, *limit_of(snapshot.runbook), marks=_marks(snapshot, kinds))
    if name == "gpu":
        return gpu_rows(view.machine, frame)
    return host_rows(view.machine, frame, view.watched.cpus, view.watched.disk, view.app)


def _marks(snapshot: Snapshot, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """What has marked the pass at work, of these kinds."""
    scope = snapshot.current.scope if snapshot.current else ""
    record = snapshot.state.passes.get(scope)
    return tuple(mark for mark in (record.marks if record else ()) if mark.startswith(kinds))


def limit_of(runbook: Runbook) -> tuple[int | None, str]:
    """The limit in MiB and the word of the gate that says when a GPU of the run is free."""
    gates = [gate for phase in runbook.phases for step in phase.steps for gate in step.gates]
    found = next((gate for gate in gates if isinstance(gate, GpuFree)), None)
    return (found.limit_mib, word_of(found)) if found else (None, "GPU_FREE")
