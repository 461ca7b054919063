from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from omnitui import store
from omnitui.ui.app import OmniApp
from omnitui.ui.screens.new_run import NewRunScreen
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.widgets.variable_field import VariableField
from textual.pilot import Pilot
from textual.widgets import Button, Input, Select, Static

Until = Callable[[Callable[[], bool]], Awaitable[None]]


@asynccontextmanager
async def opened(until: Until) -> Any:
    app = OmniApp(runbook="demo")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: isinstance(app.screen, NewRunScreen) and app.screen.checked)
        await until(lambda: len(app.screen.query(VariableField)) == 4)
        yield pilot, app


def field(app: OmniApp, name: str) -> VariableField:
    return next(one for one in app.screen.query(VariableField) if one.variable_name == name)


async def fill(pilot: Pilot[Any], app: OmniApp, name: str, value: str) -> None:
    field(app, name).query_one(Input).value = value
    await pilot.pause()


async def test_a_value_that_does_not_fit_is_refused_beside_its_field(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOKEN", raising=False)
    async with opened(until) as (pilot, app):
        assert [field(app, name).refused for name in ("PORT", "MODE")] == ["", ""]
        assert field(app, "COMMIT").refused == "needs a value"
        assert field(app, "TOKEN").refused == "needed: it is not in the environment"
        assert field(app, "TOKEN").query_one(Input).password
        await until(lambda: isinstance(app.focused, Input))
        await fill(pilot, app, "PORT", "[/")
        assert field(app, "PORT").refused.startswith("must match")
        assert field(app, "PORT").has_class("-refused")
        await pilot.press("ctrl+s")
        assert app.focused is field(app, "PORT").query_one(Input)
        assert not store.runs()


async def test_make_without_starting(fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKEN", raising=False)
    async with opened(until) as (pilot, app):
        await fill(pilot, app, "COMMIT", "5ed8a8d")
        await fill(pilot, app, "TOKEN", "hunter2")
        field(app, "MODE").query_one(Select).value = "exact"
        app.screen.query_one("#schedules", Select).value = "one"
        await until(lambda: "One scored run" in str(app.screen.query_one("#passes", Static).content))
        app.screen.query_one("#make", Button).press()
        await until(lambda: isinstance(app.screen, RunScreen) and app.screen.snapshot is not None)
        (run,) = store.runs()
        state = store.read(run)
        assert state.variables == {"PORT": "8000", "MODE": "exact", "COMMIT": "5ed8a8d"}
        assert state.schedule == ("main/run1",)
        assert app.screen.secrets == {"TOKEN": "hunter2"}
        assert not any(b"hunter2" in file.read_bytes() for file in run.path.rglob("*") if file.is_file())
        assert app.screen.snapshot.outcome == "held"
        await pilot.press("escape")
        await until(lambda: not isinstance(app.screen, RunScreen | NewRunScreen))


async def test_a_secret_of_the_environment_need_not_be_typed(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "hunter2")
    async with opened(until) as (_, app):
        assert not field(app, "TOKEN").refused


async def test_a_runbook_cannot_draw_or_write_markup(fake_runs: Any, until: Until, tmp_path: Path) -> None:
    folder = tmp_path / "evil"
    folder.mkdir()
    evil = r"[/] \u001b[2J [bold"
    (folder / "runbook.toml").write_text(
        f'schema = 1\ntitle = "{evil}"\nsummary = "{evil}"\n'
        f'[variables.A]\nhelp = "{evil}"\ndefault = "x"\nchoices = ["x", "{evil}"]\n'
        f"[variables.B]\nhelp = \"{evil}\"\npattern = '\\['\n"
        f'[[schedules]]\nid = "a"\ntitle = "{evil}"\norder = ["main/a"]\n'
        f'[[schedules]]\nid = "b"\ntitle = "{evil}"\norder = ["main/b"]\n'
        f'[passes]\nout = "/nowhere/${{PASS}}"\n[[phases]]\nid = "p"\ntitle = "{evil}"\nper = "pass"\n'
        f'[[phases.steps]]\nid = "s"\ntitle = "{evil}"\nnote = "{evil}"\nrun = "echo \'{evil}\'"\n'
        f'remedies = [{{ say = "{evil}", run = "{evil}" }}]\n'
    )
    app = OmniApp(runbook=str(folder))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: isinstance(app.screen, NewRunScreen) and app.screen.checked)
        await until(lambda: len(app.screen.query(VariableField)) == 2)
        field(app, "A").query_one(Select).expanded = True
        await fill(pilot, app, "B", evil)
        await fill(pilot, app, "B", "[")
        await pilot.press("escape")
        app.screen.query_one("#make", Button).press()
        await until(lambda: isinstance(app.screen, RunScreen) and app.screen.snapshot is not None)
        for key in ("c", "n", "i", "o", "e"):
            await pilot.press(key)
        assert "control characters" in " ".join(one.message for one in app._notifications)
        assert "\x1b[2J" not in app.export_screenshot()


async def test_a_runbook_that_is_wrong_cannot_be_run(fake_runs: Any, until: Until, tmp_path: Path) -> None:
    folder = tmp_path / "wrong"
    folder.mkdir()
    text = "schema = 1\ntitle = 'Wrong'\nsummary = ''\n[variables.A]\nhelp = ''\npattern = '['\n"
    (folder / "runbook.toml").write_text(text)
    app = OmniApp(runbook=str(folder))
    async with app.run_test() as pilot:
        await until(lambda: isinstance(app.screen, NewRunScreen) and app.screen.checked)
        await until(lambda: "not a regular expression" in str(app.screen.query_one("#preflight", Static).content))
        await pilot.press("ctrl+s")
        assert isinstance(app.screen, NewRunScreen) and not store.runs()


async def test_what_stands_in_the_way_is_told_before_the_start(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "port 18700 is held by pid 77 (python3)"
    monkeypatch.setattr(NewRunScreen, "preflight", staticmethod(lambda runbook, values: [told]))
    monkeypatch.setenv("TOKEN", "x")
    async with opened(until) as (pilot, app):
        await fill(pilot, app, "COMMIT", "5ed8a8d")
        await until(lambda: f"✘ {told}" in str(app.screen.query_one("#preflight", Static).content))
        # Also where a small screen shows it.
        assert str(app.screen.query_one("#in-the-way", Static).content) == f"✘ {told}"
