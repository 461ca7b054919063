"""The panes of the Run screen: which are shown, the tabs and keys that lead to them, and the way back."""

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from omnitui.model import Running
from omnitui.ui.layouts import BROAD, NARROW, PANES, PARTS, ROOMY, TALL, Room, arranged
from omnitui.ui.messages import ResultsChosen
from omnitui.ui.screens.live_panes import LivePanes
from omnitui.ui.widgets.checklist import Checklist
from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.server_logs import ServerLogs
from omnitui.ui.widgets.step_pane import StepPane
from omnitui.ui.widgets.tab_row import TabRow

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


class PaneKeys(LivePanes):
    """Arranges the panes. Where there is little room they are tabs; one of them may have the whole screen.

    The focus goes with the key: `Widget.focus` gives it in a moment, and the next key would not be the pane's.
    """

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide"), (BROAD, "-broad")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (TALL, "-tall"), (ROOMY, "-roomy")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, f"open('{part}')", part, tooltip=tip, group=_PANES) for key, part, tip in _PART_KEYS),
        Binding("l", "logs", "logs", tooltip="Go to the logs; again: the next server, step, runner", group=_PANES),
        *(Binding(key, f"pane('{pane}')", word, tooltip=tip, group=_PANES) for key, pane, word, tip in _PANE_KEYS),
        *(
            Binding(key, f"ask_log('{ask}')", show=False, priority=True)
            for key, ask in LogView.ASKS_ANYWHERE.items()
        ),
        Binding("v", "results", "results", tooltip="The passes of this run among all results"),
        Binding("z", "maximise", "zoom", tooltip="Give the pane the whole screen; again, or escape: share it"),
        Binding("f", "follow", "follow", tooltip="Go with the current step again, after you have moved"),
        Binding("escape", "back", "back", tooltip="Go back; stops nothing"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._part = "output"
        self._at = "checklist"
        self._part_chosen = self._maximised = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Within a line that asks, the keys of a log are letters like the others."""
        if action == "ask_log":
            return not isinstance(self.focused, Input)
        return super().check_action(action, parameters)

    def why_not(self, action: str) -> str:
        """The logs need a server, and following needs that the user has moved."""
        now = self.snapshot
        if action == "logs":
            return "" if now and now.state.servers else "No server is at work."
        if action == "follow" and self.is_mounted:
            moved = self._part_chosen or not self.query_one(Checklist).following
            return "" if moved else "It goes with the current step already."
        if action == "results":
            return (
                "" if now and now.outcome == "complete" else "The run is not complete; r on Home lists all passes."
            )
        return super().why_not(action)

    @property
    def typing(self) -> bool:
        """Whether the operator is typing something into a log's line now."""
        return self.query_one("#output", LogView).asks or self.query_one(ServerLogs).asks

    async def action_ask_log(self, action: str) -> None:
        """Let the log at hand ask, wherever the focus is: what is typed behind the key must start nothing."""
        view = self.focused if isinstance(self.focused, LogView) else self._log_at_hand()
        if view is not None:
            await view.run_action(action)

    def _log_at_hand(self) -> LogView | None:
        """The step's output, or else the servers' logs, in view."""
        output, logs = self.query_one("#output", LogView), self.query_one(ServerLogs)
        if output.path is not None:
            self._part = "output"
            self._at, self._part_chosen = self._part, True
        elif self.snapshot and self.snapshot.state.servers:
            self._at = "logs"
        else:
            self.notify("There is no log here to look through.", markup=False)
            return None
        self._arrange()
        return output if self._at == "output" else logs.view

    def watched_changed(self) -> None:
        """A run that names GPUs shows them."""
        self._arrange()

    def on_resize(self, _event: events.Resize) -> None:
        """Panes become tabs where there is little room."""
        self._arrange()

    def _arrange(self) -> None:
        logs = bool(self.snapshot and self.snapshot.state.servers) or self.query_one(ServerLogs).asks
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
        self.set_focus(self.query_one(f"#{part}"))

    def action_pane(self, pane: str) -> None:
        """Go to one of the panes beside the step."""
        self._at = pane
        self._arrange()
        self.set_focus(self.query_one(f"#{pane}"))
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
        view = logs.view
        if self.focused is view:
            logs.next_log()
        self._at = "logs"
        self._arrange()
        self.set_focus(view)

    def _to_checklist(self) -> None:
        self._at = "checklist"
        self._arrange()
        self.set_focus(self.query_one(Checklist))

    def action_results(self) -> None:
        """The passes of this run."""
        self.post_message(ResultsChosen(self.run.name))

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
        elif self.focused is self.query_one(Checklist):
            self.app.pop_screen()
        else:
            self._to_checklist()
