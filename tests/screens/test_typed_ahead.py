"""What is typed before it can be seen where it goes must not stop, skip, start or answer anything."""

import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from msgspec.structs import replace
from omnitui import decisions, store, supervise
from omnitui.model import Failed, Identity
from omnitui.store import RunFolder
from omnitui.ui.app import OmniApp
from omnitui.ui.run_messages import Plans
from omnitui.ui.screens import run_keys
from omnitui.ui.screens.dialogs import ChoiceScreen, Field, PromptScreen
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.screens.run_keys import read_plans
from omnitui.ui.widgets.checklist import Checklist
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.server_logs import ServerLogs
from omnitui.ui.widgets.table import Table
from tests.books import make_book
from tests.screens.test_new_run import field
from tests.screens.test_new_run import opened as new_run
from tests.screens.test_passes import opened as passes_opened
from tests.screens.test_passes import passes
from tests.screens.test_run_screen import Opened, opened
from textual.app import App
from textual.events import Key
from textual.widgets import Button, Input

Until = Callable[[Callable[[], bool]], Awaitable[None]]
__all__ = ["passes"]

NAMES = {"/": "slash", "&": "ampersand", ":": "colon", "\r": "enter", " ": "space", "\b": "backspace", "\t": "tab"}
NAMES["\x1b"] = "escape"


FIELDS = """
schema = 1
title = "Fields"
summary = "Has two."
variables.FIRST = { default = "40", help = "One." }
variables.SECOND = { default = "3", help = "Another." }
[[phases]]
id = "all"
title = "All"
steps = [{ id = "one", title = "One", run = "true" }]
"""


def burst(app: App[Any], text: str) -> None:
    """All of it at once, as a slow line brings it."""
    for key in [Key(NAMES.get(char, char), char) for char in text]:
        app.post_message(key)


def pressed(on: Opened, key: str, at_s: float) -> float:
    """One key, typed at a time of the clock that events have; that time."""
    event = Key(key, key)
    event.time = at_s
    on.app.post_message(event)
    return at_s


def asked(run: RunFolder) -> list[str]:
    with suppress(FileNotFoundError):
        return [path.name for path in run.requests.iterdir()]
    return []


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_search_typed_with_the_focus_elsewhere_is_a_search(
    fake_runs: Any, until: Until, size: tuple[int, int]
) -> None:
    async with opened(fake_runs.make("running"), until, size) as on:
        await until(lambda: on.screen.query_one("#output", LogView).path is not None)
        burst(on.app, "/max\r")
        output = on.screen.query_one("#output", LogView)
        await until(lambda: "max: none before" in output.render_line(output.size.height - 1).text)
        assert isinstance(on.app.screen, RunScreen) and not asked(on.run)


async def test_a_search_on_a_red_run_skips_nothing(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        await until(lambda: on.screen.query_one("#output", LogView).path is not None)
        burst(on.app, "/search")
        await until(lambda: isinstance(on.app.focused, Input) and on.app.focused.value == "search")
        assert isinstance(on.status("main/run1/server"), Failed) and isinstance(on.app.screen, RunScreen)


async def test_a_search_without_any_log_says_so(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("held"), until) as on:
        await on.pilot.press("slash")
        await until(lambda: "no log here" in " ".join(note.message for note in on.app._notifications))


async def test_a_question_is_not_answered_by_what_was_typed_before_it(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        burst(on.app, "s\r\r")
        await until(lambda: isinstance(on.app.focused, Input))
        await on.pilot.press("escape")
        burst(on.app, "R\r \r")
        await until(lambda: isinstance(on.app.focused, Button))
        await on.pilot.pause()
        assert isinstance(on.app.screen, ChoiceScreen)
        assert isinstance(on.status("main/run1/server"), Failed)


async def test_stopping_has_to_be_gone_to(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        await on.pilot.press("x")
        await until(lambda: isinstance(on.app.focused, Button))
        await on.pilot.press("enter")
        await until(lambda: isinstance(on.app.screen, RunScreen))
        assert not asked(on.run)
        await on.pilot.press("x")
        await until(lambda: isinstance(on.app.focused, Button))
        await on.pilot.press("left", "enter")
        await until(lambda: asked(on.run) == ["stop"])


async def test_what_is_typed_into_a_log_outlives_the_step(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        output, checklist = on.screen.query_one("#output", LogView), on.screen.query_one(Checklist)
        await on.pilot.press("o")
        await until(lambda: output.has_focus)
        await on.pilot.press("slash", "o", "u")
        before = output.path
        decisions.skip(on.run, "main/run1/server", "known")
        snapshot = on.screen.snapshot
        await until(lambda: on.screen.snapshot is not snapshot)
        await on.pilot.press("t")
        assert isinstance(on.app.focused, Input) and on.app.focused.value == "out"
        assert output.path == before and checklist.key == "main/run1/server"
        await on.pilot.press("enter")
        await until(lambda: checklist.key == "main/run1/client")


async def test_what_is_typed_into_a_servers_log_outlives_the_server(fake_runs: Any, until: Until) -> None:
    run = fake_runs.make("running")
    fake_runs.let_go()
    async with opened(run, until) as on:
        await on.pilot.press("l")
        logs = on.screen.query_one(ServerLogs)
        await until(lambda: logs.view.has_focus)
        await on.pilot.press("slash", "4")
        with store.owned(run, Identity(pid=1, start=1, boot="demo")) as owned:
            owned.commit("server", replace(owned.state, servers={}))
        await until(lambda: on.screen.snapshot is not None and not on.screen.snapshot.state.servers)
        await on.pilot.press("2")
        assert isinstance(on.app.focused, Input) and on.app.focused.value == "42"
        await on.pilot.press("escape")
        await until(lambda: not logs.display)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What was started, each with whether it is one step; nothing is."""
    found: list[bool] = []
    monkeypatch.setattr(supervise, "start", lambda run, secrets, *, one, where: found.append(one))
    return found


async def step_over(on: Opened, until: Until) -> None:
    """The current step is done, and the next one is shown."""
    decisions.skip(on.run, "_/_/packages", "as if it had ended")
    checklist = on.screen.query_one(Checklist)
    await until(lambda: checklist.key == "_/_/agree")


async def test_a_key_that_is_held_goes_on_once(fake_runs: Any, until: Until, started: list[bool]) -> None:
    async with opened(fake_runs.make("held"), until) as on:
        at_s = pressed(on, "r", monotonic())
        await until(lambda: started == [True])
        await step_over(on, until)
        shown = monotonic()
        # The longest pause of a terminal before a repeat, on for seconds with the next step in sight.
        while at_s < shown + 5.0:
            at_s = pressed(on, "r", at_s + 0.66)
        await on.pilot.pause()
        assert started == [True]
        pressed(on, "r", at_s + 1.0)
        await until(lambda: started == [True, True])


async def test_a_key_that_was_typed_before_the_step_was_shown_does_not_start_it(
    fake_runs: Any, until: Until, started: list[bool]
) -> None:
    async with opened(fake_runs.make("held"), until) as on:
        typed = monotonic()
        await step_over(on, until)
        pressed(on, "r", typed)
        await on.pilot.pause()
        pressed(on, "a", monotonic())
        await until(lambda: started == [False])


async def test_a_second_press_waits_for_what_the_first_one_starts(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[bool] = []
    read: list[RunFolder] = []
    begun = threading.Event()

    def start(run: RunFolder, secrets: object, *, one: bool, where: str | None) -> None:
        started.append(one)
        begun.wait()

    def plans(run: RunFolder) -> Plans:
        read.append(run)
        return read_plans(run)

    monkeypatch.setattr(supervise, "start", start)
    monkeypatch.setattr(run_keys, "read_plans", plans)
    async with opened(fake_runs.make("held"), until) as on:
        try:
            burst(on.app, "ra")
            await until(lambda: len(read) == 2 and bool(started))
            await on.pilot.pause()
            assert len(started) == 1
        finally:
            begun.set()
        await until(lambda: not [one for one in on.app.workers if one.group == "start"])
        pressed(on, "r", monotonic() + 1.0)
        await until(lambda: len(started) == 2)


async def test_a_value_is_what_was_typed_in_its_order_into_its_field(
    fake_runs: Any, until: Until, tmp_path: Path
) -> None:
    book = make_book(tmp_path / "fields", FIELDS)
    async with new_run(until, book, 2) as (pilot, app):
        first, second = (field(app, name) for name in ("FIRST", "SECOND"))
        app.set_focus(first.query_one(Input))
        await pilot.press("end")
        burst(app, "\b\b10\t7")
        await until(lambda: (first.value, second.value) == ("10", "7"))


TWO = (Field("FIRST", "The first", secret=True), Field("SECOND", "The second"))


async def test_what_is_typed_behind_an_enter_is_no_part_of_a_search(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        output = on.screen.query_one("#output", LogView)
        await until(lambda: output.path is not None)
        # The second one finds the line there already.
        for text in ("max", "min"):
            before = output._sought
            burst(on.app, f"/{text}\rn\b7")
            await until(lambda: output._sought is not before)  # noqa: B023 - waited for within the loop
            assert output._sought is not None and output._sought.text == text
            await until(lambda: on.app.focused is output)


@pytest.mark.parametrize("end", ["\r", "\x1b"])
async def test_nor_of_a_filter(passes: None, until: Until, end: str) -> None:
    app = OmniApp()
    async with app.run_test(size=(140, 40)):
        screen = await passes_opened(app, until, 19)
        for text in ("evil", "cpu"):
            burst(app, f"/{text}{end}jj")
            await until(lambda: screen.view.text != "" and app.focused is screen.query_one(Table))
            assert screen.view.text == text
            screen.show_all()


async def test_each_of_two_lines_has_what_was_typed_for_it(fake_runs: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test():
        given: list[Any] = []
        app.push_screen(PromptScreen("Two", (), TWO, "Go"), given.append)
        await until(lambda: isinstance(app.focused, Input))
        burst(app, "ab\b\tcd\b\r")
        await until(lambda: given == [{"FIRST": "a", "SECOND": "c"}])


async def test_a_line_that_stays_takes_keys_again_after_an_enter(fake_runs: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test() as pilot:
        app.push_screen(PromptScreen("Two", (), TWO, "Go"))
        await until(lambda: isinstance(app.focused, Input))
        for key in ("enter", "escape"):
            early = Key(key, None)
            early.time = 0.0
            app.post_message(early)
        # This enter leads nowhere: the line is still empty.
        await pilot.press("a", "tab", "enter")
        await pilot.pause()
        await pilot.press("b", "c")
        await until(lambda: [one.value for one in app.screen.query(Input)] == ["a", "bc"])
