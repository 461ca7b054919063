"""The Gates pane, the bar of the running step, what spoils a pass, and what the terminal is told."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from omnitui import store
from omnitui.config import Config
from omnitui.gates import Red
from omnitui.ui import app as app_module
from omnitui.ui.app import OmniApp
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.widgets.banner import Banner
from omnitui.ui.widgets.checklist import Checklist
from omnitui.ui.widgets.gates_pane import GatesPane
from omnitui.ui.widgets.progress_line import ProgressLine
from omnitui.ui.widgets.rows import Row
from textual.pilot import Pilot
from textual.widgets import Static

Until = Callable[[Callable[[], bool]], Awaitable[None]]
Compare = Callable[..., bool]
SIZES = [(80, 24), (120, 40), (200, 60)]


class Heard(OmniApp):
    """Keeps what would be written to the terminal."""

    # A subclass would look for them beside this file.
    CSS_PATH = [str(Path(app_module.__file__).parent / name) for name in OmniApp.CSS_PATH]  # noqa: RUF012

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.written = ""

    def write_to_terminal(self, text: str) -> None:
        self.written += text


def text_of(row: Row) -> str:
    return "".join(cell.text for cell in (*row.left, *row.right))


async def opened(app: OmniApp, until: Until) -> RunScreen:
    await until(lambda: isinstance(app.screen, RunScreen) and app.screen.snapshot is not None)
    screen = app.screen
    assert isinstance(screen, RunScreen)
    await until(lambda: bool(screen.gate_history) and screen.query_one(ProgressLine).display)
    await until(lambda: screen.machine.sample is not None)
    return screen


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_gates(size: tuple[int, int], fake_runs: Any, until: Until, snap_compare: Compare) -> None:
    app = OmniApp(fake_runs.make("spoiled"))

    async def ready(pilot: Pilot[Any]) -> None:
        await opened(app, until)
        await pilot.press("4", "enter")
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


@pytest.mark.parametrize("size", SIZES[:2], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_spoiled_pass(size: tuple[int, int], fake_runs: Any, until: Until, snap_compare: Compare) -> None:
    app = OmniApp(fake_runs.make("spoiled"))

    async def ready(pilot: Pilot[Any]) -> None:
        await opened(app, until)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


async def test_a_gate_opens_and_closes(fake_runs: Any, until: Until) -> None:
    app = OmniApp(fake_runs.make("spoiled"))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(app, until)
        await pilot.press("4")
        await pilot.pause()
        pane = screen.query_one(GatesPane)
        assert app.focused is pane
        lines = [text_of(row) for row in pane.rows]
        assert lines[0] == "Now"
        assert "READY" in lines[1]
        assert "now" in lines[1]
        assert "evaluated=" in lines[2]
        await pilot.press("enter")
        lines = [text_of(row) for row in pane.rows]
        assert [line.split()[:5] for line in lines if "11:52:20" in line] == [
            ["11:52:20", "#1", "◌", "not", "yet"]
        ]
        await pilot.press("down", "down", "enter")
        assert not any("11:52:20" in text_of(row) for row in pane.rows)


async def test_a_late_reading_is_stale(fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    now = RunScreen.clock()
    monkeypatch.setattr(RunScreen, "clock", staticmethod(lambda: now + 60))
    app = OmniApp(fake_runs.make("spoiled"))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(app, until)
        await pilot.press("4")
        await pilot.pause()
        ready, evaluated = (text_of(row) for row in screen.query_one(GatesPane).rows[1:3])
        assert "STALE" in ready
        # It is read when there is output: silence is not staleness.
        assert "STALE" not in evaluated


async def test_the_bar_belongs_to_the_running_step(fake_runs: Any, until: Until) -> None:
    app = OmniApp(fake_runs.make("spoiled"))
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(app, until)
        line = screen.query_one(ProgressLine)
        assert "640/1088 (59 %) · 15.6/s · 28 s left" in text_of(line.row)
        (client,) = (row for row in screen.query_one(Checklist).rows if row.key == "main/run1/client")
        assert client.right[0].text == "59 %"
        await pilot.press("up")
        await until(lambda: not line.display)
        await pilot.press("down")
        await until(lambda: line.display)


async def test_what_spoils_the_pass_is_shown_at_once_and_stays(fake_runs: Any, until: Until) -> None:
    app = OmniApp(fake_runs.make("spoiled"))
    async with app.run_test(size=(120, 40)):
        screen = await opened(app, until)
        banner = screen.query_one(Banner)
        assert banner.display
        assert "Pass run1 will not be averaged: foreign process 451" in str(banner.query_one(Static).content)
        lines = [text_of(row) for row in screen.query_one(Checklist).rows]
        assert "  ! not averaged: edited: client" in lines
        assert any(line.startswith("  ! not averaged: foreign process 451") for line in lines)


async def test_the_terminal_is_told_once_of_what_comes(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-kitty")
    for name in ("TMUX", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)
    run = fake_runs.make("spoiled")
    app = Heard(run)
    async with app.run_test(size=(120, 40)):
        await opened(app, until)
        await until(lambda: "\x1b]2;▶ demo: running · Measure speech recognition\x1b\\" in app.written)
        # What the journal told before is no news.
        assert "\x07" not in app.written
        owned = store.Owned(run, store.read(run))
        owned.commit("gate", step="main/run1/server", word="READY", verdict=Red("died\x1b]2;evil\x07"))
        owned.commit("gate", step="main/run1/server", word="READY", verdict=Red("dead"))
        owned.close()
        await until(lambda: "\x07" in app.written)
    assert app.written.count("\x07") == 1
    assert app.written.count("\x1b]9;") == 1
    assert "\x1b]9;OmniTUI: demo: a gate is red: main/run1/server: READY: died\x1b\\" in app.written


async def test_a_runner_that_is_gone_is_told_as_nobody_wrote_it(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "foot")
    monkeypatch.delenv("TMUX", raising=False)
    app = Heard(fake_runs.make("spoiled"))
    async with app.run_test(size=(120, 40)):
        await opened(app, until)
        fake_runs.let_go()
        await until(lambda: "\x07" in app.written)
    assert "\x1b]777;notify;OmniTUI;demo: the run has ended: interrupted: the runner is gone\x1b\\" in app.written
    assert "\x1b]2;◌ demo: interrupted · Measure speech recognition\x1b\\" in app.written


@pytest.mark.parametrize("config", [Config(bell=False, osc=False), Config(osc=False), Config(bell=False)])
async def test_the_config_silences_the_terminal(fake_runs: Any, until: Until, config: Config) -> None:
    run = fake_runs.make("spoiled")
    app = Heard(run, None, config)
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await opened(app, until)
        before = screen.gate_history
        owned = store.Owned(run, store.read(run))
        owned.commit("gate", step="main/run1/server", word="READY", verdict=Red("died"))
        owned.close()
        await until(lambda: screen.gate_history != before)
        await pilot.pause()
    assert ("\x07" in app.written) == config.bell
    assert ("\x1b]9;" in app.written) == config.osc


async def test_the_theme_is_the_config_s(fake_runs: Any) -> None:
    app = OmniApp(config=Config(theme="light"))
    async with app.run_test():
        assert app.theme == "omnitui-light"
