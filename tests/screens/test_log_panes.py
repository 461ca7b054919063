"""The log pane of the Run screen: tabs, two logs side by side, and what a searched log looks like."""

from collections.abc import Awaitable, Callable
from typing import Any

from omnitui.ui.app import OmniApp
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.server_logs import ServerLogs
from tests.screens.conftest import all_read
from textual.pilot import Pilot
from textual.widgets import Input

Until = Callable[[Callable[[], bool]], Awaitable[None]]
Compare = Callable[..., bool]


async def test_two_logs_side_by_side(fake_runs: Any, until: Until) -> None:
    run = fake_runs.make("running")
    server, step = run.job("main/run1/server", 1) / "log", run.job("main/run1/client", 1) / "log"
    app = OmniApp(run)
    async with app.run_test(size=(160, 50)) as pilot:
        await until(lambda: isinstance(app.screen, RunScreen) and app.screen.snapshot is not None)
        logs = app.screen.query_one(ServerLogs)
        await pilot.press("l")
        await until(lambda: logs.view.has_focus)
        assert [view.path for view in logs.views] == [server]
        await pilot.press("vertical_line")
        assert [view.path for view in logs.views] == [server, step]
        assert logs.view is logs.views[1]
        await pilot.press("l")
        assert [view.path for view in logs.views] == [server, run.runner_log]
        await pilot.press("vertical_line")
        assert [view.path for view in logs.views] == [server]


def test_a_searched_log_beside_another(
    fake_runs: Any, until: Until, snap_compare: Compare, monkeypatch: Any
) -> None:
    monkeypatch.setattr(LogView, "patience_s", 20.0)
    app = OmniApp(fake_runs.make("running"))

    async def ready(pilot: Pilot[Any]) -> None:
        await until(lambda: isinstance(app.screen, RunScreen) and app.screen.snapshot is not None)
        logs = app.screen.query_one(ServerLogs)
        await pilot.press("l", "z", "vertical_line", "shift+tab")
        await until(lambda: logs.views[0].has_focus)
        await pilot.press("slash")
        await until(lambda: isinstance(app.focused, Input))
        assert isinstance(app.focused, Input)
        app.focused.value = "#3[05]"
        await pilot.press("enter")
        await until(lambda: logs.views[0].cursor >= 0)
        await pilot.press("b")
        first = logs.views[0].cursor
        await pilot.press("N")
        await until(lambda: logs.views[0].cursor < first and "▶ 32" in logs.views[0]._status())
        await pilot.press("number_sign")
        await until(lambda: "1 marked" in logs.views[0]._status() and all_read(app))
        await pilot.pause()

    assert snap_compare(app, terminal_size=(120, 40), run_before=ready)
