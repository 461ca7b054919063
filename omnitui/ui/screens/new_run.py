"""New run: the variables, the order of passes, and what should be known before it starts."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Button, Static

from omnitui import history, supervise
from omnitui.errors import OmniError
from omnitui.model import RunState
from omnitui.preflight import Preflight
from omnitui.runbook import load
from omnitui.runbook.check import problems
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import asked_for
from omnitui.sanitise import plain
from omnitui.store import RunFolder
from omnitui.ui.messages import AssetsChosen, RunMade, WorkFailed
from omnitui.ui.new_run_messages import EarlierRead, HostChecked, RunbookChecked, RunbookLoaded
from omnitui.ui.preflight_texts import preflight_lines
from omnitui.ui.screens.references import ReferencesScreen
from omnitui.ui.screens.working import Working
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.rows import Cell, Row, RowLine
from omnitui.ui.widgets.schedule_pane import SchedulePane
from omnitui.ui.widgets.variable_field import VariableField

_TYPING_S = 0.3
"""The host is looked at once the typing pauses for so long."""


class NewRunScreen(Working):
    """Asks for all that a run needs. Nothing is made before Start or Make."""

    CSS_PATH = "new_run.tcss"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "make(True)", "start", tooltip="Make the run and start it"),
        Binding("ctrl+o", "make(False)", "make only", tooltip="Make the run without starting it"),
        Binding("ctrl+r", "references", "references", tooltip="Show published results, with their setups"),
        Binding("f2", "assets", "assets", tooltip="Show and download the models and data sets of this run"),
        # At once: what is typed next is for the next field.
        Binding("tab", "app.focus_next", "next field", priority=True, tooltip="Go to the next field"),
        Binding("shift+tab", "app.focus_previous", show=False, priority=True),
        Binding("escape", "app.pop_screen", "back", tooltip="Go back; nothing is made"),
    ]

    def preflight(self, runbook: Runbook, values: Mapping[str, str]) -> list[str]:
        """What on this host would stand in the way."""
        return self._host.look(runbook, values)

    def __init__(self, runbook: str) -> None:
        super().__init__()
        self._wanted = runbook
        self._runbook: Runbook | None = None
        self._host = Preflight()
        self._earlier: tuple[RunState, ...] | None = None
        self._pause: Timer | None = None
        self._checked: RunbookChecked | None = None
        self._warnings: tuple[str, ...] | None = None
        self._looking = False
        self._making = False

    @property
    def checked(self) -> bool:
        """Whether the runbook has been read and checked, and this host and the earlier runs looked at."""
        read = self._runbook is None or self._earlier is not None
        return self._checked is not None and read and not self._looking

    def compose(self) -> ComposeResult:
        """Lay the screen out; the fields come when the runbook is read."""
        yield RowLine(id="title", classes="title")
        yield Static(id="summary", markup=False)
        with Horizontal(id="new"):
            form = VerticalScroll(id="form", classes="pane", can_focus=False)
            form.border_title = "Variables"
            yield form
            with VerticalScroll(id="side", classes="pane", can_focus=False) as side:
                side.border_title = "Before it starts"
                yield Vertical(id="schedule")
                yield Static(id="references", markup=False)
                yield Static(id="preflight", markup=False)
        with Horizontal(id="buttons"):
            yield Button("Start", variant="primary", id="start", compact=True)
            yield Button("Make without starting", id="make", compact=True)
            yield Static(id="in-the-way", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the runbook."""
        self._show_preflight()
        self.run_worker(self._load, thread=True)

    def _load(self) -> None:
        try:
            folder = load.locate(self._wanted)
            found = tuple(f"{problem.key}: {problem.reason}" for problem in problems(folder))
            if not found:
                self.post_message(RunbookLoaded(folder.name, load.load(folder)))
        except OmniError as error:
            self.post_message(WorkFailed(error))
            return
        self.post_message(RunbookChecked(found))
        if not found:
            self._read_earlier(folder.name)

    def _read_earlier(self, name: str) -> None:
        try:
            states = history.earlier(name)
        except OmniError:
            # What cannot be read is not shown; Home tells why.
            states = ()
        self.post_message(EarlierRead(states))

    @property
    def _fields(self) -> list[VariableField]:
        """The fields that the others let ask."""
        fields = list(self.query(VariableField))
        given = {field.variable_name: field.value for field in fields if not field.secret}
        asked = asked_for(self._runbook, given) if self._runbook else frozenset()
        return [field for field in fields if field.variable_name in asked]

    def _values(self) -> dict[str, str]:
        return {field.variable_name: field.value for field in self._fields if not field.secret}

    def _look_at_host(self) -> None:
        """Look at the host for what the fields say now, when every one of them fits."""
        self._pause = None
        runbook, values = self._runbook, self._values()
        if runbook is None:
            return

        def look() -> None:
            try:
                found = self.preflight(runbook, values)
            except OmniError as error:
                found = [str(error)]
            self.post_message(HostChecked(values, tuple(found)))

        self.run_worker(look, thread=True, exclusive=True, group="host")

    def _look_again(self, after_s: float) -> None:
        if self._pause:
            self._pause.stop()
        self._warnings = None
        self._looking = self._runbook is not None and not any(field.refused for field in self._fields)
        # Textual divides by a timer's interval.
        self._pause = self.set_timer(max(after_s, 0.001), self._look_at_host) if self._looking else None

    async def on_runbook_loaded(self, message: RunbookLoaded) -> None:
        """Show the fields."""
        self._runbook = runbook = message.runbook
        head = (Cell("New run", "strong"), Cell(f" · {runbook.title}"), Cell(f" · {message.name}", "muted"))
        self.query_one("#title", RowLine).show(Row("", head))
        self.query_one("#summary", Static).update(Content(plain(runbook.summary)))
        form = self.query_one("#form")
        asked = [name for name, variable in runbook.variables.items() if not variable.handed]
        fields = [VariableField(runbook, name) for name in asked]
        await form.mount_all(fields or [Static("This runbook has no variables.", markup=False)])
        await self.query_one("#schedule").mount(SchedulePane(runbook))
        about = self.query_one("#references", Static)
        about.update(Content(f"Reference results: {len(runbook.references)}, press ctrl+r"))
        about.set_class(bool(runbook.references), "-some")
        self.refresh_bindings()
        self._show_schedule()
        self._show_preflight()
        self._look_again(0.0)
        # Who quits meanwhile has taken all fields away.
        if shown := sorted((field for field in fields if field.display), key=lambda field: not field.refused):
            shown[0].focus_value()

    def on_runbook_checked(self, message: RunbookChecked) -> None:
        """Show what was found."""
        self._checked = message
        self._show_preflight()

    def on_host_checked(self, message: HostChecked) -> None:
        """Show what stands in the way, unless the fields say something else by now."""
        if message.values != self._values():
            return
        self._warnings = message.warnings
        self._looking = False
        self._show_preflight()

    def on_work_failed(self, message: WorkFailed) -> None:
        """Say also beside the fields why there are none."""
        self._making = False
        if self._runbook is None:
            self.query_one("#preflight", Static).update(
                Content.styled(f"✘ {plain(str(message.error))}", "$text-error")
            )

    def on_earlier_read(self, message: EarlierRead) -> None:
        """Show how long it took before."""
        self._earlier = message.states
        self._show_schedule()

    def on_run_made(self, message: RunMade) -> None:
        """Its screen takes the place of this one, not of what was opened over it meanwhile, nor of Home."""
        if self not in self.app.screen_stack:
            message.stop()
            return
        while not self.is_active:
            self.app.pop_screen()

    def on_schedule_pane_changed(self) -> None:
        """Another order, with other steps."""
        self._show_schedule()
        self._show_preflight()

    def on_variable_field_changed(self) -> None:
        """A field may be right now, or wrong; steps may come and go."""
        self._show_schedule()
        self._show_preflight()
        self._look_again(_TYPING_S)

    def _show_schedule(self) -> None:
        whole = not any(field.refused for field in self._fields)
        for pane in self.query(SchedulePane):
            pane.show(self._values(), self._earlier or (), whole=whole)
            asked = self._fields
            for field in self.query(VariableField):
                wanted = field.variable_name not in pane.settled or bool(field.refused)
                field.display = field in asked and wanted

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """References and assets need that the page has some."""
        if action in ("references", "assets"):
            return bool(self._runbook and getattr(self._runbook, action))
        return True

    def action_assets(self) -> None:
        """Show the models and data sets that a run with these values wants."""
        self.post_message(AssetsChosen(self._wanted, tuple(self._values().items())))

    def action_references(self) -> None:
        """Show published results."""
        if self._runbook:
            self.app.push_screen(ReferencesScreen(self._runbook.references))

    def _show_preflight(self) -> None:
        wrong = [(field.variable_name, field.value) for field in self._fields if field.refused]
        refused, order = (wrong if self._runbook else None), bool(self._refused_orders())
        lines = list(preflight_lines(self._checked, self._warnings, refused, order=order))
        self.query_one("#preflight", Static).update(Content("\n").join(lines))
        # On a small screen the rest is out of sight.
        first = next((line for line in lines if line.plain.startswith("✘")), Content(""))
        self.query_one("#in-the-way", Static).update(first)

    def _refused_orders(self) -> list[SchedulePane]:
        return [pane for pane in self.query(SchedulePane) if pane.refused]

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Start, or only make."""
        self.action_make(event.button.id == "start")

    def action_make(self, begin: bool) -> None:
        """Make the run when every value fits; else go to the first that does not."""
        for pane in self.query(SchedulePane):
            pane.take()
        self._show_schedule()
        fields = self._fields
        wrong = next((field for field in fields if field.refused), None)
        if wrong is not None:
            wrong.focus_value()
            self.notify(f"{wrong.variable_name}: {wrong.refused}", severity="error", markup=False)
        elif orders := self._refused_orders():
            orders[0].focus_order()
            self.notify(orders[0].refused, severity="error", markup=False)
        elif self._runbook and not self._making:
            self._making = True
            secrets = {field.variable_name: field.value for field in fields if field.secret and field.value}
            pane, values = self.query_one(SchedulePane), self._values()
            make = partial(supervise.make_run, self._wanted, values, pane.schedule, pane.order)
            self.run_worker(lambda: self._make(make, secrets, begin=begin), thread=True)

    def _make(self, make: Callable[[], RunFolder], secrets: Mapping[str, str], *, begin: bool) -> None:
        try:
            run = make()
            if begin:
                with supervise.beginning(run):
                    supervise.start(run, secrets)
        except OmniError as error:
            self.post_message(WorkFailed(error))
        else:
            self.post_message(RunMade(run.path, tuple(secrets.items())))
