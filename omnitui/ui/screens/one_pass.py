"""One pass: its figures, coverage and provenance, the machine meanwhile, what ran exactly, its logs."""

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content

from omnitui.sanitise import plain
from omnitui.ui.browsing import one_pass
from omnitui.ui.browsing.messages import DetailsRead
from omnitui.ui.browsing.one_pass import Details
from omnitui.ui.browsing.one_pass_rows import coverage_rows, metric_rows, provenance_rows, script_rows, title_row
from omnitui.ui.messages import RunChosen, SamplesChosen
from omnitui.ui.run_messages import TimelineRead
from omnitui.ui.screens.exporting import Exporting
from omnitui.ui.timeline_texts import Window, stretches_of
from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.passage import Passage
from omnitui.ui.widgets.rows import RowLine
from omnitui.ui.widgets.tab_row import TabRow
from omnitui.ui.widgets.timeline import Timeline

TABS = (
    ("metrics", "Metrics"),
    ("coverage", "Coverage"),
    ("provenance", "Provenance"),
    ("timeline", "Time"),
    ("scripts", "Ran"),
    ("log", "Logs"),
)
_TABS = Binding.Group("tabs")


class OnePassScreen(Exporting):
    """Everything but telemetry and logs is read once, by a thread."""

    CSS_PATH = ["one_pass.tcss", "../widgets/log_view.tcss"]  # noqa: RUF012
    AUTO_FOCUS = "#metrics"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(number), f"tab('{key}')", word.lower(), tooltip=f"Show: {word.lower()}", group=_TABS)
            for number, (key, word) in enumerate(TABS, 1)
        ),
        Binding("l", "next_log", "next log", tooltip="The log of the next step"),
        Binding("m", "samples", "samples", tooltip="Its samples, one by one"),
        Binding("v", "run", "its run", tooltip="The Run screen of its run"),
        Binding("Y", "copy", "copy", tooltip="Copy what is shown to the terminal's clipboard"),
        Binding("e", "export", "export", tooltip="Write its run's results as md, csv, json or html"),
        Binding("escape", "app.pop_screen", "back", tooltip="Go back"),
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.found: Details | None = None
        self._tab = "metrics"
        self._log = -1

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield RowLine(id="title", classes="title")
        yield TabRow(id="tabs")
        for key in ("metrics", "coverage", "provenance", "scripts"):
            yield Passage(id=key, classes="pane")
        yield Timeline(id="timeline", classes="pane")
        yield LogView(id="log", classes="pane")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read it."""
        self.action_tab("metrics")
        self.query_one("#title", RowLine).show(title_row(None))
        self.in_thread(lambda: DetailsRead(one_pass.read(self.folder)))

    def on_details_read(self, message: DetailsRead) -> None:
        """Show it."""
        self.found = found = message.found
        self.query_one("#title", RowLine).show(title_row(found))
        self.query_one("#metrics", Passage).show_rows(tuple(metric_rows(found)))
        self.query_one("#coverage", Passage).show_rows(tuple(coverage_rows(found.coverage)))
        self.query_one("#provenance", Passage).show_rows(tuple(provenance_rows(found)))
        self.query_one("#scripts", Passage).show_rows(tuple(script_rows(found)))
        # The tab that was chosen meanwhile has something to show only now.
        self.action_tab(self._tab)

    # -- tabs --------------------------------------------------------------------------------------------------

    def action_tab(self, key: str) -> None:
        """Show a tab and give it the focus."""
        self._tab = key
        self.query_one(TabRow).show_tabs(TABS, key)
        for name, _ in TABS:
            self.query_one(f"#{name}").display = name == key
        self.set_focus(self.query_one(f"#{key}"))
        if key == "timeline":
            self.call_after_refresh(self._first_timeline)
        elif key == "log" and self._log < 0:
            self.action_next_log()
        self.refresh_bindings()

    @on(Flow.Clicked, "#tabs")
    def _tab_clicked(self, message: Flow.Clicked) -> None:
        self.action_tab(message.key)

    def why_not(self, action: str) -> str:
        """What is not there cannot be opened."""
        found = self.found
        if action in ("next_log", "samples", "copy", "export", "run") and found is None:
            return "The pass is not read."
        if action == "next_log" and self._tab != "log":
            return "The logs are not shown: 6 shows them."
        if action == "next_log" and found and len(found.logs) < 2:
            return "There is no other log."
        if action == "run" and found and not found.run.state.exists():
            return "It was taken in, or its run is not there any more."
        return super().why_not(action)

    # -- telemetry ---------------------------------------------------------------------------------------------

    def _first_timeline(self) -> None:
        pane = self.query_one(Timeline)
        if self.found is not None and pane.window == Window() and not pane.rows:
            # The whole run first: that is how far it can be gone back to.
            self._read_timeline()

    def _read_timeline(self) -> None:
        pane, found = self.query_one(Timeline), self.found
        if found is None:
            return
        window, at_most = pane.window, 2 * (pane.size.width or self.size.width)

        def work() -> TimelineRead:
            return TimelineRead(one_pass.lines(found, window.since, window.until, at_most), window)

        self.in_thread(work, "timeline", exclusive=True)

    def on_timeline_wanted(self) -> None:
        """Another window."""
        self._read_timeline()

    def on_timeline_read(self, message: TimelineRead) -> None:
        """Show it; at first the pass, not its whole run."""
        pane, found = self.query_one(Timeline), self.found
        if found is None or pane.window != message.window:
            return
        first = not pane.rows
        titles = {one.step: one.step.rpartition("/")[2] for one in stretches_of(message.lines, 0.0, 0.0)}
        pane.show(message.lines, message.window, titles, None)
        if first and found.since and message.lines:
            pane.window = Window(found.since, found.until)
            self._read_timeline()

    # -- keys --------------------------------------------------------------------------------------------------

    def action_next_log(self) -> None:
        """The log of the next step that ran."""
        logs = self.found.logs if self.found else ()
        view = self.query_one(LogView)
        if logs:
            self._log = (self._log + 1) % len(logs)
            view.path = logs[self._log].path
            view.border_title = Content(plain(f"{logs[self._log].title} · {self._log + 1} of {len(logs)}"))
        elif self.found:
            view.border_title = "No log is there."

    def action_samples(self) -> None:
        """Its samples."""
        self.post_message(SamplesChosen(self.folder))

    def action_run(self) -> None:
        """Its run."""
        if self.found is not None:
            self.post_message(RunChosen(self.found.run.path))

    def action_copy(self) -> None:
        """What is shown."""
        pane = self.query_one(f"#{self._tab}")
        if isinstance(pane, Passage):
            self.copy(pane.text)

    def action_export(self) -> None:
        """The results of its run."""
        if self.found is not None:
            self.export_run(self.found.measured.run)
