"""The logs of a run: a tab for each, one of them shown, or two side by side."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from omnitui.snapshot import Snapshot
from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.tab_row import TabRow


def other_logs(snapshot: Snapshot) -> dict[str, Path]:
    """Return what else is worth reading beside the servers' logs, by the word on its tab."""
    step = snapshot.current
    job = snapshot.job(step) if step else None
    return {**({"step": job.log} if job else {}), "runner": snapshot.run.runner_log}


class ServerLogs(Vertical):
    """Shows the log of one server, or two logs beside each other."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "vertical_line",
            "split",
            "two logs",
            show=False,
            key_display="|",
            tooltip="Log: two side by side, or one; l changes the one that has the focus",
        ),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._logs: dict[str, Path] = {}
        self._servers: dict[str, Path] = {}
        self._open = ["", ""]

    def compose(self) -> Iterator[Widget]:
        """Tabs and two logs, the second of which is seen when it is asked for."""
        yield TabRow()
        with Horizontal():
            yield LogView()
            second = LogView(classes="second")
            second.display = False
            yield second

    @property
    def views(self) -> list[LogView]:
        """What is shown, from the left."""
        return [view for view in self.query(LogView) if view.display]

    @property
    def asks(self) -> bool:
        """Whether the operator is typing something into one of them now."""
        return any(view.asks for view in self.views)

    @property
    def view(self) -> LogView:
        """The log that has the focus, or the first."""
        focused = self.screen.focused
        within = focused.ancestors_with_self if focused else ()
        return next((view for view in self.views if view in within), self.views[0])

    def show(self, servers: Mapping[str, Path], others: Mapping[str, Path]) -> None:
        """Show these logs, by name of the server or word; a new server's log comes to the front.

        Not while something is typed: it is about the log that is there.
        """
        if self.asks:
            return
        fresh = [name for name in servers if self._servers.get(name) != servers[name]]
        self._servers = dict(servers)
        logs = {**servers, **{name: path for name, path in others.items() if path not in servers.values()}}
        if logs == self._logs:
            return
        self._logs = logs
        if fresh or self._open[0] not in self._logs:
            self._open[0] = next(reversed(fresh or list(servers) or list(logs)), "")
        if self._open[1] not in self._logs:
            self._open[1] = self._after(self._open[0])
        self._show_open()

    def _show_open(self) -> None:
        views = self.views
        opened = set(self._open[: len(views)])
        tabs = self.query_one(TabRow)
        tabs.show_tabs([(name, name) for name in self._logs], opened)
        for view, name in zip(views, self._open, strict=False):
            if view.path != self._logs.get(name):
                view.path = self._logs.get(name)

    def _after(self, name: str) -> str:
        names = list(self._logs)
        return names[(names.index(name) + 1) % len(names)] if name in names else next(iter(names), "")

    def on_flow_clicked(self, message: Flow.Clicked) -> None:
        """Bring a log to the front, unless it has gone meanwhile."""
        message.stop()
        if message.key in self._logs:
            self._bring(message.key)

    def next_log(self) -> None:
        """Bring the next log to the front."""
        if self._logs:
            self._bring(self._after(self._open[self.views.index(self.view)]))

    def _bring(self, name: str) -> None:
        self._open[self.views.index(self.view)] = name
        self._show_open()

    def action_split(self) -> None:
        """Show a second log beside the first, or one alone."""
        second = self.query(LogView).last()
        second.display = not second.display
        if second.display and self._open[1] == self._open[0]:
            self._open[1] = self._after(self._open[0])
        self._show_open()
        self.screen.set_focus(second if second.display else self.views[0])
