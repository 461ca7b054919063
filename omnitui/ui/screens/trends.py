"""Trends: one metric of a runbook over the commits that were measured, on one model of GPU."""

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from omnitui.ui.browsing import trends
from omnitui.ui.browsing.dots import Scale
from omnitui.ui.browsing.messages import TrendRead
from omnitui.ui.browsing.trends import Point, Trend, about, head_row, on_scale, point_row
from omnitui.ui.messages import PassChosen
from omnitui.ui.screens.browsing import Browsing
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.rows import Cell, Row, RowLine
from omnitui.ui.widgets.table import Table


class TrendsScreen(Browsing):
    """Its passes are read once; the metric is changed here."""

    CSS_PATH = ["trends.tcss", "../widgets/table.tcss"]  # noqa: RUF012
    AUTO_FOCUS = "Table"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("less_than_sign", "metric(-1)", "metric before", show=False),
        Binding("greater_than_sign", "metric(1)", "metric", key_display="< >", tooltip="Another metric"),
        Binding("o", "each", "each pass", tooltip="A line for each pass in the order of time, or for each commit"),
        Binding("Y", "copy", "copy", tooltip="Copy what is on the screen to the terminal's clipboard"),
        Binding("escape", "app.pop_screen", "back", tooltip="Go back"),
    ]

    def __init__(self, runbook: str, gpu: str) -> None:
        super().__init__()
        self._wanted = (runbook, gpu)
        self.trend: Trend | None = None
        self.metric = ""
        self._each = False
        self._points: tuple[Point, ...] = ()
        self._scale = Scale(0.0, 0.0, 3)

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield RowLine(id="title", classes="title")
        yield RowLine(id="metric", classes="about")
        yield Table(id="points", classes="pane")
        yield RowLine(id="left-out", classes="about")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read them."""
        self._show_title()
        self.in_thread(lambda: TrendRead(trends.read(*self._wanted)))

    def on_trend_read(self, message: TrendRead) -> None:
        """Show the first primary metric."""
        self.trend = message.trend
        names = message.trend.names()
        self.metric = names[0] if names else ""
        self._show(last=True)

    def on_resize(self) -> None:
        """Another scale fits."""
        self.call_after_refresh(self._show)

    def _show(self, *, last: bool = False) -> None:
        trend, table = self.trend, self.query_one(Table)
        if trend is None:
            return
        self._points = trend.points(self.metric, each=self._each)
        self._scale = on_scale(self._points, table.scrollable_content_region.width)
        unit = next((one.unit for one in trend.metrics if one.id == self.metric), "")
        cursor = len(self._points) - 1 if last else None
        table.show(len(self._points), self._row, head_row(self._scale, unit), cursor)
        first, second = about(trend, self.metric or "No complete, scored pass is there.")
        self.query_one("#metric", RowLine).show(first)
        self.query_one("#left-out", RowLine).show(second)
        self._show_title()

    @on(Table.Highlighted)
    def _show_title(self) -> None:
        """What of what, and whose the point under the cursor is."""
        runbook, gpu = self._wanted
        of = Cell(f"  {runbook} on {gpu or 'an unknown GPU'}", "muted")
        at = self.query_one(Table).cursor
        whose = (Cell(self._points[at].series, "muted", yields=True),) if at < len(self._points) else ()
        self.query_one("#title", RowLine).show(Row("", (Cell("Trends", "strong"), of), whose))

    def _row(self, index: int) -> Row | None:
        return point_row(self._points[index], self._scale) if index < len(self._points) else None

    @on(Table.Chosen)
    def _chosen(self, message: Table.Chosen) -> None:
        if message.key:
            self.post_message(PassChosen(Path(message.key)))

    def action_metric(self, by: int) -> None:
        """The next metric, or the one before."""
        names = self.trend.names() if self.trend else ()
        if names:
            self.metric = names[(names.index(self.metric) + by) % len(names)]
            self._show()

    def action_each(self) -> None:
        """Each pass, or each commit."""
        self._each = not self._each
        self._show(last=True)

    def action_copy(self) -> None:
        """What is on the screen."""
        self.copy(self.query_one(Table).text)
