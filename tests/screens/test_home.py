from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from omnitui import supervise
from omnitui.ui.app import OmniApp
from omnitui.ui.screens.home import HomeScreen
from omnitui.ui.screens.new_run import NewRunScreen
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.themes import LIGHT
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.rows import RowLine
from textual.widgets import Input

Until = Callable[[Callable[[], bool]], Awaitable[None]]


OWN = """
schema = 1
title = "Of my own"
summary = "S"
[[phases]]
id = "p"
title = "P"
[[phases.steps]]
id = "s"
title = "S"
run = "true"
"""


def own_runbook(folder: Path) -> Path:
    """A runbook that did not come with OmniTUI."""
    own = folder / "own"
    own.mkdir()
    (own / "runbook.toml").write_text(OWN)
    return own


def listed(app: OmniApp, which: str) -> list[str]:
    return [
        "".join(c.text for c in row.left) for rows in app.screen.query(which).results(RowList) for row in rows.rows
    ]


async def test_runs_are_listed_with_where_they_stand_and_enter_opens_one(fake_runs: Any, until: Until) -> None:
    fake_runs.make("asking", "20260301-090000-demo")
    fake_runs.make("failed", "20260302-090000-demo")
    app = OmniApp()
    async with app.run_test() as pilot:
        await until(lambda: len(listed(app, "#runs")) == 2)
        failed, asking = listed(app, "#runs")
        assert failed.startswith("✘ failed") and "main/run1 · Start the recogniser" in failed
        assert asking.startswith("? asks")
        await until(lambda: isinstance(app.focused, RowList) and app.focused.id == "runs")
        await pilot.press("down", "enter")
        await until(lambda: isinstance(app.screen, RunScreen))
        assert isinstance(app.screen, RunScreen) and app.screen.run.name == "20260301-090000-demo"
        await pilot.press("escape")
        await until(lambda: isinstance(app.screen, HomeScreen))


async def test_a_run_that_is_corrupt_says_how_to_repair_it(fake_runs: Any, until: Until) -> None:
    run = fake_runs.make("corrupt")
    app = OmniApp()
    async with app.run_test() as pilot:
        await until(lambda: len(listed(app, "#runs")) == 1)
        assert f"omnitui repair {run.name}" in listed(app, "#runs")[0]
        await pilot.press("enter")
        await until(lambda: bool(app._notifications))
        assert isinstance(app.screen, HomeScreen)


async def test_home_notices_what_changes(fake_runs: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test():
        await until(
            lambda: any("No runs yet" in cell.text for line in app.screen.query(RowLine) for cell in line.row.left)
        )
        fake_runs.make("held")
        await until(lambda: len(listed(app, "#runs")) == 1)


async def test_n_opens_a_new_run_of_the_runbook(fake_runs: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test() as pilot:
        await until(lambda: len(listed(app, "#runbooks")) == 1)
        await pilot.press("n")
        await until(lambda: isinstance(app.screen, NewRunScreen) and bool(app.screen.query(Input)))


async def test_the_theme_changes_by_a_key_and_every_key_is_in_the_palette(fake_runs: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test() as pilot:
        await until(lambda: len(listed(app, "#runbooks")) == 1)
        names = {command.title for command in app.get_system_commands(app.screen)}
        assert {"open", "new run", "theme", "help", "quit"} <= names
        await pilot.press("t")
        assert app.theme == LIGHT.name
        await pilot.press("ctrl+c")
        assert app.is_running and app._notifications
        await pilot.press("q")
        await until(lambda: not app.is_running)


async def test_n_on_a_run_opens_a_new_run_of_its_runbook(fake_runs: Any, until: Until, tmp_path: Path) -> None:
    supervise.make_run(str(own_runbook(tmp_path)), {}, None)
    app = OmniApp()
    async with app.run_test() as pilot:
        await until(lambda: isinstance(app.focused, RowList) and app.focused.id == "runs")
        await pilot.press("n")
        await until(lambda: isinstance(app.screen, NewRunScreen))
        await until(lambda: any("Of my own" in c.text for r in app.screen.query(RowLine) for c in r.row.left))


async def test_a_rehearsal_is_marked_where_there_is_little_room(
    fake_runs: Any, until: Until, tmp_path: Path
) -> None:
    rehearsal = supervise.make_run(str(own_runbook(tmp_path)), {}, None, rehearsal=True)
    fake_runs.make("complete")
    app = OmniApp()
    async with app.run_test(size=(80, 24)):
        await until(lambda: len(listed(app, "#runs")) == 2)
        rows = app.screen.query_one("#runs", RowList).rows
        marked = [row.key for row in rows if any("REHEARSAL" in cell.text for cell in row.right)]
        assert marked == [rehearsal.name]
