"""One step: its command, its output, its notes and its attempts, one of them at a time."""

from collections.abc import Iterator
from pathlib import Path

from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from omnitui.jobs.folder import JobFolder
from omnitui.model import Passed, Running, StepRecord
from omnitui.plan import PlannedStep
from omnitui.progress import Progress
from omnitui.runbook.schema import Confirm, Stop
from omnitui.snapshot import Snapshot
from omnitui.ui.layouts import PARTS
from omnitui.ui.showing import step_row
from omnitui.ui.step_texts import attempt_rows, command_text
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.notes import Notes
from omnitui.ui.widgets.progress_line import ProgressLine
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.rows import RowLine
from omnitui.ui.widgets.tab_row import TabRow


class StepPane(Vertical):
    """Shows the selected step; the screen says which part."""

    class AttemptChosen(Message):
        """The output of an older attempt is wanted."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._shown: tuple[str, StepRecord] | None = None
        self._attempt = 0
        self._nothing = ""
        self._progress: tuple[str, Progress | None] = ("", None)

    def compose(self) -> Iterator[Widget]:
        """The step's line, the tabs, and the parts."""
        yield RowLine(id="step-line")
        yield ProgressLine(id="progress")
        yield TabRow(id="step-tabs")
        with VerticalScroll(id="command", classes="part"):
            yield Static(id="command-text", markup=False)
        yield LogView(id="output", classes="part")
        yield Static(id="nothing", markup=False)
        yield Notes(id="notes", classes="part")
        yield RowList(id="attempts", classes="part")

    def show(self, snapshot: Snapshot, planned: PlannedStep, now: float) -> None:
        """Show a step as it stands."""
        record = snapshot.record(planned)
        if self._shown is None or self._shown[0] != planned.id or _latest(self._shown[1]) != _latest(record):
            self._attempt = _latest(record)
        if self._shown != (planned.id, record):
            self._shown = (planned.id, record)
            self.query_one("#command-text", Static).update(command_text(snapshot, planned))
            self.query_one("#notes", Notes).show(snapshot.runbook, planned)
            self.query_one("#attempts", RowList).show_rows(attempt_rows(snapshot, planned))
            self.show_progress(*self._progress)
        self._show_output(snapshot, planned, record)
        self.query_one("#step-line", RowLine).show(step_row(snapshot, planned, self._attempt, now))

    def show_progress(self, step_id: str, progress: Progress | None) -> None:
        """Show how far a step is, when it is the one that is shown."""
        self._progress = (step_id, progress)
        shown = self._shown and self._shown[0] == step_id and isinstance(self._shown[1].status, Running)
        self.query_one(ProgressLine).show_progress(progress if shown else None)

    def _show_output(self, snapshot: Snapshot, planned: PlannedStep, record: StepRecord) -> None:
        path = _log_of(snapshot, planned, record, self._attempt)
        view = self.query_one("#output", LogView)
        if view.asks:
            # What is typed is about the log that is there.
            return
        if view.path != path:
            view.path = path
        nothing = "" if path else _why_nothing(planned, self._attempt)
        if nothing != self._nothing:
            self._nothing = nothing
            self.query_one("#nothing", Static).update(Content(nothing))

    def open_part(self, part: str) -> None:
        """Show one of `PARTS`, or none of them."""
        for name, _ in PARTS:
            self.query_one(f"#{name}").display = name == part and not (name == "output" and self._nothing)
        self.query_one("#nothing").display = part == "output" and bool(self._nothing)

    def on_cursor_rows_chosen(self, message: RowList.Chosen) -> None:
        """Show the output of that attempt, unless another step is shown by now."""
        message.stop()
        step_id, _, number = message.key.rpartition(" ")
        if self._shown is not None and self._shown[0] == step_id:
            self._attempt = int(number)
            self.post_message(self.AttemptChosen())


def _latest(record: StepRecord) -> int:
    if isinstance(record.status, Running):
        return record.status.attempt
    # A step that was skipped has an attempt 0 behind those that left something to read.
    return max((attempt.n for attempt in record.attempts), default=0)


def _log_of(snapshot: Snapshot, planned: PlannedStep, record: StepRecord, attempt: int) -> Path | None:
    if not attempt or isinstance(planned.step, Stop | Confirm):
        return None
    folder = snapshot.run.job(planned.id, attempt)
    status = record.status
    if isinstance(status, Passed) and status.already and status.attempt == attempt:
        folder = folder.with_name(f"{attempt}-look")
    return JobFolder(folder).log


def _why_nothing(planned: PlannedStep, attempt: int) -> str:
    if isinstance(planned.step, Stop | Confirm):
        return "This step prints nothing."
    return "" if attempt else "No attempt yet."
