"""The Run screen: the checklist, the selected step, the gates, and the logs of the servers."""

import threading
import time
from typing import TypeVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.reactive import var
from textual.widget import Widget

from omnitui import supervise
from omnitui.errors import OmniError
from omnitui.model import Waiting
from omnitui.plan import PlannedStep
from omnitui.runbook.schema import Confirm, Stop
from omnitui.sampling import Watched
from omnitui.snapshot import Snapshot, Watch
from omnitui.store import RunFolder
from omnitui.ui.layouts import NARROW
from omnitui.ui.run_messages import MachineRead, SnapshotFailed, SnapshotRead
from omnitui.ui.screens.following import Following
from omnitui.ui.screens.live_panes import MachineWatch, log_times
from omnitui.ui.screens.pane_keys import PaneKeys
from omnitui.ui.showing import gate_chips, title_row
from omnitui.ui.widgets.banner import Banner, banner_of
from omnitui.ui.widgets.checklist import Checklist
from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.gates_pane import GatesPane
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.reading_panes import ReadingPanes
from omnitui.ui.widgets.rows import RowLine
from omnitui.ui.widgets.server_logs import ServerLogs, other_logs
from omnitui.ui.widgets.step_pane import StepPane
from omnitui.ui.widgets.tab_row import TabRow
from omnitui.ui.widgets.timeline import Timeline
from omnitui.viewers import Viewer
from omnitui.watched import watched_of

W = TypeVar("W", bound=Widget)
_POLL_S = 0.25
_SECOND_S = 0.95
"""A timer's second may be a little short."""


class RunScreen(PaneKeys, Following):
    """Shows one run and follows it. One thread reads; everything shown comes from one frozen snapshot."""

    CSS_PATH = ["run.tcss", "../widgets/log_view.tcss"]  # noqa: RUF012
    AUTO_FOCUS = "Checklist"
    snapshot: var[Snapshot | None] = var[Snapshot | None](None, init=False)
    """All that is known of the run."""

    def __init__(self, run: RunFolder, secrets: dict[str, str] | None = None) -> None:
        super().__init__()
        self.run = run
        self.secrets = secrets or {}
        self._end = threading.Event()
        self._unread = False
        self._red = ""
        self._keys: object = None
        self._ticked_at = 0.0

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield RowLine(id="title", classes="title")
        yield Flow(id="gates")
        yield Banner(id="banner")
        yield TabRow(id="tabs")
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield _titled(Checklist(id="checklist", classes="pane"), "Checklist")
                yield _titled(GatesPane(id="gate-pane", classes="pane"), "Gates")
            with Vertical(id="right"):
                yield StepPane(id="step", classes="pane")
                yield _titled(ServerLogs(id="logs", classes="pane"), "Server log")
                yield ReadingPanes(id="readings")
                yield _titled(Timeline(id="timeline", classes="pane"), "Time line")
        yield KeyBar()

    def on_mount(self) -> None:
        """Begin to read."""
        self._arrange()
        self.run_worker(self._watch_run, thread=True, group="watch")
        self.set_interval(1.0, self._each_second)

    def on_unmount(self) -> None:
        """Stop reading."""
        self._end.set()

    def _watch_run(self) -> None:
        with Viewer(self.run) as viewer:
            self._watch_as(viewer)

    def _watch_as(self, viewer: Viewer) -> None:
        watch, machine = Watch(self.run), MachineWatch(self.run, self.clock())
        failed, snapshot, watched = "", None, Watched()
        times: dict[str, float] = {}
        while not self._end.is_set():
            try:
                if changed := watch.changed():
                    snapshot = watch.take()
                    self.post_message(SnapshotRead(snapshot))
                    viewer.watches(live=snapshot.holder is not None)
                    failed = ""
                lines = machine.lines()
                # A server writes its log also while nobody else writes anything.
                before, times = times, log_times(snapshot) if snapshot else {}
                if snapshot is not None and (changed or lines or times != before):
                    watched = watched_of(snapshot.runbook, snapshot.state, self.run) if changed else watched
                    self.post_message(MachineRead(lines, watched, times))
            except OmniError as error:
                if str(error) != failed:
                    failed = str(error)
                    self.post_message(SnapshotFailed(error))
            supervise.reap()
            self._end.wait(_POLL_S)

    def on_snapshot_read(self, message: SnapshotRead) -> None:
        """The run has changed."""
        self._unread = False
        self.snapshot = message.snapshot

    def on_snapshot_failed(self, message: SnapshotFailed) -> None:
        """The run cannot be read."""
        self._unread = True
        self._tick()
        self.query_one(Banner).show("red", ((f"✘ {message.error}", "bold $text-error"),))

    def watch_snapshot(self, snapshot: Snapshot | None) -> None:
        """Hand the pieces down."""
        if snapshot is not None:
            self.query_one(Banner).show(*banner_of(snapshot))
            jobs = snapshot.server_logs()
            servers = {name: job.log for name, job in jobs.items()}
            self.query_one(ServerLogs).show(servers, other_logs(snapshot))
            self._tick()
            self._show_red(snapshot)
            self.tell_outcome(snapshot)
            self._arrange()

    def _show_red(self, snapshot: Snapshot) -> None:
        """Bring the end of a red step's log to the screen, once, unless the user is somewhere else."""
        if self.typing:
            return
        red = snapshot.current.id if snapshot.outcome == "failed" and snapshot.current else ""
        if red and red != self._red and self.query_one(Checklist).following:
            self._part = "output"
            if self.size.width < NARROW and self._at == "checklist":
                self._at = "output"
                self._arrange()
                self.set_focus(self.query_one("#output"))
        self._red = red

    def on_log_prompt_given(self) -> None:
        """Go with what has happened meanwhile; what was typed for the line is no key of the run."""
        self.keys_from_now()
        self.watch_snapshot(self.snapshot)

    def watch_machine(self) -> None:
        """Once a second: the clocks go with the readings, so that the terminal is drawn to once, not twice."""
        super().watch_machine()
        self._tick()

    def _each_second(self) -> None:
        if time.monotonic() - self._ticked_at >= _SECOND_S:
            self._tick()
        self.tick_machine()

    def _tick(self) -> None:
        """Show what depends on the time."""
        now, snapshot = self.clock(), self.snapshot
        self._ticked_at = time.monotonic()
        if snapshot is None:
            return
        self.query_one("#title", RowLine).show(title_row(snapshot, now, unread=self._unread))
        self.query_one("#gates", Flow).show(gate_chips(snapshot, now))
        checklist = self.query_one(Checklist)
        checklist.held = self.typing
        checklist.show(snapshot, now)
        self.query_one(GatesPane).show(snapshot, self.gate_history, now)
        step = self.selected_step()
        if step is not None:
            self.query_one(StepPane).show(snapshot, step, now)
        record = snapshot.record(step) if step else None
        moved = self._part_chosen or not checklist.following
        keys = (snapshot.outcome, snapshot.holder, snapshot.state.servers, checklist.step_id, record, moved)
        if keys != self._keys:
            self._keys = keys
            self.refresh_bindings()

    def selected_step(self) -> PlannedStep | None:
        """The step that the checklist's cursor was last on."""
        if self.snapshot is None:
            return None
        step_id = self.query_one(Checklist).step_id
        return next((planned for planned in self.snapshot.plan if planned.id == step_id), None)

    def on_checklist_step_shown(self) -> None:
        """Show that step; while the run is followed, what it prints, or what it will do."""
        step = self.selected_step()
        if not self._part_chosen and step and self.snapshot:
            silent = isinstance(step.step, Confirm | Stop)
            waiting = isinstance(self.snapshot.record(step).status, Waiting)
            self._part = "command" if waiting or silent else "output"
        self._tick()
        self._arrange()

    def on_checklist_step_opened(self) -> None:
        """Go from the checklist to the step."""
        self.action_open(self._part)

    def on_step_pane_attempt_chosen(self) -> None:
        """Show the output of that attempt."""
        self.action_open("output")
        self._tick()


def _titled(pane: W, title: str) -> W:
    pane.border_title = title
    return pane
