"""In the lists and the browser: neither the next key nor what a thread has read late undoes what was asked for."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from omnitui.ui.app import OmniApp
from omnitui.ui.browsing.comparing import compared as compare
from omnitui.ui.browsing.messages import ComparisonRead, FileThere, SampleSeen
from omnitui.ui.messages import RunsRead, SamplesChosen, TrendsChosen
from omnitui.ui.screens.dialogs import ChoiceScreen
from omnitui.ui.screens.home import HomeScreen
from omnitui.ui.screens.one_pass import OnePassScreen
from omnitui.ui.screens.samples import SamplesScreen
from omnitui.ui.screens.trends import TrendsScreen
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.table import Table
from tests.screens.test_browser import commits, compared, here, sides, text
from tests.screens.test_passes import opened, passes
from textual.widgets import Button, Input

Until = Callable[[Callable[[], bool]], Awaitable[None]]

__all__ = ["commits", "here", "passes"]


async def samples(app: OmniApp, until: Until, folder: Path) -> SamplesScreen:
    app.post_message(SamplesChosen(folder))
    await until(lambda: isinstance(app.screen, SamplesScreen) and "errors in 10 words" in text(app, "#sample"))
    assert isinstance(app.screen, SamplesScreen)
    return app.screen


async def test_a_comparison_that_comes_late_is_not_shown_for_other_sides(commits: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(140, 50)) as pilot:
        chosen = sides(commits)
        screen = await compared(app, until, chosen)
        await pilot.press("x")
        await until(lambda: bool(screen.found and screen.found.a.commit == "070fc3b"))
        both = (chosen.a, chosen.b)
        screen.on_comparison_read(ComparisonRead(compare(*both, frozenset()), both, frozenset()))
        assert screen.found is not None and screen.found.a.commit == "070fc3b"


async def test_a_sample_that_is_aligned_late_does_not_take_the_place_of_another(
    commits: Any, until: Until
) -> None:
    app = OmniApp()
    async with app.run_test(size=(120, 50)):
        screen = await samples(app, until, commits[0][0])
        screen.on_sample_seen(SampleSeen(0, "s2", None, None))  # one that the cursor was on before
        screen.on_sample_seen(SampleSeen(1, "s1", None, None))  # the same name in another workload
        screen._show()
        assert "errors in 10 words" in text(app, "#sample")


async def test_what_was_typed_last_counts_when_the_filter_is_left_at_once(commits: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(120, 50)) as pilot:
        screen = await samples(app, until, commits[0][0])
        await pilot.press("slash")
        await until(lambda: isinstance(app.focused, Input))
        screen.query_one(Input).value = "公园"
        screen.action_back()  # before the line has told of it
        assert [one.id for one in screen.shown] == ["s3"]
        screen.action_back()
        assert app.screen is screen and len(screen.shown) == 3
        await pilot.pause()
        assert len(screen.shown) == 3
        screen.query_one(Input).value = "公园"
        screen.show_all()
        await pilot.pause()
        assert screen.order.text == ""


async def test_in_the_list_of_passes_too(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(140, 40)) as pilot:
        screen = await opened(app, until, 19)
        await pilot.press("slash")
        await until(lambda: isinstance(app.focused, Input))
        screen.query_one(Input).value = "evil"
        screen.action_back()
        assert screen.view.text == "evil" and app.focused is screen.query_one(Table)
        screen.action_back()
        assert app.screen is screen and screen.view.text == ""
        await pilot.pause()
        assert screen.view.text == ""


async def test_the_pass_that_was_chosen_is_opened_though_another_has_its_place(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(140, 40)):
        screen = await opened(app, until, 19)
        table = screen.query_one(Table)
        folder = table.row_at(0).key
        await until(lambda: table.row_at(3).key != "")
        screen._chosen(Table.Chosen(table, 3, folder))  # it was in that place when the key came
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.folder == Path(folder))


async def test_a_point_that_was_chosen_may_have_gone_from_its_place(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(140, 40)):
        one = (await opened(app, until, 19)).selected
        assert one is not None
        app.post_message(TrendsChosen(one.runbook, one.gpu))
        await until(lambda: isinstance(app.screen, TrendsScreen) and app.screen.query_one(Table).total > 0)
        assert isinstance(app.screen, TrendsScreen)
        app.screen._chosen(Table.Chosen(app.screen.query_one(Table), 999, one.folder))
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.folder == Path(one.folder))


async def test_a_file_is_replaced_by_what_was_to_be_written_there(commits: Any, until: Until, here: Path) -> None:
    app = OmniApp()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await compared(app, until, sides(commits))
        file = here / "there.md"
        file.write_text("old")
        screen.export("another", lambda _form: "another export, begun meanwhile")
        await pilot.press("escape")
        screen.on_file_there(FileThere(str(file), lambda _form: "the first one"))
        await until(lambda: isinstance(app.screen, ChoiceScreen) and bool(app.screen.query("#choice-over")))
        app.screen.query_one("#choice-over", Button).press()
        await until(lambda: file.read_text() == "the first one\n")


async def test_the_focus_is_left_where_the_user_is_when_the_runs_come(fake_runs: Any, until: Until) -> None:
    fake_runs.make("failed")
    app = OmniApp()
    async with app.run_test() as pilot:
        runs = app.screen.query_one("#runs", RowList)
        await until(lambda: bool(runs.rows) and app.focused is runs)
        screen = app.screen
        assert isinstance(screen, HomeScreen)
        # As it is when they come after the first key.
        read = RunsRead(tuple(screen._runs.values()), 0)
        screen.on_runs_read(RunsRead((), 0))
        await pilot.press("tab")
        await until(lambda: getattr(app.focused, "id", "") == "runbooks")
        screen.on_runs_read(read)
        await pilot.pause()
        assert runs.rows and getattr(app.focused, "id", "") == "runbooks"


async def test_a_run_that_goes_while_it_is_chosen_ends_nothing(fake_runs: Any, until: Until) -> None:
    fake_runs.make("failed")
    app = OmniApp()
    async with app.run_test():
        runs = app.screen.query_one("#runs", RowList)
        await until(lambda: bool(runs.rows))
        assert isinstance(app.screen, HomeScreen)
        app.screen._run_chosen(RowList.Chosen(runs, 0, "20260101-000000-gone"))
        await until(lambda: any("not there any more" in note.message for note in app._notifications))
