"""The list of all passes: what it shows, finds, sorts, groups and marks."""

import json
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from omnitui import store
from omnitui.results import catalog
from omnitui.results.passes import PassResult
from omnitui.ui.app import OmniApp
from omnitui.ui.browsing.messages import PassesRead
from omnitui.ui.messages import ResultsChosen
from omnitui.ui.screens.help import HelpScreen
from omnitui.ui.screens.home import HomeScreen
from omnitui.ui.screens.passes import PassesScreen
from omnitui.ui.widgets.rows import RowLine
from omnitui.ui.widgets.table import Table
from tests.result_stores import fill, known, put, result, take_in
from tests.screens.test_pictures import LOOKS, named
from textual.events import Key
from textual.pilot import Pilot
from textual.widgets import Static

Until = Callable[[Callable[[], bool]], Awaitable[None]]
Compare = Callable[..., bool]


@pytest.fixture
def passes(fake_runs: Any) -> None:
    """Two dozen passes of every kind."""
    list(fill(16))
    evil = "step \x1b]52;c;ZXZpbA==\x07client [/red] has not passed"
    home = store.home() / "runs" / "20260301-090000-evil" / "passes" / "main"
    put(home / "run1", result("run1", 200, {"wer": 0.5}, complete=False, reasons=(evil,)), known("bad", "main"))
    put(home / "run2", result("run2", 201, {"wer": 0.4}, rehearsal=True), known("bad", "main"))
    take_in({"ci/run1": result("run1", 202, {"wer": 0.3}, series="ci", origin="ci")}, known("5ed8a8d", "ci"))


def has(screen: PassesScreen, count: int) -> bool:
    return screen.found is not None and screen.found.count == count


def told_all(screen: PassesScreen) -> bool:
    """Whether the folders were looked through, and the metrics of all runbooks are known."""
    found = screen.found
    rows = [one for rows in found.blocks.values() for one in rows] if found else []
    return screen._changes > 0 and found is not None and bool(rows) and bool(found.primary)


async def opened(app: OmniApp, until: Until, count: int) -> PassesScreen:
    await until(lambda: isinstance(app.screen, HomeScreen))
    app.post_message(ResultsChosen())
    await until(lambda: isinstance(app.screen, PassesScreen))
    screen = app.screen
    assert isinstance(screen, PassesScreen)
    await until(partial(has, screen, count))
    return screen


def shown(app: OmniApp) -> str:
    lines = (line.row for line in app.screen.query(RowLine))
    told = [" ".join("".join(cell.text for cell in part) for part in row[1:]) for row in lines]
    return "\n".join([*told, app.screen.query_one(Table).text])


@pytest.mark.parametrize("look", LOOKS, ids=named)
def test_passes(look: tuple[tuple[int, int], str], passes: None, until: Until, snap_compare: Compare) -> None:
    size, theme = look
    app = OmniApp()
    app.theme = theme

    async def ready(pilot: Pilot[Any]) -> None:
        screen = await opened(app, until, 19)
        await until(lambda: told_all(screen))
        await pilot.press("down", "down", "a", "down", "down", "b")
        await until(lambda: bool(screen.marked.a and screen.marked.b))
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


def test_groups(passes: None, until: Until, snap_compare: Compare) -> None:
    app = OmniApp()

    async def ready(pilot: Pilot[Any]) -> None:
        screen = await opened(app, until, 19)
        await until(lambda: told_all(screen))
        await pilot.press("w", "u")
        await until(lambda: bool(screen.found and screen.found.groups and screen.found.view == screen.view))
        await pilot.press("enter")
        await until(lambda: bool(screen._folded))
        await pilot.pause()

    assert snap_compare(app, terminal_size=(120, 40), run_before=ready)


async def test_r_on_home_opens_them_and_every_kind_has_a_sign_and_a_word(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.press("r")
        await until(lambda: isinstance(app.screen, PassesScreen))
        await until(lambda: app.screen.query_one(Table).total == 19)
        text = shown(app)
        for told in (
            "✔ complete",
            "– not scored",
            "✘ incomplete",
            "! marked",
            "≈ rehearsed",
            "◇ CI",
            "not scored",
        ):
            assert told in text
        assert "has not passed" in text and "\x1b" not in "".join(
            app.screen.query_one(Table).render_line(y).text for y in range(22)
        )
        await pilot.press("escape")
        await until(lambda: isinstance(app.screen, HomeScreen))


async def test_a_text_is_found_anywhere_and_escape_shows_all_again(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test() as pilot:
        screen = await opened(app, until, 19)
        await pilot.press("slash", *"mallory")
        await until(lambda: screen.query_one(Table).total == 1)
        await pilot.press("enter")
        assert screen.selected is not None and "mallory" in shown(app)
        await pilot.press("slash", *"%")
        await until(lambda: screen.query_one(Table).total == 0)
        assert "escape shows all" in shown(app)
        await pilot.press("escape", "escape")
        await until(lambda: screen.query_one(Table).total == 19)


async def test_a_text_typed_ahead_is_no_key_of_the_screen(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test():
        screen = await opened(app, until, 19)
        for key, character in (("slash", "/"), *((letter, letter) for letter in "mallory"), ("slash", "/")):
            app.post_message(Key(key, character))
        await until(lambda: screen.view.text == "mallory/" and screen.query_one(Table).total == 0)
        assert app.screen is screen


@pytest.mark.parametrize("key", ["end", "down"])
async def test_a_key_typed_while_another_view_is_read_counts_there(
    key: str, fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    list(fill(60))
    go, page = threading.Event(), catalog.page
    app = OmniApp()
    async with app.run_test() as pilot:
        screen = await opened(app, until, 60)
        table = screen.query_one(Table)
        await pilot.press("down", "down", "down")
        monkeypatch.setattr(catalog, "page", lambda query: go.wait(20) and page(query))
        await pilot.press("u", key)
        go.set()
        await until(lambda: bool(screen.found and screen.found.view == screen.view and screen.found.groups))
        assert table.total > 60
        assert table.cursor == {"end": table.total - 1, "down": 1}[key]


async def test_one_runbook_has_its_metrics_as_columns_and_they_sort(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test(size=(160, 40)) as pilot:
        screen = await opened(app, until, 19)
        await pilot.press("w", "w")
        await until(lambda: bool(screen.found and screen.found.view == screen.view))
        assert screen.view.runbook == "speech"
        assert "speech.throughput" in shown(app)
        screen.change(screen.view.sorted_by("wer"))
        await until(lambda: bool(screen.found and screen.found.view == screen.view))
        first = screen.selected
        assert first is not None and first.metrics["wer"] == 0.5
        await pilot.press("o")
        await until(lambda: screen.selected is not None and screen.selected.metrics["wer"] < 0.03)
        assert "wer ↑" in shown(app)


async def test_a_run_whose_runbook_cannot_be_read_hides_no_metrics_of_others(fake_runs: Any, until: Until) -> None:
    list(fill(4))
    folder = store.home() / "runs" / "20260301-090000-late" / "passes" / "main" / "run1"
    put(folder, result("run1", 200, {"wer": 0.5}), known("1", "main"))
    app = OmniApp()
    async with app.run_test(size=(160, 40)):
        screen = await opened(app, until, 5)
        assert screen.found is not None and screen.found.blocks[0][0].run == "20260301-090000-late"
        await until(lambda: "wer" in shown(app).splitlines()[3])


async def test_a_series_is_put_on_a_side_as_a_whole(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test() as pilot:
        screen = await opened(app, until, 19)
        await pilot.press("end", "A")
        await until(lambda: len(screen.marked.a) == 4)
        await pilot.press("b")
        assert (len(screen.marked.a), len(screen.marked.b)) == (3, 1)
        assert "A 3 · B 1" in shown(app)
        await pilot.press("b")
        assert not screen.marked.b


async def test_a_key_that_can_do_nothing_says_why(passes: None, until: Until) -> None:
    app = OmniApp()

    def told() -> str:
        return " ".join(note.message for note in app._notifications)

    async with app.run_test() as pilot:
        screen = await opened(app, until, 19)
        await pilot.press("c")
        assert "No pass is on side A or B: a and b put the one under the cursor there." in told()
        await pilot.press("a", "c")
        assert "No pass is on side B: b puts the one under the cursor there." in told()
        await pilot.press("slash", *"nothing has this", "enter")
        await until(lambda: screen.query_one(Table).total == 0)
        await pilot.press("a")
        assert "The cursor is on no pass." in told()
        assert app.screen is screen


async def test_what_a_run_adds_appears(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test():
        screen = await opened(app, until, 19)
        folder = Path(store.home() / "runs" / "20260301-100000-late" / "passes" / "main" / "run1")
        put(folder, result("run1", 300, {"wer": 0.1}), known("1", "main"))
        catalog.add(folder)
        await until(lambda: screen.query_one(Table).total == 20)


async def test_blocks_are_read_as_they_come_on_the_screen(fake_runs: Any, until: Until) -> None:
    list(fill(450))
    app = OmniApp()
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(app, until, 450)
        assert screen.found is not None and set(screen.found.blocks) == {0}
        await pilot.press("end")
        await until(lambda: screen.selected is not None)
        assert screen.selected is not None and screen.selected.label == "run0"
        assert set(screen.found.blocks) == {0, 2}


async def test_a_new_index_is_not_taken_for_an_empty_store(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    list(fill(4))
    go, refresh = threading.Event(), catalog.refresh
    monkeypatch.setattr(catalog, "refresh", lambda: go.wait(20) and refresh())
    app = OmniApp()
    async with app.run_test():
        await opened(app, until, 0)
        await until(lambda: "Looking through the folders" in shown(app))
        go.set()
        await until(lambda: app.screen.query_one(Table).total == 4)


async def test_the_rows_below_the_screen_are_read_before_they_are_seen(fake_runs: Any, until: Until) -> None:
    list(fill(450))
    app = OmniApp()
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(app, until, 450)
        table = screen.query_one(Table)
        while table.seen[1] + table.shown < 200:
            await pilot.press("pagedown")
        await until(lambda: screen.found is not None and 1 in screen.found.blocks)
        assert table.seen[1] <= 200


async def test_what_changes_off_the_screen_is_not_shown_as_it_was(fake_runs: Any, until: Until) -> None:
    _warm_up, *scored = list(fill(450))[:4]
    app = OmniApp()
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(app, until, 450)
        await pilot.press("end")
        await until(lambda: "✔ complete" in shown(app))
        before = shown(app).count("! marked")
        await pilot.press("home")
        for folder in scored:
            one = msgspec.json.decode((folder / "metrics.json").read_bytes(), type=PassResult)
            marked = msgspec.structs.replace(one, marks=("foreign process 911 on GPU 0",))
            (folder / "metrics.json").write_bytes(msgspec.json.encode(marked))
            (folder / "standing.json").write_text(json.dumps({"done": ["client"], "marks": list(marked.marks)}))
            catalog.add(folder)
        await until(lambda: screen.found is not None and 2 not in screen.found.blocks)
        await pilot.press("end")
        await until(lambda: shown(app).count("! marked") == before + len(scored))


async def test_the_cursor_stays_on_its_pass_when_another_comes(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test() as pilot:
        screen = await opened(app, until, 19)
        for count in (19, 20):
            await pilot.press("down", "down", "down")
            before = screen.query_one(Table).key
            folder = Path(store.home() / "runs" / f"20260301-10000{count}-late" / "passes" / "main" / "run1")
            put(folder, result("run1", 300 + count, {"wer": 0.1}, commit="late"), known("late", "main"))
            catalog.add(folder)
            await until(partial(has, screen, count + 1))
            assert screen.query_one(Table).key == before
            await pilot.press("u")
            await until(lambda: screen.found is not None and bool(screen.found.groups))


async def test_what_was_read_before_the_index_changed_is_not_shown_after_it(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test():
        screen = await opened(app, until, 19)
        before = screen.found
        assert before is not None
        folder = Path(store.home() / "runs" / "20260301-100000-late" / "passes" / "main" / "run1")
        put(folder, result("run1", 300, {"wer": 0.1}), known("1", "main"))
        catalog.add(folder)
        await until(lambda: screen.query_one(Table).total == 20)
        screen.on_passes_read(PassesRead(before, 0))
        assert screen.query_one(Table).total == 20


async def test_the_wheel_leaves_the_cursor_behind_and_a_key_goes_back_to_it(fake_runs: Any, until: Until) -> None:
    folders = list(fill(450))
    app = OmniApp()
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(app, until, 450)
        table = screen.query_one(Table)
        stayed: list[bool] = []

        def scrolled() -> bool:
            # The layout that follows the first rows brings the cursor into view once more.
            stayed.append(table.scroll_offset.y == 300 and bool(table.row_at(300).key))
            table.scroll_to(y=300, animate=False, immediate=True)
            return screen._changes == 1 and len(stayed) > 20 and all(stayed[-20:])

        await until(scrolled)
        catalog.add(folders[0])
        await until(lambda: screen._changes == 2 and bool(table.row_at(300).key))
        await pilot.pause()
        assert screen.selected is not None and table.scroll_offset.y == 300
        await pilot.press("home")
        await until(lambda: table.scroll_offset.y == 0)


async def test_fewer_lines_in_groups_than_were_scrolled_past(fake_runs: Any, until: Until) -> None:
    list(fill(450))
    app = OmniApp()
    async with app.run_test(size=(120, 30)) as pilot:
        screen = await opened(app, until, 450)
        await pilot.press("u", "end")
        await until(lambda: screen.query_one(Table).scroll_offset.y > 400)
        await pilot.press("w")
        await until(lambda: screen.found is not None and screen.found.view.runbook == "asr")
        await until(lambda: screen.query_one(Table).scroll_offset.y == 0)


async def test_two_keys_that_sort_are_one_line_of_the_help(passes: None, until: Until) -> None:
    app = OmniApp()
    async with app.run_test() as pilot:
        await opened(app, until, 19)
        await pilot.press("question_mark")
        await until(lambda: isinstance(app.screen, HelpScreen))
        lines = "\n".join(str(one.content) for one in app.screen.query(Static)).split("\n")
        assert [" ".join(line.split()) for line in lines if "Sort by" in line] == ["< > Sort by another column"]
