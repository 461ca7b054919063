"""The logs of the servers that are up: one pane, a tab for each server."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from textual.containers import Vertical
from textual.widget import Widget

from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.tab_row import TabRow


class ServerLogs(Vertical):
    """Shows the log of one server at a time."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._logs: dict[str, Path] = {}
        self._open = ""

    def compose(self) -> Iterator[Widget]:
        """Tabs and a log."""
        yield TabRow()
        yield LogView()

    def show(self, logs: Mapping[str, Path]) -> None:
        """Show these logs, by name of the server; a new server's log comes to the front."""
        if dict(logs) == self._logs:
            return
        fresh = [name for name in logs if self._logs.get(name) != logs[name]]
        self._logs = dict(logs)
        if fresh or self._open not in logs:
            self._open = next(reversed(fresh or list(logs)), "")
        self._show_open()

    def _show_open(self) -> None:
        self.query_one(TabRow).show_tabs([(name, name) for name in self._logs], self._open)
        view = self.query_one(LogView)
        if view.path != self._logs.get(self._open):
            view.path = self._logs.get(self._open)

    def on_flow_clicked(self, message: Flow.Clicked) -> None:
        """Bring a log to the front."""
        message.stop()
        self._open = message.key
        self._show_open()

    def next_log(self) -> None:
        """Bring the next server's log to the front."""
        names = list(self._logs)
        if names:
            self._open = names[(names.index(self._open) + 1) % len(names)]
            self._show_open()
