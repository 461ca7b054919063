"""The Run screen: the checklist, the selected step, the gates, and the logs of the servers."""

import threading
import time
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.events import Resize
from textual.reactive import reactive

from omnitui import supervise
from omnitui.errors import OmniError
from omnitui.model import Running, Waiting
from omnitui.plan import PlannedStep
from omnitui.runbook.schema import Confirm, Stop
from omnitui.snapshot import Snapshot, Watch
from omnitui.store import RunFolder
from omnitui.ui.run_messages import SnapshotFailed, SnapshotRead
from omnitui.ui.screens.remedy_keys import RemedyKeys
from omnitui.ui.showing import gate_chips, title_row
from omnitui.ui.widgets.banner import Banner, banner_of
from omnitui.ui.widgets.checklist import Checklist
from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.rows import RowLine
from omnitui.ui.widgets.server_logs import ServerLogs
from omnitui.ui.widgets.step_pane import PARTS, StepPane
from omnitui.ui.widgets.tab_row import TabRow

_POLL_S = 0.25
_NARROW, _TALL = 100, 32
_PANES = Binding.Group("panes")
_PART_KEYS = (
    ("c", "command", "Show the step's command"),
    ("o", "output", "Show the step's output"),
    ("n", "notes", "Show the page's note, the gates and the remedies"),
    ("i", "attempts", "Show all attempts; enter opens the output of one"),
)


class RunScreen(RemedyKeys):
    """Shows one run and follows it. One thread reads; everything shown comes from one frozen snapshot."""

    CSS_PATH = ["run.tcss", "../widgets/log_view.tcss"]  # noqa: RUF012
    AUTO_FOCUS = "Checklist"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_NARROW, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (_TALL, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"open('{part}')", part, tooltip=tip, group=_PANES) for key, part, tip in _PART_KEYS),
        Binding("l", "logs", "logs", tooltip="Go to the servers' logs; again for the next server", group=_PANES),
        Binding("f", "follow", "follow", tooltip="Go with the current step again, after you have moved"),
        Binding("escape", "back", "back", tooltip="Go back; stops nothing"),
    ]

    snapshot: reactive[Snapshot | None] = reactive[Snapshot | None](None, init=False)
    """All that is known of the run."""

    @staticmethod
    def clock() -> float:
        """Seconds since the epoch."""
        return time.time()

    def __init__(self, run: RunFolder, secrets: dict[str, str] | None = None) -> None:
        super().__init__()
        self.run = run
        self.secrets = secrets or {}
        self._end = threading.Event()
        self._step_id = ""
        self._part = "output"
        self._at = "checklist"
        self._red = ""
        self._part_chosen = False
        self._keys: object = None

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield RowLine(id="title", classes="title")
        yield Flow(id="gates")
        yield Banner(id="banner")
        yield TabRow(id="tabs")
        with Horizontal(id="panes"):
            checklist = Checklist(id="checklist", classes="pane")
            checklist.border_title = "Checklist"
            yield checklist
            with Vertical(id="right"):
                yield StepPane(id="step", classes="pane")
                logs = ServerLogs(id="logs", classes="pane")
                logs.border_title = "Server log"
                yield logs
        yield KeyBar()

    def on_mount(self) -> None:
        """Begin to read."""
        self._arrange()
        self.run_worker(self._watch_run, thread=True, group="watch")
        self.set_interval(1.0, self._tick)

    def on_unmount(self) -> None:
        """Stop reading."""
        self._end.set()

    def _watch_run(self) -> None:
        watch = Watch(self.run)
        failed = ""
        while not self._end.is_set():
            try:
                if watch.changed():
                    self.post_message(SnapshotRead(watch.take()))
                    failed = ""
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
            self._arrange()

    def _show_red(self, snapshot: Snapshot) -> None:
        """Bring the end of a red step's log to the screen, once, unless the user is somewhere else."""
        red = snapshot.current.id if snapshot.outcome == "failed" and snapshot.current else ""
        if red and red != self._red and self.query_one(Checklist).following:
            self._part = "output"
            if self._narrow and self._at == "checklist":
                self._at = "output"
                self._arrange()
                self.query_one("#output").focus()
        self._red = red

    def _tick(self) -> None:
        """Show what depends on the time."""
        now, snapshot = self.clock(), self.snapshot
        if snapshot is None:
            return
        self.query_one("#title", RowLine).show(title_row(snapshot, now))
        self.query_one("#gates", Flow).show(gate_chips(snapshot, now))
        self.query_one(Checklist).show(snapshot, now)
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

    @property
    def _narrow(self) -> bool:
        return self.size.width < _NARROW

    @property
    def _tabs(self) -> list[tuple[str, str]]:
        tabs = [("checklist", "Checklist")] if self._narrow else []
        logs = bool(self.snapshot and self.snapshot.state.servers)
        short = self._narrow or self.size.height < _TALL
        return [*tabs, *PARTS, *([("logs", "Server log")] if short and logs else [])]

    def on_resize(self, _event: Resize) -> None:
        """Panes become tabs where there is little room."""
        self._arrange()

    def _arrange(self) -> None:
        tabs = self._tabs
        names = [name for name, _ in tabs]
        at = self._at if self._at in names else (names[0] if self._narrow else self._part)
        part = at if at in dict(PARTS) else self._part
        logs_alone = "logs" in names
        self.query_one("#tabs").display = self._narrow
        self.query_one("#step-tabs").display = not self._narrow
        self.query_one("#tabs" if self._narrow else "#step-tabs", TabRow).show_tabs(
            tabs, at if self._narrow or at == "logs" else part
        )
        self.query_one("#checklist").display = not self._narrow or at == "checklist"
        self.query_one("#right").display = not self._narrow or at != "checklist"
        has_logs = bool(self.snapshot and self.snapshot.state.servers)
        self.query_one("#logs").display = has_logs and (at == "logs" or not logs_alone)
        self.query_one("#step").display = not (self._narrow and at == "logs")
        self.query_one(StepPane).open_part("" if at == "logs" and logs_alone else part)

    @on(Flow.Clicked, "#tabs, #step-tabs")
    def _tab_clicked(self, message: Flow.Clicked) -> None:
        if message.key == "checklist":
            self._to_checklist()
        elif message.key == "logs":
            self.action_logs()
        else:
            self.action_open(message.key)

    def action_open(self, part: str) -> None:
        """Show a part of the step and give it the focus."""
        self._part = self._at = part
        self._part_chosen = True
        self._arrange()
        self.query_one(f"#{part}").focus()

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
        """To the checklist, or from there to the screen before this one."""
        if self.query_one(Checklist).has_focus:
            self.app.pop_screen()
        else:
            self._to_checklist()
