"""What every screen looks like at three sizes: pictures that a person has looked at."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from omnitui.store import RunFolder
from omnitui.ui.app import OmniApp
from omnitui.ui.screens.new_run import NewRunScreen
from omnitui.ui.screens.references import ReferencesScreen
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.widgets.notes import Notes
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.timeline import Timeline
from tests.screens.conftest import all_read
from textual.pilot import Pilot
from textual.widgets import OptionList, Select

Until = Callable[[Callable[[], bool]], Awaitable[None]]
Compare = Callable[..., bool]
SIZES = [(80, 24), (120, 40), (200, 60)]
LOOKS = [*((size, "omnitui-dark") for size in SIZES), ((120, 40), "omnitui-light")]
DUO = str(Path(__file__).parents[1] / "data" / "runbooks" / "duo")
KINDS = ("running", "failed", "asking", "complete")


def named(look: tuple[tuple[int, int], str]) -> str:
    (width, height), theme = look
    return f"{width}x{height}-{theme.removeprefix('omnitui-')}"


@pytest.mark.parametrize("look", LOOKS, ids=named)
def test_home(look: tuple[tuple[int, int], str], fake_runs: Any, until: Until, snap_compare: Compare) -> None:
    size, theme = look
    kinds = ("corrupt", "held", *KINDS)
    for number, kind in enumerate(kinds):
        fake_runs.make(kind, f"2026030{number}-115000-demo")
    app = OmniApp()
    app.theme = theme

    async def ready(pilot: Pilot[Any]) -> None:
        await until(
            lambda: any(len(rows.rows) == len(kinds) for rows in app.screen.query("#runs").results(RowList))
        )
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize("look", LOOKS, ids=named)
def test_new_run(look: tuple[tuple[int, int], str], fake_runs: Any, until: Until, snap_compare: Compare) -> None:
    size, theme = look
    os.environ.pop("TOKEN", None)
    app = OmniApp(runbook="demo")
    app.theme = theme

    async def ready(pilot: Pilot[Any]) -> None:
        await until(lambda: isinstance(app.screen, NewRunScreen) and app.screen.checked)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("keys", [(), ("end", "enter"), ("ctrl+r",)], ids=["schedule", "own-order", "references"])
def test_new_run_of_two_commits(
    keys: tuple[str, ...], size: tuple[int, int], fake_runs: Any, until: Until, snap_compare: Compare
) -> None:
    app = OmniApp(runbook=DUO)

    async def ready(pilot: Pilot[Any]) -> None:
        await until(lambda: isinstance(app.screen, NewRunScreen) and app.screen.checked)
        if "ctrl+r" not in keys:
            select = app.screen.query_one("#schedules", Select)
            select.focus()
            select.expanded = bool(keys)
            await pilot.pause()
        await pilot.press(*keys)
        if keys:
            await until(
                lambda: isinstance(app.screen, ReferencesScreen) or getattr(app.focused, "id", "") == "own-order"
            )
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("key", ["n", "m"], ids=["notes", "remedies"])
def test_run_with_a_red_step(
    key: str, size: tuple[int, int], fake_runs: Any, until: Until, snap_compare: Compare
) -> None:
    app = OmniApp(fake_runs.make("failed"))

    async def ready(pilot: Pilot[Any]) -> None:
        await until(lambda: all_read(app))
        await pilot.press(key)
        await until(lambda: isinstance(app.focused, OptionList | Notes))
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize("look", LOOKS, ids=named)
@pytest.mark.parametrize("kind", KINDS)
def test_run(
    kind: str, look: tuple[tuple[int, int], str], fake_runs: Any, until: Until, snap_compare: Compare
) -> None:
    size, theme = look
    run: RunFolder = fake_runs.make(kind)
    app = OmniApp(run)
    app.theme = theme

    async def ready(pilot: Pilot[Any]) -> None:
        await until(lambda: all_read(app))
        screen = app.screen
        assert isinstance(screen, RunScreen)
        await until(lambda: kind != "running" or screen.machine.sample is not None)
        await pilot.pause()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


PANES = [
    ("gpu", ("1",), (80, 24)),
    ("host", ("2",), (80, 24)),
    ("server", ("3",), (80, 24)),
    ("timeline", ("5",), (80, 24)),
    ("gpu-alone", ("1", "z"), (120, 40)),
    ("timeline", ("5",), (120, 40)),
    ("timeline", ("5",), (200, 60)),
]


@pytest.mark.parametrize("pane", PANES, ids=lambda pane: f"{pane[0]}-{pane[2][0]}x{pane[2][1]}")
def test_readings(
    pane: tuple[str, tuple[str, ...], tuple[int, int]], fake_runs: Any, until: Until, snap_compare: Compare
) -> None:
    _, keys, size = pane
    app = OmniApp(fake_runs.make("running"))

    async def ready(pilot: Pilot[Any]) -> None:
        await until(lambda: isinstance(app.screen, RunScreen) and app.screen.machine.sample is not None)
        await pilot.press(*keys)
        timeline = app.screen.query_one(Timeline)
        await until(lambda: bool(timeline.rows) or not timeline.display)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)
