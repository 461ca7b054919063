import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from omnitui.assets import Absent, Cached, Found, OtherMain, OtherRevision, Partial, State, Unread, Wanted
from omnitui.downloads import Event, Progress
from omnitui.errors import PlaceError
from omnitui.stock import Shelf, Stock, shelf_of
from omnitui.ui.app import OmniApp
from omnitui.ui.messages import AssetsChosen
from omnitui.ui.screens.assets import AssetsScreen
from omnitui.ui.screens.new_run import NewRunScreen
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.rows import RowLine
from tests.books import make_book
from tests.hub_caches import DATA, MODEL, OTHER, SHA, cache, repo_of
from tests.hub_server import Repo, serving
from textual.pilot import Pilot
from textual.widgets import Static

Until = Callable[[Callable[[], bool]], Awaitable[None]]
Compare = Callable[..., bool]
LOOKS = [((80, 24), "dark"), ((120, 40), "dark"), ((200, 60), "dark"), ((120, 40), "light")]
PAGE = """
schema = 1
title = "Pinned [/] page"
summary = "Two assets."
[variables.HUB]
help = "The cache."
[cache]
hub = "{hub}"
[[assets]]
id = "big"
repo = "org/big"
revision = "{sha}"
ref_main = true
note = "[bold] large"
[[assets]]
id = "rows"
repo = "org/rows"
kind = "dataset"
"""


def rows(app: OmniApp) -> dict[str, str]:
    found = app.screen.query_one("#assets", RowList).rows
    return {row.key: "".join(cell.text for cell in (*row.left, *row.right)) for row in found}


def summary(app: OmniApp) -> str:
    return "".join(cell.text for cell in app.screen.query_one("#summary", RowLine).row.left)


def details(app: OmniApp) -> str:
    return str(app.screen.query_one("#about-text", Static).content)


def keys(app: OmniApp) -> set[str]:
    return {key for key, one in app.screen.active_bindings.items() if one.enabled}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "hub"


@asynccontextmanager
async def opened(until: Until, folder: Path, *, looked: bool = True) -> Any:
    page = make_book(folder.parents[1] / "pinned", PAGE.format(hub=folder, sha=SHA))
    app = OmniApp()
    async with app.run_test(size=(120, 40)) as pilot:
        app.post_message(AssetsChosen(page))
        await until(lambda: isinstance(app.screen, AssetsScreen) and app.screen.looked is looked)
        yield pilot, app


async def test_each_asset_has_a_sign_a_word_and_details(fake_runs: Any, until: Until, folder: Path) -> None:
    cache(folder, "org/big", MODEL, main=OTHER)
    async with opened(until, folder) as (pilot, app):
        assert rows(app)["big"].startswith("≠ refs/main")
        assert rows(app)["rows"].startswith("○ missing")
        assert summary(app).startswith("✘ 2 of 2 not as the page wants them")
        assert "refs/main says '7278e1e7', not 503e7542" in details(app)
        assert SHA in details(app) and "[bold] large" in details(app)
        await pilot.press("down")
        await until(lambda: "dataset org/rows" in details(app))
        assert "hf download org/rows --repo-type dataset" in details(app)


async def test_r_looks_again(fake_runs: Any, until: Until, folder: Path) -> None:
    async with opened(until, folder) as (pilot, app):
        assert "d" in keys(app)
        cache(folder, "org/big", MODEL, main=SHA)
        cache(folder, "org/rows", DATA, kind="dataset", main=SHA)
        await pilot.press("r")
        await until(lambda: summary(app).startswith("✔ all 2 are there"))
        assert not {"d", "D", "x"} & keys(app)
        assert rows(app)["big"].startswith("✔ cached")


async def test_d_downloads_with_live_progress_and_x_stops(
    fake_runs: Any, until: Until, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = "model-00002-of-00002.safetensors"
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.repos["models/org/big"] = Repo(MODEL)
        hub.holds[shard] = threading.Event()
        async with opened(until, folder) as (pilot, app):
            await pilot.press("d")
            await until(lambda: "4 of 5 files" in rows(app)["big"])
            assert rows(app)["big"].startswith("▶ fetching")
            assert "▶" in details(app)
            assert "x" in keys(app) and "d" not in keys(app)
            # The screen may be left, and finds the download again.
            await pilot.press("escape")
            await until(lambda: not isinstance(app.screen, AssetsScreen))
            app.post_message(AssetsChosen(str(folder.parents[1] / "pinned")))
            await until(
                lambda: isinstance(app.screen, AssetsScreen) and "4 of 5 files" in rows(app).get("big", "")
            )
            await pilot.press("x")
            await until(lambda: "stopped; the files that are whole are kept" in details(app))
            await until(lambda: rows(app)["big"].startswith("◐ partial"))
            assert shard in details(app)
            hub.holds.pop(shard).set()
            await pilot.press("d")
            await until(lambda: rows(app)["big"].startswith("✔ cached"))
            # The look at the cache may see the last file before the download has said that it is done.
            await until(lambda: "✔ last download, just now: fetched 5 files" in details(app))
            assert (repo_of(folder, "org/big") / "refs" / "main").read_text() == SHA


async def test_an_asset_that_may_not_be_read_says_so(
    fake_runs: Any, until: Until, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_TOKEN", "hf_bad")
        hub.repos["models/org/big"] = Repo(MODEL, token="hf_good", gated=True)
        async with opened(until, folder) as (pilot, app):
            await pilot.press("d")
            await until(lambda: "the token in HF_TOKEN cannot read org/big: it is gated" in details(app))
            assert "hf_bad" not in details(app)


async def test_home_and_new_run_lead_to_the_assets(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AssetsScreen, "take_stock", staticmethod(Stock))
    app = OmniApp()
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: bool(app.screen.query_one("#runbooks", RowList).rows))
        assert "assets" in {command.title for command in app.get_system_commands(app.screen)}
        await pilot.press("a")
        await until(lambda: isinstance(app.screen, AssetsScreen) and app.screen.looked)
        assert set(rows(app)) == {"asr", "calls", "private"}
        await pilot.press("escape", "n")
        await until(lambda: isinstance(app.screen, NewRunScreen) and app.screen.checked)
        field = next(one for one in app.screen.query("VariableField") if one.variable_name == "MODE")  # type: ignore[attr-defined]
        field.query_one("Select").value = "exact"  # type: ignore[attr-defined]
        await until(lambda: field.value == "exact")  # type: ignore[attr-defined]
        await pilot.press("f2")
        await until(lambda: isinstance(app.screen, AssetsScreen) and app.screen.looked)
        assert set(rows(app)) == {"asr", "speakers", "calls", "private"}


async def test_a_runbook_without_assets_says_so(fake_runs: Any, until: Until, tmp_path: Path) -> None:
    page = make_book(tmp_path / "bare", 'schema = 1\ntitle = "Bare"\nsummary = ""\n')
    app = OmniApp()
    async with app.run_test() as pilot:
        app.post_message(AssetsChosen(page))
        await until(lambda: isinstance(app.screen, AssetsScreen) and "names no models" in summary(app))
        await pilot.press("d", "D", "x", "r", "enter")
        assert not {"d", "D", "x"} & keys(app)


STATES: Mapping[str, State] = {
    "asr": Partial("503e754207c94da6bb26850b4469f367c9ea3582", ("model-00003-of-00004.safetensors",)),
    "speakers": OtherRevision(OTHER, (SHA,)),
    "calls": Cached("7a37507f1b53416b9cb6641378e5a098ea535ab8", 34, 18_734_000_000, "all that the hub lists"),
    "private": Absent(),
    "open": Cached(OTHER, 3, 91_000, "nothing was cut off; the cache has no list of its files"),
    "main": OtherMain(SHA, ""),
    "unread": Unread("/models/hub/models--speech--unread/snapshots: Permission denied"),
}
MORE = (
    Wanted("open", "speech/open-calls", "dataset"),
    Wanted("main", "speech/wer-scorer", revision=SHA, ref_main=True),
    Wanted("unread", "speech/unread"),
)


def inside(runbook: str, values: Mapping[str, str]) -> Shelf:
    shelf = shelf_of(runbook, values)
    hub = "/root/.cache/huggingface/hub"
    return replace(shelf, assets=(*shelf.assets, *MORE), place="asr-bench", cache=hub)


def standing(shelf: Shelf) -> Stock:
    return Stock(shelf, tuple(Found(asset, STATES[asset.id]) for asset in shelf.assets))


def working(shelf: Shelf, asset: Wanted) -> Event | None:
    return Progress(31, 118, 7_300_000_000, 19_100_000_000, 84_000_000, 140.4) if asset.id == "private" else None


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look[0][0]}x{look[0][1]}-{look[1]}")
def test_assets(
    look: tuple[tuple[int, int], str],
    fake_runs: Any,
    until: Until,
    snap_compare: Compare,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(AssetsScreen, "shelf_of", staticmethod(inside))
    monkeypatch.setattr(AssetsScreen, "take_stock", staticmethod(standing))
    monkeypatch.setattr(AssetsScreen, "last", staticmethod(working))
    size, theme = look
    app = OmniApp()
    app.theme = f"omnitui-{theme}"

    async def ready(pilot: Pilot[Any]) -> None:
        app.post_message(AssetsChosen("demo", (("MODE", "exact"),)))
        await until(lambda: isinstance(app.screen, AssetsScreen) and app.screen.looked)
        await until(lambda: "▶" in rows(app)["private"])
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=ready)


async def test_what_cannot_be_looked_at_is_told_whole_and_looked_at_again(
    until: Until, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "docker does not tell of the container: cannot connect to its daemon. " * 3

    def no_docker(*_: object) -> Shelf:
        raise PlaceError(why)

    with monkeypatch.context() as patched:
        patched.setattr(AssetsScreen, "shelf_of", staticmethod(no_docker))
        async with opened(until, folder, looked=False) as (pilot, app):
            await until(lambda: why.strip() in details(app))
            assert summary(app).startswith("✘ docker does not tell")
            patched.undo()
            await pilot.press("r")
            await until(lambda: set(rows(app)) == {"big", "rows"})
