"""The panes of the Run screen that show the machine: keys, whole screens, ages, a monitor of the app's own."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from omnitui import store
from omnitui.samples import Sample, encoded
from omnitui.sampling import Watched
from omnitui.store import RunFolder
from omnitui.supervise import SHELL_CPUS
from omnitui.ui.drawing import tight
from omnitui.ui.keeping_off import keep_off, operators_cpus
from omnitui.ui.screens.home import HomeScreen
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.widgets.readings import Readings
from omnitui.ui.widgets.timeline import Timeline
from tests.screens.conftest import NOW, sample
from tests.screens.test_run_screen import Opened, opened
from textual.geometry import Region
from textual.strip import Strip

Until = Callable[[Callable[[], bool]], Awaitable[None]]


def shown(on: Opened, pane: str) -> str:
    return on.screen.query_one(f"#{pane}", Readings).text


def displayed(on: Opened) -> set[str]:
    names = ("checklist", "step", "logs", "gpu", "host", "server", "gate-pane", "timeline")
    return {name for name in names if on.screen.query_one(f"#{name}").display}


async def test_a_pane_is_maximised_and_escape_leads_back(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        await until(lambda: "59.8" in shown(on, "gpu"))
        everything = {"checklist", "step", "logs", "gpu", "host"}
        assert displayed(on) == everything
        await on.pilot.press("1", "z")
        assert displayed(on) == {"gpu"}
        await until(lambda: "GPU_FREE below 1.0 GiB" in shown(on, "gpu"))
        assert "4711 kim VLLM::EngineCore" in shown(on, "gpu")
        await on.pilot.press("2")
        assert displayed(on) == {"host"}
        await on.pilot.press("escape")
        assert displayed(on) == everything
        await on.pilot.press("5")
        assert displayed(on) == {"timeline"}
        await on.pilot.click("#tabs", offset=(2, 0))
        assert displayed(on) == everything
        await on.pilot.press("z")
        assert displayed(on) == {"checklist"}
        await on.pilot.press("escape", "escape")
        await until(lambda: isinstance(on.app.screen, HomeScreen))


async def test_what_the_runner_writes_is_shown_and_grows_stale(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(fake_runs.make("running"), until, size=(200, 60)) as on:
        await until(lambda: "911 mallory train.py" in shown(on, "gpu"))
        assert "FOREIGN" in shown(on, "gpu") and "STALE" not in shown(on, "gpu")
        assert "silent for 42s" in shown(on, "server")
        monkeypatch.setattr(RunScreen, "clock", staticmethod(lambda: NOW + 40))
        await until(lambda: "STALE 41s" in shown(on, "gpu") and "STALE 41s" in shown(on, "host"))
        await until(lambda: "STALE 42s" in shown(on, "server"))
        with on.run.telemetry.open("ab") as file:
            file.write(encoded(sample(NOW + 40, 10)))
        await until(lambda: "STALE" not in shown(on, "gpu") and "6.8 of 140.4 GiB" in shown(on, "gpu"))


async def test_a_server_that_writes_while_nothing_else_does_is_not_silent(fake_runs: Any, until: Until) -> None:
    run = fake_runs.make("running")
    fake_runs.let_go()
    async with opened(run, until, size=(200, 60)) as on:
        await until(lambda: "silent for 42s" in shown(on, "server"))
        os.utime(run.job("main/run1/server", 1) / "log", (NOW - 1, NOW - 1))
        await until(lambda: "being written" in shown(on, "server"))


async def test_only_changed_cells_are_drawn(fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(fake_runs.make("running"), until, size=(200, 60)) as on:
        await until(lambda: "59.8" in shown(on, "gpu"))
        drawn: list[Region] = []
        pane = on.screen.query_one("#gpu", Readings)
        monkeypatch.setattr(pane, "refresh", lambda *regions, **_: drawn.extend(regions))
        before = pane.rows
        pane.show_rows(before)
        assert not drawn
        changed = before[3]._replace(left=(before[3].left[0]._replace(text="699/700 W · 61 °C · 1980 MHz"),))
        pane.show_rows((*before[:3], changed, *before[4:]))
        assert drawn == [Region(1, 3, 2, 1)]
        # A line that goes, and comes again, leaves the others alone.
        drawn.clear()
        pane.show_rows((*before[:3], *before[4:]), slack=4)
        kept = {region.y for region in drawn}
        assert drawn and not kept & {0, 1, 2} and not any(region.size == pane.size for region in drawn)
        drawn.clear()
        pane.show_rows((*before[:3], changed, *before[4:]), slack=4)
        assert {region.y for region in drawn} <= kept


async def test_a_monitor_of_its_own_only_while_no_runner_works_and_it_is_seen(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: list[Watched] = []

    @asynccontextmanager
    async def own(watched: Watched) -> AsyncIterator[AsyncIterator[Sample]]:
        async def told() -> AsyncIterator[Sample]:
            yield sample(NOW, 20)
            await asyncio.Event().wait()

        alive.append(watched)
        try:
            yield told()
        finally:
            alive.remove(watched)

    monkeypatch.setattr(RunScreen, "own_samples", staticmethod(own))
    async with opened(fake_runs.make("held"), until) as on:
        await until(lambda: "13.7 GiB" in shown(on, "gpu"))
        (watched,) = alive
        assert watched.gpus == "0,1"
        await on.pilot.press("n", "z")
        await until(lambda: not alive)
        await on.pilot.press("z")
        await until(lambda: len(alive) == 1)
        with store.locked(on.run, fake_runs.me, "runner"):
            await until(lambda: not alive)
        await until(lambda: len(alive) == 1)
        await on.pilot.press("escape", "escape")
        await until(lambda: not alive)


async def test_the_app_is_a_viewer_of_a_run_at_work_until_its_screen_is_left(fake_runs: Any, until: Until) -> None:
    def names(run: RunFolder) -> list[str]:
        return [file.name.partition(".")[0] for file in run.viewers.iterdir()] if run.viewers.exists() else []

    async with opened(fake_runs.make("running"), until) as on:
        await until(lambda: names(on.run) == [str(os.getpid())])
        await on.pilot.press("escape", "escape")
        await until(lambda: names(on.run) == [])


async def test_the_time_line_is_zoomed_and_moved(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        await on.pilot.press("5")
        pane = on.screen.query_one(Timeline)
        await until(lambda: "11:55:00 – 11:59:59" in pane.text)
        assert "✔ Start the recogniser" in pane.text and "! foreign process 911" in pane.text
        await on.pilot.press("plus")
        await until(lambda: "11:57:29 – 11:59:59" in pane.text)
        assert "Start the recogniser" not in pane.text
        await on.pilot.press("left")
        await until(lambda: "11:56:52 – 11:59:21" in pane.text)
        await on.pilot.press("right")
        await until(lambda: "11:57:29 – 11:59:59" in pane.text)
        await on.pilot.press("minus")
        await until(lambda: "11:55:00 – 11:59:59" in pane.text)


# -- keeping off -------------------------------------------------------------------------------------------------


@pytest.mark.skipif(len(SHELL_CPUS) < 2, reason="one CPU alone leaves none to keep to")
def test_the_app_keeps_off_and_its_children_in_the_terminal_do_not() -> None:
    first = frozenset([min(SHELL_CPUS)])
    try:
        assert "the app keeps to CPUs" in keep_off(first)
        for thread in Path("/proc/self/task").iterdir():
            assert os.sched_getaffinity(int(thread.name)) == SHELL_CPUS - first
        with operators_cpus():
            assert os.sched_getaffinity(0) == SHELL_CPUS
        assert os.sched_getaffinity(0) == SHELL_CPUS - first
        assert "no CPU is left" in keep_off(SHELL_CPUS)
        assert os.sched_getaffinity(0) == SHELL_CPUS
    finally:
        assert keep_off(frozenset()) == ""
    assert os.sched_getaffinity(0) == SHELL_CPUS


# -- what goes to the terminal -----------------------------------------------------------------------------------


def test_an_update_begins_where_the_change_does() -> None:
    from rich.console import Console  # noqa: PLC0415 - of this test alone
    from rich.segment import Segment  # noqa: PLC0415
    from textual._compositor import ChopsUpdate  # noqa: PLC0415

    chops = [{0: Strip([Segment("left 12")]), 7: Strip([Segment("语音 right")])}]
    update = tight(ChopsUpdate(chops, [(0, 5, 9)], [[7, 17]]))
    assert isinstance(update, ChopsUpdate)
    assert update.render_segments(Console()) == "\x1b[1;6H12\x1b[1;8H语"
    assert tight(None) is None
