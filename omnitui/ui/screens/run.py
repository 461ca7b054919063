"""The Run screen: the checklist, the selected step, the gates, and the logs of the servers."""

import threading
from typing import ClassVar, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.reactive import var
from textual.widget import Widget

from omnitui import supervise
from omnitui.errors import OmniError
from omnitui.model import Running, Waiting
from omnitui.plan import PlannedStep
from omnitui.runbook.schema import Confirm, Stop
from omnitui.sampling import Watched
from omnitui.snapshot import Snapshot, Watch
from omnitui.store import RunFolder
from omnitui.ui.layouts import BROAD, NARROW, PANES, PARTS, ROOMY, TALL, Room, arranged
from omnitui.ui.run_messages import MachineRead, SnapshotFailed, SnapshotRead
from omnitui.ui.screens.following import Following
from omnitui.ui.screens.live_panes import LivePanes, MachineWatch, log_times
from omnitui.ui.showing import gate_chips, title_row
from omnitui.ui.widgets.banner import Banner, banner_of
from omnitui.ui.widgets.checklist import Checklist
from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.gates_pane import GatesPane
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.reading_panes import ReadingPanes
from omnitui.ui.widgets.rows import RowLine
from omnitui.ui.widgets.server_logs import ServerLogs
from omnitui.ui.widgets.step_pane import StepPane
from omnitui.ui.widgets.tab_row import TabRow
from omnitui.ui.widgets.timeline import Timeline
from omnitui.watched import watched_of

W = TypeVar("W", bound=Widget)
_POLL_S = 0.25
_PANES = Binding.Group("panes")
_PART_KEYS = (
    ("c", "command", "Show the step's command"),
    ("o", "output", "Show the step's output"),
    ("n", "notes", "Show the page's note, the gates and the remedies"),
    ("i", "attempts", "Show all attempts; enter opens the output of one"),
)
_PANE_KEYS = (
    ("1", "gpu", "GPU", "Go to the GPUs: memory, load, clocks, and who holds them"),
    ("2", "host", "host", "Go to the host: CPUs, memory, disks, and what OmniTUI itself takes"),
    ("3", "server", "server", "Go to the servers: health, port, model, restarts, silence"),
    ("4", "gate-pane", "gates", "Go to the gates: verdict, last reading, age"),
    ("5", "timeline", "time line", "Go to the run's telemetry over its steps"),
)


class RunScreen(LivePanes, Following):
    """Shows one run and follows it. One thread reads; everything shown comes from one frozen snapshot."""

    CSS_PATH = ["run.tcss", "../widgets/log_view.tcss"]  # noqa: RUF012
    AUTO_FOCUS = "Checklist"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide"), (BROAD, "-broad")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (TALL, "-tall"), (ROOMY, "-roomy")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"open('{part}')", part, tooltip=tip, group=_PANES) for key, part, tip in _PART_KEYS),
        Binding("l", "logs", "logs", tooltip="Go to the servers' logs; again for the next server", group=_PANES),
        *(Binding(key, f"pane('{pane}')", word, tooltip=tip, group=_PANES) for key, pane, word, tip in _PANE_KEYS),
        Binding("z", "maximise", "zoom", tooltip="Give the pane the whole screen; again, or escape: share it"),
        Binding("f", "follow", "follow", tooltip="Go with the current step again, after you have moved"),
        Binding("escape", "back", "back", tooltip="Go back; stops nothing"),
    ]

    snapshot: var[Snapshot | None] = var[Snapshot | None](None, init=False)
    """All that is known of the run."""

    def __init__(self, run: RunFolder, secrets: dict[str, str] | None = None) -> None:
        super().__init__()
        self.run = run
        self.secrets = secrets or {}
        self._end = threading.Event()
        self._step_id = ""
        self._part = "output"
        self._at = "checklist"
        self._red = ""
        self._part_chosen = self._maximised = False
        self._keys: object = None

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
        watch, machine = Watch(self.run), MachineWatch(self.run, self.clock())
        failed, snapshot, watched = "", None, Watched()
        while not self._end.is_set():
            try:
                if changed := watch.changed():
                    snapshot = watch.take()
                    self.post_message(SnapshotRead(snapshot))
                    failed = ""
                lines = machine.lines()
                if snapshot is not None and (changed or lines):
                    watched = watched_of(snapshot.runbook, snapshot.state, self.run) if changed else watched
                    self.post_message(MachineRead(lines, watched, log_times(snapshot)))
            except OmniError as error:
                if str(error) != failed:
                    failed = str(error)
                    self.post_message(SnapshotFailed(error))
            supervise.reap()
            self._end.wait(_POLL_S)

    def on_snapshot_read(self, message: SnapshotRead) -> None:
        """The run has changed."""
        self.snapshot = message.snapshot

    def on_snapshot_failed(self, message: SnapshotFailed) -> None:
        """The run cannot be read."""
        self.query_one(Banner).show("red", ((f"✘ {message.error}", "bold $text-error"),))

    def watch_snapshot(self, snapshot: Snapshot | None) -> None:
        """Hand the pieces down."""
        if snapshot is not None:
            self.query_one(Banner).show(*banner_of(snapshot))
            jobs = snapshot.server_logs()
            self.query_one(ServerLogs).show({name: job.log for name, job in jobs.items()})
            self._tick()
            self._show_red(snapshot)
            self.tell_outcome(snapshot)
            self._arrange()

    def _show_red(self, snapshot: Snapshot) -> None:
        """Bring the end of a red step's log to the screen, once, unless the user is somewhere else."""
        red = snapshot.current.id if snapshot.outcome == "failed" and snapshot.current else ""
        if red and red != self._red and self.query_one(Checklist).following:
            self._part = "output"
            if self.size.width < NARROW and self._at == "checklist":
                self._at = "output"
                self._arrange()
                self.query_one("#output").focus()
        self._red = red

    def _each_second(self) -> None:
        self._tick()
        self.tick_machine()

    def _tick(self) -> None:
        """Show what depends on the time."""
        now, snapshot = self.clock(), self.snapshot
        if snapshot is None:
            return
        self.query_one("#title", RowLine).show(title_row(snapshot, now))
        self.query_one("#gates", Flow).show(gate_chips(snapshot, now))
        self.query_one(Checklist).show(snapshot, now)
        self.query_one(GatesPane).show(snapshot, self.gate_history, now)
        step = self.selected_step()
        if step is not None:
            self.query_one(StepPane).show(snapshot, step, now)
        record = snapshot.record(step) if step else None
        moved = self._part_chosen or not self.query_one(Checklist).following
        keys = (snapshot.outcome, snapshot.holder, snapshot.state.servers, self._step_id, record, moved)
        if keys != self._keys:
            self._keys = keys
            self.refresh_bindings()

    def selected_step(self) -> PlannedStep | None:
        """The step that the checklist's cursor was last on."""
        plan = self.snapshot.plan if self.snapshot else ()
        return next((planned for planned in plan if planned.id == self._step_id), None)

    def on_checklist_step_shown(self, message: Checklist.StepShown) -> None:
        """Show that step; while the run is followed, what it prints, or what it will do."""
        self._step_id = message.step_id
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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The logs need a server, and following needs that the user has moved."""
        if action == "logs":
            return True if self.snapshot and self.snapshot.state.servers else None
        if action == "follow" and self.is_mounted:
            return True if self._part_chosen or not self.query_one(Checklist).following else None
        return super().check_action(action, parameters)

    # -- panes and tabs ----------------------------------------------------------------------------------------

    def watched_changed(self) -> None:
        """A run that names GPUs shows them."""
        self._arrange()

    def on_resize(self, _event: Resize) -> None:
        """Panes become tabs where there is little room."""
        self._arrange()

    def _arrange(self) -> None:
        logs = bool(self.snapshot and self.snapshot.state.servers)
        room = Room(self.size.width, self.size.height, logs, gpu=bool(self._watched.gpus))
        found = arranged(room, self._at, self._part, maximised=self._maximised)
        for pane in ("checklist", "step", *dict(PANES)):
            self.query_one(f"#{pane}").display = pane in found.shown
        left = found.shown & {"checklist", "gate-pane"}
        self.query_one("#left").display = bool(left)
        self.query_one("#right").display = found.shown != left
        self.query_one("#readings").display = bool(found.shown & {"gpu", "host", "server"})
        self.set_class(len(found.shown) == 1, "-alone")
        self.query_one("#tabs").display = found.tabs_over
        self.query_one("#step-tabs").display = not found.tabs_over
        tabs = self.query_one("#tabs" if found.tabs_over else "#step-tabs", TabRow)
        tabs.show_tabs(found.tabs, found.opened)
        self.query_one(StepPane).open_part(self._part)
        self.call_after_refresh(self.show_readings)

    @on(Flow.Clicked, "#tabs, #step-tabs")
    def _tab_clicked(self, message: Flow.Clicked) -> None:
        if message.key == "checklist":
            self._to_checklist()
        elif message.key == "logs":
            self.action_logs()
        elif message.key in dict(PARTS):
            self.action_open(message.key)
        else:
            self.action_pane(message.key)

    def action_open(self, part: str) -> None:
        """Show a part of the step and give it the focus."""
        self._part = self._at = part
        self._part_chosen = True
        self._arrange()
        self.query_one(f"#{part}").focus()

    def action_pane(self, pane: str) -> None:
        """Go to one of the panes beside the step."""
        self._at = pane
        self._arrange()
        self.query_one(f"#{pane}").focus()
        self.call_after_refresh(self.read_timeline)

    def action_maximise(self) -> None:
        """Give the whole room to the pane with the focus, or share it again."""
        focused = self.focused
        within = [*focused.ancestors_with_self] if focused else []
        names = [one.id for one in within if one.id in {"checklist", *dict(PARTS), *dict(PANES)}]
        self._maximised = not self._maximised
        self._at = names[0] or self._at if names else self._at
        self._arrange()

    def action_logs(self) -> None:
        """Go to the servers' logs, or to the next of them."""
        logs = self.query_one(ServerLogs)
        view = logs.query_one(LogView)
        if view.has_focus:
            logs.next_log()
        self._at = "logs"
        self._arrange()
        view.focus()

    def _to_checklist(self) -> None:
        self._at = "checklist"
        self._arrange()
        self.query_one(Checklist).focus()

    def action_follow(self) -> None:
        """Go with the current step again."""
        self._part_chosen = False
        self.query_one(Checklist).follow()
        running = self.snapshot and any(isinstance(r.status, Running) for r in self.snapshot.state.steps.values())
        self._part = "output" if running else self._part
        self._arrange()

    def action_back(self) -> None:
        """To the other panes, to the checklist, or from there to the screen before this one."""
        if self._maximised:
            self.action_maximise()
        elif self.query_one(Checklist).has_focus:
            self.app.pop_screen()
        else:
            self._to_checklist()


def _titled(pane: W, title: str) -> W:
    pane.border_title = title
    return pane
