"""Home: the runbooks that came with OmniTUI, and the recent runs with where they stand."""

import threading
import time
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen

from omnitui.errors import OmniError
from omnitui.runbook.shelf import heads
from omnitui.ui.messages import (
    AssetsChosen,
    ResultsChosen,
    RunbookChosen,
    RunbookRow,
    RunbooksRead,
    RunChosen,
    RunRow,
    RunsRead,
    WorkFailed,
)
from omnitui.ui.signs import OUTCOMES, ago
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.rows import Cell, Row, RowLine

_POLL_S = 1.0


class HomeScreen(Screen[None]):
    """The first screen. What it lists is read by a thread, after the first paint.

    Textual loads no stylesheet of a default screen: the app names `home.tcss`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", tooltip="Open the run, or a new run of the runbook, under the cursor"),
        Binding("n", "new", "new run", tooltip="Set up a new run of the runbook, or as the run, under the cursor"),
        Binding("a", "assets", "assets", tooltip="Show and download the models and data sets of that runbook"),
        Binding("r", "results", "results", tooltip="All passes of all runs: find, sort, compare, export"),
        Binding("tab", "app.focus_next", "other list", tooltip="Go to the other list"),
    ]

    @staticmethod
    def clock() -> float:
        """Seconds since the epoch."""
        return time.time()

    def __init__(self) -> None:
        # Most terminals are wide: a class that is there already needs no second styling.
        super().__init__(classes="-wide")
        self._runs: dict[str, RunRow] = {}
        self._end = threading.Event()
        self._used = False

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        title = RowLine(classes="title")
        title.show(Row("", (Cell("OmniTUI", "strong"), Cell("  from page to trusted number", "muted"))))
        yield title
        with Vertical(id="home"):
            runbooks = RowList(id="runbooks", classes="pane")
            runbooks.border_title = "Runbooks"
            # A few small files beside our own modules: they belong to the first paint.
            self._show_runbooks(runbooks, tuple(RunbookRow(*head) for head in heads()))
            yield runbooks
            runs = RowList(id="runs", classes="pane")
            runs.border_title = "Recent runs"
            yield runs
        yield RowLine(id="note")
        yield KeyBar()

    def on_screen_resume(self) -> None:
        """Read what is listed, from now until another screen covers this one."""
        self._end = threading.Event()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.run_worker(lambda: self._read(self._end), thread=True, group="listing")

    def on_screen_suspend(self) -> None:
        """Stop reading."""
        self._end.set()

    def on_unmount(self) -> None:
        """Stop reading."""
        self._end.set()

    def _read(self, end: threading.Event) -> None:
        # These imports would delay the first paint.
        from omnitui.ui.listing import RunList, runbooks  # noqa: PLC0415

        self.post_message(RunbooksRead(runbooks()))
        listing = RunList()
        while not end.is_set():
            try:
                for rows, more in listing.changes():
                    self.post_message(RunsRead(rows, more))
            except OmniError as error:
                self.post_message(WorkFailed(error))
                return
            from omnitui.supervise import reap  # noqa: PLC0415

            reap()
            # While nobody waits for it: its screen is then there at once.
            import omnitui.ui.screens.passes  # noqa: PLC0415, F401

            end.wait(_POLL_S)

    def on_runbooks_read(self, message: RunbooksRead) -> None:
        """Show the runbooks, with what is wrong with one."""
        self._show_runbooks(self.query_one("#runbooks", RowList), message.rows)

    def _show_runbooks(self, runbooks: RowList, rows: tuple[RunbookRow, ...]) -> None:
        width = max((len(row.name) for row in rows), default=0) + 2
        runbooks.show_rows([_runbook_row(row, width) for row in rows])

    def on_runs_read(self, message: RunsRead) -> None:
        """Show the runs."""
        self._runs = {row.run.name: row for row in message.rows}
        runs = self.query_one("#runs", RowList)
        first = not runs.rows
        width = max((len(row.run.name) for row in message.rows), default=0) + 2
        runs.show_rows([_run_row(row, width, self.clock()) for row in message.rows])
        note = f"{message.more} older runs: omnitui runs" if message.more else ""
        if not message.rows:
            note = "No runs yet: press enter on a runbook to begin one."
        self.query_one("#note", RowLine).show(Row("", (Cell(note, "muted"),)))
        if first and not self._used and message.rows and message.rows[0].outcome != "complete":
            self.set_focus(runs)

    def on_key(self) -> None:
        """The focus is where the user wants it from now on."""
        self._used = True

    def on_mouse_down(self) -> None:
        """So it is after a click."""
        self._used = True

    def on_work_failed(self, message: WorkFailed) -> None:
        """Say why the runs cannot be listed."""
        self.query_one("#note", RowLine).show(Row("", (Cell(f"✘ {message.error}", "red"),)))

    @on(RowList.Chosen, "#runbooks")
    def _runbook_chosen(self, message: RowList.Chosen) -> None:
        self.post_message(RunbookChosen(message.key))

    @on(RowList.Chosen, "#runs")
    def _run_chosen(self, message: RowList.Chosen) -> None:
        row = self._runs.get(message.key)
        if row is None:
            self.notify(f"{message.key} is not there any more.", severity="warning", markup=False)
        elif row.outcome in ("corrupt", "unreadable"):
            self.notify(f"{row.run.name} is {row.outcome}; {row.where}", severity="error", markup=False)
        else:
            self.post_message(RunChosen(row.run))

    def action_open(self) -> None:
        """Open what is under the cursor of the list that has the focus."""
        if isinstance(self.focused, RowList):
            self.focused.action_choose()

    def action_new(self) -> None:
        """A new run of the runbook under the cursor."""
        if runbook := self._runbook():
            self.post_message(RunbookChosen(runbook))

    def action_assets(self) -> None:
        """The models and data sets of the runbook under the cursor."""
        if runbook := self._runbook():
            self.post_message(AssetsChosen(runbook))

    def _runbook(self) -> str:
        runs = self.query_one("#runs", RowList)
        if self.focused is runs and runs.key:
            return self._runs[runs.key].runbook
        return self.query_one("#runbooks", RowList).key or ""

    def action_results(self) -> None:
        """All passes."""
        self.post_message(ResultsChosen())


def _runbook_row(row: RunbookRow, width: int) -> Row:
    if row.error:
        return Row(row.name, (Cell(row.name, "strong", width), Cell(f"✘ {row.error}", "red")))
    return Row(row.name, (Cell(row.name, "strong", width), Cell(row.title), Cell(f"  {row.summary}", "muted")))


def _run_row(row: RunRow, width: int, now: float) -> Row:
    sign = OUTCOMES[row.outcome]
    left = (
        Cell(f"{sign.symbol} {sign.word}", sign.tone, 15),
        Cell(row.run.name, "", width),
        Cell(row.where, "muted"),
    )
    done = Cell(f"{row.done}/{row.steps}" if row.steps else "", "muted", 7)
    mark = (Cell(" REHEARSAL", "warn"),) if row.rehearsal else ()
    return Row(row.run.name, left, (*mark, done, Cell(ago(now - row.at), "muted", 12)))
