"""What the user does counts at once: neither the next key nor what a thread has read may come in between."""

import gc
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from omnitui import decisions, store, supervise
from omnitui.logs.pages import Ask, Pages
from omnitui.store import RunFolder
from omnitui.ui.messages import ResultsChosen
from omnitui.ui.run_messages import PlansRead
from omnitui.ui.screens.dialogs import ChoiceScreen, PromptScreen
from omnitui.ui.screens.passes import PassesScreen
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.screens.run_keys import read_plans
from omnitui.ui.widgets.checklist import Checklist
from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.log_prompt import LogPrompt
from omnitui.ui.widgets.log_reading import Then
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.server_logs import ServerLogs
from omnitui.ui.widgets.step_pane import StepPane
from tests.screens.test_run_screen import Opened, opened
from textual.events import Key
from textual.widgets import Button, Input, Static

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


async def test_a_dialog_is_answered_once(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        await on.pilot.press("x")
        await until(lambda: isinstance(on.app.focused, Button))
        question = on.app.screen
        assert isinstance(question, ChoiceScreen)
        for _ in range(2):  # enter, twice, before the first has done anything
            question.on_button_pressed(Button.Pressed(question.query_one("#choice-", Button)))
        await on.pilot.pause()
        assert on.app.screen is on.screen


async def test_a_key_that_is_pressed_twice_opens_one_screen(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("held"), until) as on:
        for _ in range(2):
            on.app.on_results_chosen(ResultsChosen())
        await until(lambda: isinstance(on.app.screen, PassesScreen))
        assert sum(isinstance(one, PassesScreen) for one in on.app.screen_stack) == 1


async def test_a_second_plan_that_was_made_before_the_first_was_done_starts_nothing(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[bool] = []
    monkeypatch.setattr(supervise, "start", lambda run, secrets, *, one, where: started.append(one))
    async with opened(fake_runs.make("held"), until) as on:
        plans = read_plans(on.run)
        decisions.skip(on.run, "_/_/packages", "as if it had run")
        on.screen.on_plans_read(PlansRead(plans, one=True))
        await until(lambda: any("gone on meanwhile" in note.message for note in on.app._notifications))
        with store.locked(on.run, fake_runs.me, "runner"):
            on.screen.on_plans_read(PlansRead(read_plans(on.run), one=True))
            await until(lambda: len(on.app._notifications) == 2)
        assert not started


async def asked_of(on: Opened, until: Until, text: str) -> tuple[LogView, LogPrompt]:
    """The step's output, with something typed into its line."""
    output = on.screen.query_one("#output", LogView)
    await until(lambda: output._page is not None and output._page.identity is not None)
    await on.pilot.press("slash")
    await until(lambda: isinstance(on.app.focused, Input))
    output.query_one(Input).value = text
    return output, output.query_one(LogPrompt)


async def test_a_line_is_taken_before_its_log_can_be_another(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        output, prompt = await asked_of(on, until, "memory")
        typed_s = monotonic()
        prompt.on_input_submitted(Input.Submitted(output.query_one(Input), "memory"))
        assert output._sought is not None and output._sought.text == "memory"
        assert focus_of(on) == "output" and not output.asks
        # What was typed behind it, for a second search that its key did not open, is no key of the run.
        late = Key("a", "a")
        late.time = typed_s
        on.app.post_message(late)
        await on.pilot.pause()
        assert isinstance(on.app.screen, RunScreen)


async def test_who_asks_again_at_once_has_not_left_the_line(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        output, prompt = await asked_of(on, until, "memory")
        prompt.on_input_submitted(Input.Submitted(output.query_one(Input), "memory"))
        await output.action_search()  # before it is told that the line has lost the focus
        await on.pilot.pause()
        assert prompt.asks and prompt.display and isinstance(on.app.focused, Input)


def in_view(log: LogView) -> str:
    return "\n".join(log.render_line(y).text for y in range(log.size.height))


async def test_what_is_saved_is_what_was_in_view_when_its_name_was_asked_for(
    fake_runs: Any, until: Until, tmp_path: Path
) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        output = on.screen.query_one("#output", LogView)
        await until(lambda: "sample 26 of 40" in in_view(output))
        await output.action_save()
        size = output._page.size if output._page else 0
        with (on.run.job("main/run1/client", 1) / "log").open("a") as log:
            log.write("sample 27 of 40\n" * 99)
        await until(lambda: output._page is not None and output._page.size > size)
        output.given("save", str(tmp_path / "saved.txt"))
        await until(lambda: any("saved to" in note.message for note in on.app._notifications))
        saved = (tmp_path / "saved.txt").read_text()
        assert "sample 26 of 40" in saved and "sample 27" not in saved


async def test_what_is_still_being_read_does_not_lead_away_from_the_end(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        logs = on.screen.query_one(ServerLogs)
        await until(lambda: logs.view._page is not None and bool(logs.view._rows))
        view, asked = logs.view, list[tuple[Ask, Then]]()
        assert view.path is not None
        # A disk that does not answer yet.
        monkeypatch.setattr(view, "_read", lambda ask, then, **_yields: asked.append((ask, then)))
        view.action_scroll_pages(-1)
        view.show_tail()
        pages = Pages(view.path)
        try:
            for ask, then in asked:
                then(pages.page(ask))
        finally:
            pages.close()
        assert view.following
