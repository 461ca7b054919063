"""What the user does counts at once: neither the next key nor what a thread has read may come in between."""

import gc
from collections.abc import Awaitable, Callable
from typing import Any

from omnitui.store import RunFolder
from omnitui.ui.screens.dialogs import PromptScreen
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.widgets.checklist import Checklist
from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.server_logs import ServerLogs
from omnitui.ui.widgets.step_pane import StepPane
from tests.screens.test_run_screen import Opened, opened
from textual.events import Key
from textual.widgets import Static

Until = Callable[[Callable[[], bool]], Awaitable[None]]


def focus_of(on: Opened) -> str:
    return getattr(on.app.focused, "id", "") or ""


async def test_a_key_typed_behind_a_move_means_the_step_that_was_moved_to(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        # Both at once: the second is on its way before any message of the first.
        for key in ("down", "s"):
            on.app.post_message(Key(key, key if key == "s" else None))
        await until(lambda: isinstance(on.app.screen, PromptScreen) and bool(on.app.screen.query(Static)))
        assert "Measure" in str(on.app.screen.query(Static).first().content)


async def test_a_chapter_folds_before_the_next_key_moves_on(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        checklist = on.screen.query_one(Checklist)
        await on.pilot.press("home")
        opened_before = [row.key for row in checklist.rows]
        first = checklist.key
        checklist.action_choose()
        checklist.action_move(1)  # before any message of the choice is handled
        await on.pilot.pause()
        assert checklist.key == next(row.key for row in checklist.rows[1:] if row.key)
        assert [row.key for row in checklist.rows] != opened_before and checklist.rows[0].key == first


async def test_the_focus_goes_with_the_key_of_a_pane(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        on.screen.action_open("output")
        assert focus_of(on) == "output"
        on.screen.action_pane("gpu")
        assert focus_of(on) == "gpu"
        on.screen.action_logs()
        logs = on.screen.query_one(ServerLogs)
        assert on.app.focused is logs.view
        before = logs.view.path
        on.screen.action_logs()  # at once: no message of the focus is handled yet
        assert logs.view.path != before
        on.screen.action_back()
        assert focus_of(on) == "checklist"
        on.screen.action_back()
        assert not isinstance(on.app.screen, RunScreen)


async def test_a_tab_that_has_gone_meanwhile_is_not_brought_to_the_front(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        logs = on.screen.query_one(ServerLogs)
        await until(lambda: logs.view.path is not None)
        before = logs.view.path
        logs.on_flow_clicked(Flow.Clicked(logs.query_one(Flow), "a server that was"))
        assert logs.view.path == before


async def test_an_attempt_of_a_step_that_was_left_is_not_taken_for_one_of_the_next(
    fake_runs: Any, until: Until
) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        await on.pilot.press("i")
        pane, attempts = on.screen.query_one(StepPane), on.screen.query_one("#attempts", RowList)
        await until(lambda: attempts.key == "main/run1/server 1")
        late = RowList.Chosen(attempts, 0, "main/run0/client 7")
        pane.on_cursor_rows_chosen(late)
        await until(
            lambda: on.screen.query_one("#output", LogView).path == on.run.job("main/run1/server", 1) / "log"
        )


async def left_before_the_monitor_began(run: RunFolder, until: Until) -> None:
    async with opened(run, until) as on:
        await until(lambda: on.screen.query_one("#gpu").display)
        while on.screen._monitor is None:
            on.screen.tick_machine()
        on.screen._monitor.cancel()


async def test_a_monitor_that_is_not_wanted_before_it_has_begun_is_nothing(fake_runs: Any, until: Until) -> None:
    await left_before_the_monitor_began(fake_runs.make("held"), until)
    # A coroutine that nobody awaits is told when it is let go of.
    gc.collect()
