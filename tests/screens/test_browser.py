"""One pass, a comparison, samples and trends: what they tell, and how they look."""

import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from omnitui import comparing, store
from omnitui.results import catalog
from omnitui.samples import Boundary, Contaminated, Line, encoded
from omnitui.store import RunFolder
from omnitui.ui.app import OmniApp
from omnitui.ui.browsing.trends import Trend, about
from omnitui.ui.messages import ComparisonChosen, PassChosen, SamplesChosen, TrendsChosen
from omnitui.ui.screens.comparing import CompareScreen
from omnitui.ui.screens.dialogs import ChoiceScreen
from omnitui.ui.screens.exporting import ExportScreen
from omnitui.ui.screens.one_pass import OnePassScreen
from omnitui.ui.screens.passes import PassesScreen
from omnitui.ui.screens.samples import SamplesScreen
from omnitui.ui.screens.trends import TrendsScreen
from omnitui.ui.timeline_texts import Window
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.passage import Passage
from omnitui.ui.widgets.readings import Readings
from omnitui.ui.widgets.rows import RowLine
from omnitui.ui.widgets.tab_row import TabRow
from omnitui.ui.widgets.table import Table
from omnitui.ui.widgets.timeline import Timeline
from tests.result_stores import known, put, result, take_in, two_commits
from tests.screens.conftest import NOW, sample
from tests.screens.test_pictures import LOOKS, named
from textual.events import Key
from textual.message import Message
from textual.pilot import Pilot
from textual.widgets import Button, Input

Until = Callable[[Callable[[], bool]], Awaitable[None]]
Compare = Callable[..., bool]
Looks = tuple[tuple[int, int], str]


@pytest.fixture
def commits(fake_runs: Any) -> tuple[list[Path], list[Path]]:
    return two_commits()


def sides(commits: tuple[list[Path], list[Path]]) -> ComparisonChosen:
    return ComparisonChosen(frozenset(map(str, commits[0])), frozenset(map(str, commits[1])))


def text(app: OmniApp, which: str) -> str:
    return app.screen.query_one(which, Readings).text


async def compared(app: OmniApp, until: Until, asked: Message) -> CompareScreen:
    app.post_message(asked)
    await until(lambda: isinstance(app.screen, CompareScreen) and app.screen.found is not None)
    screen = app.screen
    assert isinstance(screen, CompareScreen)
    return screen


@pytest.mark.parametrize("look", LOOKS, ids=named)
def test_compare(look: Looks, commits: Any, until: Until, snap_compare: Compare) -> None:
    size, theme = look
    app = OmniApp()
    app.theme = theme

    async def ready(pilot: Pilot[Any]) -> None:
        await compared(app, until, sides(commits))
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


RULES = """
[[accept]]
metric = "speech.throughput"
at_least = "1.02x"
why = "what this change is for"

[[accept]]
metric = "wer"
at_most = "base - 0.0002"
"""


def write_rules(text: str) -> Path:
    file = store.home() / "accept" / "speech.toml"
    file.parent.mkdir()
    file.write_text(text)
    return file


@pytest.mark.parametrize("look", LOOKS[:2], ids=named)
def test_rules_in_a_comparison(look: Looks, commits: Any, until: Until, snap_compare: Compare) -> None:
    file = write_rules(RULES)
    app = OmniApp()

    async def ready(pilot: Pilot[Any]) -> None:
        screen = await compared(app, until, sides(commits))
        assert screen.found and screen.found.rules_from == str(file)
        # Where this machine keeps its temporary files is no part of the picture.
        screen.found = replace(screen.found, rules_from="~/.local/share/omnitui/accept/speech.toml")
        screen._show()
        await pilot.pause()

    assert snap_compare(app, terminal_size=look[0], run_before=ready)


async def test_the_rules_are_those_of_the_verb_and_what_cannot_be_judged_says_why(
    fake_runs: Any, until: Until
) -> None:
    commits = two_commits(gpus={"count": 1, "names": ["NVIDIA H100"], "uuids": ["GPU-b"], "driver": "575.57"})
    write_rules(RULES)
    app = OmniApp()
    async with app.run_test(size=(140, 50)) as pilot:
        screen = await compared(app, until, sides(commits))
        assert "✘ B is not accepted: 2 cannot be judged" in text(app, "#rules")
        assert "gpu.names differs" in text(app, "#rules")
        await pilot.press("d")
        await until(lambda: isinstance(app.focused, Button))
        await pilot.press("left", "enter")
        await until(lambda: bool(screen.found and not screen.found.locked))
        told = text(app, "#rules")
        assert "✘ B is not accepted: 1 accepted, 1 refused" in told
        assert told.index("wer at most") < told.index("8.04 ≥ 4.1208; what this change is for")
        shown = screen.found
    name = commits[0][0].parents[2].name
    said = comparing.compared(f"{name}/base", f"{name}/new", ["gpu.names", "gpu.uuids"])
    assert shown is not None and said.rules == shown.rules
    for form in ("table", "md", "csv", "json", "html"):
        assert "refused" in comparing.told(said, form)


@pytest.mark.parametrize("look", LOOKS, ids=named)
def test_samples(look: Looks, commits: Any, until: Until, snap_compare: Compare) -> None:
    size, theme = look
    app = OmniApp()
    app.theme = theme

    async def ready(pilot: Pilot[Any]) -> None:
        app.post_message(SamplesChosen(commits[0][0]))
        await until(lambda: isinstance(app.screen, SamplesScreen) and "errors in 10 words" in text(app, "#sample"))
        await until(lambda: "loudest" in text(app, "#sample"))
        screen = app.screen
        assert isinstance(screen, SamplesScreen)
        # Where this machine keeps its temporary files is no part of the picture.
        (found,) = screen.sets
        moved = (replace(one, wav=f"/results/base/speech/audio/{one.id}.wav") for one in found.samples)
        screen.sets = (replace(found, samples=tuple(moved)),)
        screen._show()
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


TABS = [("1", (120, 40)), ("2", (120, 40)), ("3", (120, 40)), ("5", (120, 40)), ("1", (80, 24)), ("6", (80, 24))]


@pytest.mark.parametrize("tab", TABS, ids=lambda tab: f"{tab[0]}-{tab[1][0]}")
def test_one_pass(tab: tuple[str, tuple[int, int]], commits: Any, until: Until, snap_compare: Compare) -> None:
    key, size = tab
    app = OmniApp()

    async def ready(pilot: Pilot[Any]) -> None:
        app.post_message(PassChosen(commits[0][0]))
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.found is not None)
        await pilot.press(key)
        log = app.screen.query_one(LogView)
        await until(lambda: app.screen.query_one("#tabs", TabRow).chips != () and (key != "6" or was_read(log)))
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


def was_read(log: LogView) -> bool:
    return log._page is not None and log.size.height > 0 and "counting" not in log._status()


def telemetry_of(run: RunFolder) -> None:
    """Two minutes of a run: a server before the pass, the client of the pass, and what marked it."""
    client, foreign = "base/run1/client", "foreign process 911 (python3 of mallory) on GPU 1"
    lines: list[Line] = [
        *(Boundary(NOW, "began", "_/_/server", 1), Boundary(NOW + 40, "ended", "_/_/server", 1, "passed")),
        *(Boundary(NOW + 41, "began", client, 1), Boundary(NOW + 100, "ended", client, 1, "passed")),
        Contaminated(NOW + 70, client, "foreign process", f"{foreign} during {client}"),
        *(sample(NOW + second, second) for second in range(120)),
    ]
    run.telemetry.write_bytes(b"".join(map(encoded, sorted(lines, key=lambda line: line.at))))


async def timeline(app: OmniApp, pilot: Pilot[Any], until: Until, folder: Path) -> Timeline:
    app.post_message(PassChosen(folder))
    await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.found is not None)
    await pilot.press("4")
    return app.screen.query_one(Timeline)


@pytest.mark.parametrize("look", LOOKS[:2], ids=named)
def test_the_time_line_of_a_pass(look: Looks, commits: Any, until: Until, snap_compare: Compare) -> None:
    telemetry_of(RunFolder(commits[0][0].parents[2]))
    app = OmniApp()

    async def ready(pilot: Pilot[Any]) -> None:
        pane = await timeline(app, pilot, until, commits[0][0])
        await until(lambda: "59s a column is" in pane.text)
        await pilot.pause()

    assert snap_compare(app, terminal_size=look[0], run_before=ready)


async def test_the_time_line_shows_the_pass_and_then_what_is_asked_for(commits: Any, until: Until) -> None:
    telemetry_of(RunFolder(commits[0][0].parents[2]))
    app = OmniApp()
    async with app.run_test(size=(120, 50)) as pilot:
        pane = await timeline(app, pilot, until, commits[0][0])
        await until(lambda: "12:00:41 – 12:01:40 · 59s" in pane.text)
        assert pane.window == Window(NOW + 41, NOW + 100)
        assert "✔ client" in pane.text and "✔ server" not in pane.text
        assert "! foreign process 911 (python3 of mallory) on GPU 1" in pane.text
        await pilot.press("minus", "minus")
        await until(lambda: "✔ server" in pane.text)
        await pilot.press("0")
        await until(lambda: "12:00:00 – 12:01:59" in pane.text)


async def test_a_pass_without_telemetry_says_so(commits: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(120, 50)) as pilot:
        pane = await timeline(app, pilot, until, commits[0][0])
        await until(lambda: "No telemetry" in pane.text)


async def test_the_logs_of_what_was_taken_in_are_those_beside_its_results(
    fake_runs: Any, tmp_path: Path, until: Until
) -> None:
    out = tmp_path / "measured"
    (out / "asr").mkdir(parents=True)
    (out / "asr" / "server.log").write_text("READY\n")
    (out / "client.log").write_text("done\n")
    one = result("warm", 1, {"wer": 0.3}, scored=False, origin="import")
    home = take_in({"main/warm": one}, {**known("5ed8a8d", "main"), "out_here": str(out)})
    app = OmniApp()
    async with app.run_test(size=(120, 50)) as pilot:
        app.post_message(PassChosen(home / "passes" / "main" / "warm"))
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.found is not None)
        title = "".join(cell.text for cell in app.screen.query_one("#title", RowLine).row.left)
        assert title.startswith("main/warm   IMPORT – not scored   20260301-070000-speech")
        await pilot.press("6")
        log = app.screen.query_one(LogView)
        await until(lambda: log.path == out / "asr" / "server.log")
        await pilot.press("l")
        await until(lambda: log.path == out / "client.log")


@pytest.mark.parametrize("look", LOOKS[:2], ids=named)
def test_trends(look: Looks, commits: Any, until: Until, snap_compare: Compare) -> None:
    app = OmniApp()

    async def ready(pilot: Pilot[Any]) -> None:
        catalog.refresh()
        app.post_message(TrendsChosen("speech", "NVIDIA H200"))
        await until(lambda: isinstance(app.screen, TrendsScreen) and app.screen.trend is not None)
        await pilot.pause()

    assert snap_compare(app, terminal_size=look[0], run_before=ready)


async def test_what_differs_stands_first_and_blocks_every_verdict(fake_runs: Any, until: Until) -> None:
    commits = two_commits(gpus={"count": 1, "names": ["NVIDIA H100"], "uuids": ["GPU-b"], "driver": "575.57"})
    app = OmniApp()
    async with app.run_test(size=(140, 50)) as pilot:
        screen = await compared(app, until, sides(commits))
        told = text(app, "#sides")
        assert "✘ No verdicts: gpu.names differs" in told
        assert "NVIDIA H200 → NVIDIA H100" in told
        assert all(one.verdict == "cannot be compared" for one in screen.found.metrics) if screen.found else False
        assert "better" not in screen.query_one(Table).text
        await pilot.press("d")
        await until(lambda: isinstance(app.focused, Button))
        await pilot.press("left", "enter")
        await until(lambda: bool(screen.found and not screen.found.locked))
        assert "Compared despite: gpu.names, gpu.uuids" in text(app, "#sides")


async def test_a_comparison_says_why_and_can_be_copied_and_swapped(commits: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(140, 50)) as pilot:
        screen = await compared(app, until, sides(commits))
        assert "variable.COMMIT" in text(app, "#sides") and "● compared" in text(app, "#sides")
        about = text(app, "#about")
        assert "no noise floor of this machine is known" in about and "beside it: speech.tokens" in about
        assert about.count("●") >= 2
        await pilot.press("Y")
        assert app.clipboard.startswith("# Speech, two ways")
        await pilot.press("x")
        await until(lambda: bool(screen.found and screen.found.a.commit == "070fc3b"))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def told(app: OmniApp) -> str:
    return " ".join(note.message for note in app._notifications)


async def exporting(app: OmniApp, pilot: Pilot[Any], until: Until) -> Input:
    await pilot.press("e")
    await until(lambda: isinstance(app.screen, ExportScreen) and bool(app.screen.query(Input)))
    return app.screen.query_one(Input)


async def test_no_part_of_a_name_that_was_typed_ahead_is_written(commits: Any, until: Until, here: Path) -> None:
    app = OmniApp()
    async with app.run_test(size=(120, 40)):
        await compared(app, until, sides(commits))
        for char in f"e{here}/deep/down/name.md":
            app.post_message(Key({"/": "slash", ".": "full_stop"}.get(char, char), char))
        app.post_message(Key("enter", "\r"))
        await until(lambda: isinstance(app.focused, Input))
        app.post_message(Key("enter", "\r"))
        await until(lambda: "is lost" in told(app) or "wrote" in told(app))
        assert list(here.rglob("*.md")) == []


async def test_a_comparison_is_exported_where_the_operator_says(commits: Any, until: Until, here: Path) -> None:
    app = OmniApp()
    async with app.run_test(size=(120, 40)) as pilot:
        screen = await compared(app, until, sides(commits))
        assert (await exporting(app, pilot, until)).value == str(here / "comparison.md")
        await pilot.press("enter")
        await until(lambda: f"wrote {here / 'comparison.md'}" in told(app))
        line = await exporting(app, pilot, until)
        await pilot.click("#form-html")
        assert line.value == str(here / "comparison.html")
        line.value = "report.html"
        await pilot.click("#accept")
        await until(lambda: f"wrote {here / 'report.html'}" in told(app))
        assert (here / "report.html").read_text().startswith("<!doctype html>")
        await exporting(app, pilot, until)
        await pilot.press("escape")
        assert app.screen is screen
        assert {file.name for file in here.iterdir()} == {"comparison.md", "report.html"}


async def test_no_file_is_written_over_unasked_and_what_cannot_be_written_is_told(
    commits: Any, until: Until, here: Path
) -> None:
    (here / "comparison.md").write_text("mine")
    app = OmniApp()
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await compared(app, until, sides(commits))
        await exporting(app, pilot, until)
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, ExportScreen) and bool(app.screen.query(Input)))
        assert (here / "comparison.md").read_text() == "mine"
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, ChoiceScreen))
        await pilot.click("#choice-over")
        await until(lambda: f"wrote {here / 'comparison.md'}" in told(app))
        assert (here / "comparison.md").read_text().startswith("# Speech, two ways")
        line = await exporting(app, pilot, until)
        line.value = "[/x].pdf"
        await pilot.press("enter")
        await until(lambda: "[/x].pdf: its ending says no format" in told(app))
        # The name is there to be mended.
        assert isinstance(app.screen, ExportScreen)
        line.value = "nowhere/x.md"
        await pilot.press("enter")
        await until(lambda: "cannot be written: No such file" in told(app))
        assert [file.name for file in here.iterdir()] == ["comparison.md"]


async def test_the_results_of_a_run_are_exported_from_the_list_and_from_a_pass(
    commits: Any, until: Until, here: Path
) -> None:
    app = OmniApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("r")
        await until(lambda: isinstance(app.screen, PassesScreen) and app.screen.query_one(Table).total == 6)
        await until(lambda: isinstance(app.screen, PassesScreen) and app.screen.selected is not None)
        run = commits[0][0].parents[2].name
        assert (await exporting(app, pilot, until)).value == str(here / f"{run}-results.md")
        await pilot.press("enter")
        await until(lambda: "wrote" in told(app))
        assert "Series base: 3 scored passes averaged" in (here / f"{run}-results.md").read_text()
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.found is not None)
        (await exporting(app, pilot, until)).value = str(here / "all.json")
        await pilot.press("enter")
        await until(lambda: f"wrote {here / 'all.json'}" in told(app))
        assert [one["series"] for one in json.loads((here / "all.json").read_text())["series"]] == ["base", "new"]


def test_the_export_dialog(commits: Any, until: Until, snap_compare: Compare) -> None:
    app = OmniApp()

    async def ready(pilot: Pilot[Any]) -> None:
        await compared(app, until, sides(commits))
        line = await exporting(app, pilot, until)
        # The folder of whoever runs the tests may be of any length.
        line.value, line.cursor_position = "/results/comparison.md", 0
        await pilot.pause()

    assert snap_compare(app, terminal_size=(80, 24), run_before=ready)


async def test_samples_are_sorted_found_and_aligned_by_characters_in_chinese(commits: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(120, 50)) as pilot:
        app.post_message(SamplesChosen(commits[0][0]))
        await until(lambda: isinstance(app.screen, SamplesScreen) and bool(app.screen.shown))
        screen = app.screen
        assert isinstance(screen, SamplesScreen)
        assert [one.id for one in screen.shown] == ["s1", "s3", "s2"]
        await pilot.press("slash", *"公园", "enter")
        assert [one.id for one in screen.shown] == ["s3"]
        await until(lambda: "characters" in text(app, "#sample"))
        assert "3 errors in 12 characters" in text(app, "#sample")
        assert "is not on this machine" in text(app, "#sample")


async def test_why_samples_cannot_be_read_stands_in_their_place(commits: Any, until: Until) -> None:
    base, _ = commits
    shutil.rmtree(store.home() / "out" / "base-run1")
    app = OmniApp()
    async with app.run_test(size=(80, 24)):
        app.post_message(SamplesChosen(base[0]))
        await until(
            lambda: isinstance(app.screen, SamplesScreen) and "is not on this machine" in text(app, "#sample")
        )
        assert not told(app)
        pane = app.screen.query_one("#sample", Passage)
        drawn = " ".join(pane.render_line(y).text.strip() for y in range(pane.size.height))
        assert drawn.rstrip().endswith("and has the samples")


async def test_why_nothing_can_be_compared_stands_in_its_place(commits: Any, until: Until) -> None:
    base, _ = commits
    shutil.rmtree(base[0].parents[2])
    app = OmniApp()
    async with app.run_test(size=(80, 24)):
        app.post_message(sides(commits))
        await until(lambda: isinstance(app.screen, CompareScreen) and "cannot be read" in text(app, "#sides"))
        assert not told(app)


async def test_from_the_list_to_a_pass_its_samples_and_a_comparison(commits: Any, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("r")
        await until(lambda: isinstance(app.screen, PassesScreen) and app.screen.query_one(Table).total == 6)
        listing = app.screen
        assert isinstance(listing, PassesScreen)
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.found is not None)
        await pilot.press("3")
        assert "NVIDIA H200" in text(app, "#provenance") and "must be equal" in text(app, "#provenance")
        await pilot.press("5")
        assert "--samples 3" in text(app, "#scripts")
        await pilot.press("m")
        await until(lambda: isinstance(app.screen, SamplesScreen))
        await pilot.press("escape", "escape")
        await until(lambda: app.screen is listing)
        listing.change(listing.view.sorted_by("commit"))
        await until(lambda: bool(listing.found and listing.found.view == listing.view))
        await pilot.press("home", "A")
        await until(lambda: len(listing.marked.a) == 3)
        await pilot.press("end", "B")
        await until(lambda: len(listing.marked.b) == 3)
        await pilot.press("c")
        await until(lambda: isinstance(app.screen, CompareScreen))
        await pilot.press("escape", "m")
        await until(lambda: isinstance(app.screen, TrendsScreen) and app.screen.trend is not None)
        assert "5ed8a8d" in app.screen.query_one(Table).text


async def test_what_cannot_be_read_of_a_pass_stands_below_its_figures(commits: Any, until: Until) -> None:
    base, _ = commits
    shutil.rmtree(base[0].parents[2] / "runbook")
    app = OmniApp()
    async with app.run_test(size=(80, 24)):
        app.post_message(PassChosen(base[0]))
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.found is not None)
        await until(lambda: "◌ its runbook: " in text(app, "#metrics"))
        assert not told(app)


async def test_which_log_it_is_is_told_where_panes_have_no_border(commits: Any, until: Until) -> None:
    base, _ = commits
    app = OmniApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.post_message(PassChosen(base[0]))
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.found is not None)
        await pilot.press("6")
        view = app.screen.query_one(LogView)
        await until(lambda: "client · 1 of 1" in str(view.border_title))
        await until(lambda: view.region.height > 0 and view.content_region.y > view.region.y)


async def test_without_a_log_its_keys_say_so(commits: Any, until: Until) -> None:
    shutil.rmtree(commits[0][0].parents[2] / "jobs")
    app = OmniApp()
    async with app.run_test(size=(120, 40)) as pilot:
        app.post_message(PassChosen(commits[0][0]))
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.found is not None)
        await pilot.press("6", "E")
        await until(lambda: "There is no log here to look through." in told(app))


async def test_a_run_that_has_lost_its_state_is_not_called_none(fake_runs: Any, until: Until, here: Path) -> None:
    run = store.home() / "runs" / "20260301-080000-lost"
    put(run / "passes" / "main" / "run1", result("run1", 1, {"wer": 0.3}), known("5ed8a8d", "main"))
    app = OmniApp()
    async with app.run_test(size=(120, 40)) as pilot:
        app.post_message(PassChosen(run / "passes" / "main" / "run1"))
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.found is not None)
        await exporting(app, pilot, until)
        await pilot.press("enter")
        await until(lambda: f"{run} lacks its state.toml and its journal" in told(app))


async def test_at_80_columns_what_matters_of_a_pass_and_of_a_trend_is_seen_whole(
    fake_runs: Any, until: Until
) -> None:
    long = store.home() / "runs" / "20260301-080000-minicpmo-offline-a1b2c3" / "passes" / "main" / "run1"
    put(long, result("run1", 1, {"wer": 0.3}, marks=("why " * 30,), rehearsal=True), known("5ed8a8d", "main"))
    app = OmniApp()
    async with app.run_test(size=(80, 24)):
        app.post_message(PassChosen(long))
        await until(lambda: isinstance(app.screen, OnePassScreen) and app.screen.found is not None)
        seen = app.screen.query_one("#title", RowLine).render_line(0).text
        assert seen.startswith(f"main/run1   REHEARSAL ! marked   {long.parents[2].name}   ")
    trend = Trend("speech", "NVIDIA H200", (), 10_000)
    _, told = about(trend, "wer")
    assert sum(len(cell.text) for cell in told.left) <= 78
