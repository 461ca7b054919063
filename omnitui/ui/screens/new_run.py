"""New run: the variables, the order of passes, and what should be known before it starts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Button, Label, Select, Static

from omnitui import preflight, supervise
from omnitui.errors import OmniError
from omnitui.plan import lay_out, schedule_of
from omnitui.runbook import load
from omnitui.runbook.check import problems
from omnitui.runbook.schema import Runbook
from omnitui.sanitise import plain
from omnitui.ui.messages import RunMade, WorkFailed
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.rows import Cell, Row, RowLine
from omnitui.ui.widgets.variable_field import VariableField


@dataclass
class RunbookLoaded(Message):
    """The runbook of the new run; nothing is wrong with it."""

    name: str
    runbook: Runbook


@dataclass
class RunbookChecked(Message):
    """What was found to be wrong with the runbook."""

    problems: tuple[str, ...]


@dataclass
class HostChecked(Message):
    """What on this host would stand in the way of the run."""

    warnings: tuple[str, ...]


class NewRunScreen(Screen[None]):
    """Asks for all that a run needs. Nothing is made before Start or Make."""

    CSS_PATH = "new_run.tcss"
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "make(True)", "start", tooltip="Make the run and start it"),
        Binding("ctrl+o", "make(False)", "make only", tooltip="Make the run without starting it"),
        Binding("tab", "app.focus_next", "next field", tooltip="Go to the next field"),
        Binding("escape", "app.pop_screen", "back", tooltip="Go back; nothing is made"),
    ]

    @staticmethod
    def preflight(runbook: Runbook, values: Mapping[str, str]) -> list[str]:
        """What on this host would stand in the way."""
        return preflight.preflight(runbook, values)

    def __init__(self, runbook: str) -> None:
        super().__init__()
        self._wanted = runbook
        self._runbook: Runbook | None = None
        self._schedule: str | None = None
        self._checked: RunbookChecked | None = None
        self._warnings: tuple[str, ...] | None = None
        self._looking = False
        self._making = False

    @property
    def checked(self) -> bool:
        """Whether the runbook has been read and checked, and this host looked at."""
        return self._checked is not None and not self._looking

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
                yield Static(id="passes", markup=False)
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

    def _look_at_host(self) -> None:
        fields = list(self.query(VariableField))
        runbook = self._runbook
        self._warnings = None
        self._looking = runbook is not None and not any(field.refused for field in fields)
        if runbook and self._looking:
            values = {field.variable_name: field.value for field in fields if not field.secret}

            def look() -> None:
                try:
                    found = self.preflight(runbook, values)
                except OmniError as error:
                    found = [str(error)]
                self.post_message(HostChecked(tuple(found)))

            self.run_worker(look, thread=True, exclusive=True, group="host")

    async def on_runbook_loaded(self, message: RunbookLoaded) -> None:
        """Show the fields."""
        self._runbook = runbook = message.runbook
        self._schedule = schedule_of(runbook, None).id or None
        head = (Cell("New run", "strong"), Cell(f" · {runbook.title}"), Cell(f" · {message.name}", "muted"))
        self.query_one("#title", RowLine).show(Row("", head))
        self.query_one("#summary", Static).update(Content(plain(runbook.summary)))
        form = self.query_one("#form")
        asked = [name for name, variable in runbook.variables.items() if not variable.handed]
        fields = [VariableField(runbook, name) for name in asked]
        await form.mount_all(fields or [Static("This runbook has no variables.", markup=False)])
        if len(runbook.schedules) > 1:
            choices = [(Content(plain(schedule.title)), schedule.id) for schedule in runbook.schedules]
            select = Select(choices, value=self._schedule or "", allow_blank=False, compact=True, id="schedules")
            await self.query_one("#schedule").mount_all([Label("Schedule"), select])
        self._show_passes()
        self._show_preflight()
        self._look_at_host()
        if fields:
            first = next((field for field in fields if field.refused), fields[0])
            first.query("Input, Select").first().focus()

    def on_runbook_checked(self, message: RunbookChecked) -> None:
        """Show what was found."""
        self._checked = message
        self._show_preflight()

    def on_host_checked(self, message: HostChecked) -> None:
        """Show what stands in the way."""
        self._warnings = message.warnings
        self._looking = False
        self._show_preflight()

    def on_work_failed(self, message: WorkFailed) -> None:
        """Say what could not be done."""
        self._making = False
        self.notify(str(message.error), severity="error", timeout=12, markup=False)
        if self._runbook is None:
            self.query_one("#preflight", Static).update(
                Content.styled(f"✘ {plain(str(message.error))}", "$text-error")
            )

    @on(Select.Changed, "#schedules")
    def _schedule_picked(self, event: "Select.Changed") -> None:
        self._schedule = str(event.value)
        self._show_passes()

    def on_variable_field_changed(self) -> None:
        """A field may be right now, or wrong."""
        self._show_preflight()
        self._look_at_host()

    def _show_passes(self) -> None:
        runbook = self._runbook
        if runbook is None:
            return
        schedule = schedule_of(runbook, self._schedule)
        several = len({entry.partition("/")[0] for entry in schedule.order}) > 1
        lines = [Content.styled(plain(schedule.title) if schedule.order else "No passes", "bold")]
        for number, entry in enumerate(schedule.order, 1):
            series, _, label = entry.partition("/")
            scored = "  not scored" if label in runbook.passes.unscored else ""
            name = f"{series} {label}" if several else label
            lines.append(Content.assemble((f"{number:>3}  ", "$text-muted"), plain(name), (scored, "$text-muted")))
        steps = len(lay_out(runbook, schedule.order))
        lines.append(
            Content.styled(f"{steps} steps in {len(schedule.order)} passes and what comes once", "$text-muted")
        )
        self.query_one("#passes", Static).update(Content("\n").join(lines))

    def _show_preflight(self) -> None:
        lines = list(self._preflight())
        self.query_one("#preflight", Static).update(Content("\n").join(lines))
        # On a small screen the rest is out of sight.
        first = next((line for line in lines if line.plain.startswith("✘")), Content(""))
        self.query_one("#in-the-way", Static).update(first)

    def _preflight(self) -> Iterator[Content]:
        yield Content.styled("Preflight", "bold")
        if self._checked is None:
            yield Content.styled("◌ checking the runbook", "$text-muted")
        elif self._checked.problems:
            yield from (Content.styled(f"✘ {plain(one)}", "$text-error") for one in self._checked.problems)
        else:
            yield Content.styled("✔ the runbook is sound", "$text-success")
        yield from (Content.styled(f"✘ {plain(one)}", "$text-warning") for one in self._warnings or ())
        if self._warnings == ():
            yield Content.styled("✔ nothing on this host stands in the way", "$text-success")
        wrong = [field.variable_name for field in self.query(VariableField) if field.refused]
        if wrong:
            yield Content.styled(f"✘ to be set: {', '.join(wrong)}", "$text-error")
        elif self._runbook:
            yield Content.styled("✔ every variable has a value that fits", "$text-success")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Start, or only make."""
        self.action_make(event.button.id == "start")

    def action_make(self, begin: bool) -> None:
        """Make the run when every value fits; else go to the first that does not."""
        fields = list(self.query(VariableField))
        wrong = next((field for field in fields if field.refused), None)
        if wrong is not None:
            wrong.query("Input, Select").first().focus()
            self.notify(f"{wrong.variable_name}: {wrong.refused}", severity="error", markup=False)
        elif self._runbook and not self._making:
            self._making = True
            values = {field.variable_name: field.value for field in fields if not field.secret}
            secrets = {field.variable_name: field.value for field in fields if field.secret and field.value}
            self.run_worker(lambda: self._make(values, secrets, begin=begin), thread=True)

    def _make(self, values: Mapping[str, str], secrets: Mapping[str, str], *, begin: bool) -> None:
        try:
            run = supervise.make_run(self._wanted, values, self._schedule)
        except OmniError as error:
            self.post_message(WorkFailed(error))
            return
        try:
            if begin:
                supervise.start(run, secrets)
        except OmniError as error:
            self.post_message(WorkFailed(error))
        self.post_message(RunMade(run.path, tuple(secrets.items())))
