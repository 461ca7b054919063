"""`make screenshots`: the pictures of the README, from the real app.

They show real runs of the quickstart benchmark; only the trends are of made-up passes.
"""

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from omnitui import decisions, supervise
from omnitui.model import Running
from omnitui.results import catalog
from omnitui.runbook import load
from omnitui.snapshot import Snapshot, take
from omnitui.stock import shelf_of
from omnitui.store import RunFolder
from omnitui.ui.app import OmniApp
from omnitui.ui.messages import (
    AssetsChosen,
    ComparisonChosen,
    PassChosen,
    ResultsChosen,
    SamplesChosen,
    TrendsChosen,
)
from omnitui.ui.themes import DARK, LIGHT
from textual.message import Message

from tests import result_stores
from tests.hub_caches import DATA, MODEL, OTHER, cache

FOLDER = Path(__file__).parents[1] / "screenshots"
SIZES = ((80, 24), (120, 40), (200, 60))
THEMES = {"dark": DARK.name, "light": LIGHT.name}
BROKEN_SERVER = "echo 'CUDA error: out of memory' >&2; exit 1"


async def picture(
    name: str,
    size: tuple[int, int],
    theme: str,
    app: OmniApp,
    shows: str,
    first: Message | None = None,
    keys: tuple[str, ...] = (),
) -> None:
    """One picture, taken once the screen shows a text; `first` leads to the screen, `keys` to a pane of it."""
    async with app.run_test(size=size) as pilot:
        if first:
            app.post_message(first)
        app.theme = THEMES[theme]
        for _ in range(400):
            await pilot.pause(0.05)
            if keys and app.screen.query("Timeline"):
                await pilot.press(*keys)
                keys = ()
            if not keys and shows in _text(app):
                break
        else:
            raise TimeoutError(f"{name}: {shows!r} was not drawn:\n{_text(app)}")
        await pilot.pause(0.6)
        app.save_screenshot(f"{name}-{size[0]}x{size[1]}-{theme}.svg", str(FOLDER))


def _text(app: OmniApp) -> str:
    width, height = app.size
    lines = app.screen._compositor.render_strips(app.size) if width and height else []
    return "\n".join(strip.text for strip in lines)


async def at_all_sizes(
    name: str,
    app: Callable[[], OmniApp],
    shows: str,
    first: Callable[[], Message | None] = lambda: None,
    keys: tuple[str, ...] = (),
) -> None:
    """A screen at three sizes in the dark theme, and at the middle one in the light theme."""
    for size in SIZES:
        await picture(name, size, "dark", app(), shows, first(), keys)
    await picture(name, SIZES[1], "light", app(), shows, first(), keys)


async def reached(run: RunFolder, there: Callable[[Snapshot], bool]) -> None:
    """Wait until a run is where a picture is wanted."""
    while not there(take(run)):
        await asyncio.sleep(0.05)
        supervise.reap()


def at_step(step: str) -> Callable[[Snapshot], bool]:
    """Whether this step is running."""
    return lambda snapshot: isinstance(snapshot.state.step(step).status, Running)


def fill(hub: Path) -> None:
    """A cache in which some of the ASR page's assets are whole and some are not. The files are mostly holes."""
    shelf = shelf_of("asr", {"WHERE": "local", "HF_HUB": str(hub)})
    for number, asset in enumerate(shelf.assets[:5]):
        shard = "model-00002-of-00002.safetensors"
        files = MODEL if asset.kind == "model" else DATA
        revision = OTHER if number == 2 else asset.revision
        main = asset.revision if number != 3 else None
        repo = cache(hub, asset.repo, files, asset.kind, revision, main, (shard,) if number == 4 else ())
        for blob in repo.glob("blobs/*"):
            if blob.stat().st_size >= len(DATA["data/test-00000-of-00001.parquet"]):
                os.truncate(blob, blob.stat().st_size * 9_000_000)


async def browser(port: str) -> None:
    """The results of a run that measures the same thing under two names, turn by turn."""
    run = supervise.make_run("quickstart", {"PORT": port}, "noise-floor")
    supervise.start(run)
    await reached(run, lambda snapshot: snapshot.outcome == "complete")
    sides = [frozenset(str(run.pass_folder(f"{side}/run{number}")) for number in (1, 2, 3)) for side in "ab"]
    one = run.pass_folder("a/run2")
    await at_all_sizes("results", OmniApp, "0.1", ResultsChosen)
    await at_all_sizes("pass", OmniApp, "primary:", lambda: PassChosen(one))
    await at_all_sizes("pass-time-line", OmniApp, "a column is", lambda: PassChosen(one), keys=("4",))
    await at_all_sizes("compare", OmniApp, "no difference shown", lambda: ComparisonChosen(*sides))
    await at_all_sizes("samples", OmniApp, "errors in", lambda: SamplesChosen(one))


async def trends() -> None:
    """A metric over five commits: example passes in a home of their own, because the quickstart has no commits."""
    os.environ["OMNITUI_HOME"] += "/trends"
    for _ in result_stores.fill(120):
        pass
    catalog.refresh()
    await at_all_sizes("trends", OmniApp, "n ", lambda: TrendsChosen("speech", "NVIDIA H200"))


async def main() -> None:
    """Run the benchmark, and take the pictures on the way."""
    FOLDER.mkdir(exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    hub = Path(os.environ["OMNITUI_HOME"]) / "huggingface" / "hub"
    fill(hub)
    chosen = ("asr", (("WHERE", "local"), ("HF_HUB", str(hub))))
    await at_all_sizes("assets", OmniApp, "partial", lambda: AssetsChosen(*chosen))
    folder = str(load.locate("quickstart"))
    await at_all_sizes("new-run", lambda: OmniApp(runbook=folder), "CONCURRENCY")

    run = supervise.make_run("quickstart", {"PORT": port}, None)
    supervise.start(run)
    for index, size in enumerate(SIZES):
        await reached(run, at_step(f"main/run{index + 1}/asr-client"))
        shows = "POST /v1/audio" if index else "Measure speech"
        await picture("run", size, "dark", OmniApp(run=run), shows)
        if size == SIZES[1]:
            await picture("run", size, "light", OmniApp(run=run), shows)
    await reached(run, lambda snapshot: snapshot.outcome == "complete")
    await at_all_sizes("complete", lambda: OmniApp(run=run), "Every step is done")

    await at_all_sizes("time-line", lambda: OmniApp(run=run), "a column is", keys=("5",))

    await browser(port)

    failed = supervise.make_run("quickstart", {"PORT": port}, None)
    decisions.edit(failed, "main/run0/tts-server", BROKEN_SERVER)
    supervise.start(failed)
    await reached(failed, lambda snapshot: snapshot.outcome == "failed")
    await at_all_sizes("failed", lambda: OmniApp(run=failed), "out of memory")
    await at_all_sizes("home", OmniApp, run.name)
    await trends()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="omnitui-pictures-") as scratch:
        os.environ["OMNITUI_HOME"] = scratch
        asyncio.run(main())
        sys.stdout.write(f"{len(list(FOLDER.glob('*.svg')))} pictures in {FOLDER}\n")
