"""Two sides compared: what differs in how they were measured stands above every number."""

from functools import partial
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from omnitui.results.judging.compare import Comparison
from omnitui.results.telling.comparison import render
from omnitui.results.telling.page import comparison_page
from omnitui.ui.browsing.columns import Column, fitting, head
from omnitui.ui.browsing.comparing import compared
from omnitui.ui.browsing.comparison_rows import (
    COLUMNS,
    NARROW,
    about_rows,
    metric_row,
    pair_rows,
    rule_lines,
    side_rows,
)
from omnitui.ui.browsing.messages import ComparisonRead
from omnitui.ui.messages import WorkFailed
from omnitui.ui.screens.dialogs import Choice, ChoiceScreen
from omnitui.ui.screens.exporting import Exporting
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.passage import Passage
from omnitui.ui.widgets.rows import Cell, Row, RowLine
from omnitui.ui.widgets.table import Table


class CompareScreen(Exporting):
    """The sides do not change here; what is waved through does."""

    CSS_PATH = ["comparing.tcss", "../widgets/table.tcss"]  # noqa: RUF012
    AUTO_FOCUS = "Table"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "tab", "app.focus_next", "differences", tooltip="Go to what differs, or to the reasons; they scroll"
        ),
        Binding("d", "despite", "despite", tooltip="Compare though something differs: every verdict then says so"),
        Binding("x", "swap", "swap", tooltip="B against A the other way round"),
        Binding("Y", "copy", "copy", tooltip="Copy the comparison as Markdown to the terminal's clipboard"),
        Binding("e", "export", "export", tooltip="Write it as md, csv, json or html"),
        Binding("escape", "app.pop_screen", "back", tooltip="Go back"),
    ]

    def __init__(self, a: frozenset[str], b: frozenset[str]) -> None:
        super().__init__()
        self._sides = (a, b)
        self._despite: frozenset[str] = frozenset()
        self.found: Comparison | None = None
        self._columns: tuple[Column, ...] = ()

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        title = RowLine(id="title", classes="title")
        title.show(Row("", (Cell("Compare", "strong"), Cell("  B against A", "muted"))))
        yield title
        sides = Passage(id="sides", classes="pane")
        sides.border_title = "What differs"
        yield sides
        yield Table(id="verdicts", classes="pane")
        rules = Passage(id="rules", classes="pane")
        rules.border_title = "Rules"
        rules.display = False
        yield rules
        about = Passage(id="about", classes="pane")
        about.border_title = "Why"
        yield about
        yield KeyBar()

    def on_mount(self) -> None:
        """Read and judge."""
        self._read()

    def _read(self) -> None:
        sides, despite = self._sides, self._despite
        self.in_thread(lambda: ComparisonRead(compared(*sides, despite), sides, despite))

    def on_comparison_read(self, message: ComparisonRead) -> None:
        """Show it, unless the sides were swapped or more was waved through meanwhile."""
        if (message.sides, message.despite) == (self._sides, self._despite):
            self.found = message.found
            self._show()
            self.refresh_bindings()

    def on_work_failed(self, message: WorkFailed) -> None:
        """Say in the place of what differs why nothing is compared."""
        if self.found is None:
            message.prevent_default()
            self.query_one("#sides", Passage).show_rows([Row("", (Cell(f"✘ {message.error}", "red"),))])

    def on_resize(self) -> None:
        """Other columns fit."""
        self.call_after_refresh(self._show)

    @property
    def _narrow(self) -> bool:
        return self.size.width < 100

    def _show(self) -> None:
        found = self.found
        if found is None:
            return
        told = Cell(f"  {found.title}", "muted")
        self.query_one("#title", RowLine).show(Row("", (Cell("Compare", "strong"), told)))
        self.query_one("#sides", Passage).show_rows(tuple(side_rows(found)))
        table = self.query_one(Table)
        rules = self.query_one("#rules", Passage)
        rules.display = bool(found.rules)
        rules.show_rows(tuple(rule_lines(found)))
        self._columns = fitting(NARROW if self._narrow else COLUMNS, table.scrollable_content_region.width)
        table.show(len(found.metrics), self._row, head(self._columns, "", descending=False))
        self._show_about()

    def _row(self, index: int) -> Row | None:
        found = self.found
        return metric_row(found.metrics[index], self._narrow, self._columns) if found else None

    def _show_about(self) -> None:
        found, pane = self.found, self.query_one("#about", Passage)
        if found is not None and found.metrics:
            one = found.metrics[min(self.query_one(Table).cursor, len(found.metrics) - 1)]
            width = pane.scrollable_content_region.width
            pane.show_rows((*about_rows(one, found, width), *pair_rows(found)))

    @on(Table.Highlighted)
    def _highlighted(self) -> None:
        self._show_about()

    @on(Table.Chosen)
    def _chosen(self) -> None:
        self.set_focus(self.query_one("#about"))

    # -- keys --------------------------------------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """Only what blocks can be waved through."""
        if action in ("copy", "export", "despite") and self.found is None:
            return "The sides are not compared."
        if action == "despite":
            return "" if self._blocking() else "Nothing that differs can be waved through."
        return super().why_not(action)

    def _blocking(self) -> tuple[str, ...]:
        found = self.found
        return tuple(one.key for one in found.differences if one.blocks and not one.final) if found else ()

    def action_despite(self) -> None:
        """Ask, then compare all the same."""
        keys = self._blocking()
        lines = ("These are not the same, or not known, and may be all that the numbers show:", *keys)
        go = Choice("go", "Compare despite them", variant="warning")

        def chosen(answer: str | None) -> None:
            if answer:
                self._despite |= frozenset(keys)
                self._read()

        self.app.push_screen(ChoiceScreen("Compare despite what differs?", lines, (go,)), chosen)

    def action_swap(self) -> None:
        """The other way round."""
        self._sides = (self._sides[1], self._sides[0])
        self._read()

    def action_copy(self) -> None:
        """As Markdown."""
        if self.found is not None:
            self.copy(render(self.found, "md"))

    def action_export(self) -> None:
        """In a format."""
        if self.found is not None:
            self.export("comparison", partial(_told, self.found))


def _told(found: Comparison, form: str) -> str:
    if form == "html":
        return comparison_page(found)
    return render(found, "md" if form == "md" else "csv" if form == "csv" else "json")
