"""What the Assets screen shows of each asset: its row, and all that is known of it."""

import time
from collections.abc import Iterator, Mapping
from typing import assert_never

from textual.content import Content

from omnitui.assets import (
    NAMED,
    Absent,
    Cached,
    Found,
    OtherMain,
    OtherRevision,
    Partial,
    State,
    Unread,
    Wanted,
    said,
    short,
    sign,
    sized,
)
from omnitui.downloads import Event, Fetched, NotFetched, Progress, line
from omnitui.sanitise import plain
from omnitui.stock import Shelf, Stock, by_hand
from omnitui.ui.signs import Tone, ago
from omnitui.ui.widgets.rows import Cell, Row

_TONES: Mapping[type[State], Tone] = {
    Cached: "green",
    OtherRevision: "warn",
    Partial: "warn",
    OtherMain: "warn",
    Absent: "red",
    Unread: "blue",
}
_SIGN_CELLS = 18


def title_row(shelf: Shelf | None, name: str) -> Row:
    """The screen's first line."""
    about = (Cell(f" · {shelf.title}"), Cell(f" · {shelf.runbook}", "muted")) if shelf else (Cell(f" · {name}"),)
    return Row("", (Cell("Assets", "strong"), *about))


def where_row(shelf: Shelf | None) -> Row:
    """Where the cache lies."""
    if shelf is None:
        return Row("", ())
    return Row("", (Cell(f"In {shelf.hub}{shelf.inside}", "muted"),))


def asset_row(asset: Wanted, found: Found | None, event: Event | None, width: int) -> Row:
    """One asset: its sign and word, its name, what is known; its commit and size at the right."""
    what = _signed(found, event)
    name = Cell(asset.id, "strong", width)
    if isinstance(event, Progress):
        return Row(asset.id, (what, name, Cell(line(event))))
    there = found.state if found and isinstance(found.state, Cached) else None
    commit = short(asset.revision or (there.revision if there else "")) or "not pinned"
    size = sized(there.size) if there else ""
    return Row(asset.id, (what, name, Cell(asset.repo, "muted")), (Cell(commit, "muted", 10), Cell(size, "", 10)))


def _signed(found: Found | None, event: Event | None) -> Cell:
    if isinstance(event, Progress):
        return Cell("▶ fetching", "blue", _SIGN_CELLS)
    if found is None:
        return Cell("◌ looking", "muted", _SIGN_CELLS)
    symbol, word = sign(found.state)
    return Cell(f"{symbol} {word}", _TONES[type(found.state)], _SIGN_CELLS)


def about(shelf: Shelf, asset: Wanted, found: Found | None, event: Event | None) -> Content:
    """All that is known of one asset, line by line."""
    return Content("\n").join(_about(shelf, asset, found, event))


def _about(shelf: Shelf, asset: Wanted, found: Found | None, event: Event | None) -> Iterator[Content]:
    yield Content.styled(plain(f"{asset.kind} {asset.repo}"), "bold")
    cached = found is not None and isinstance(found.state, Cached)
    if event is not None and not (cached and isinstance(event, NotFetched)):
        yield _download(event)
    if found is not None:
        yield Content(plain(f"{sign(found.state)[0]} {said(found)}"))
        if isinstance(found.state, Partial) and len(found.state.missing) > NAMED:
            yield from (Content(plain(f"  · {name}")) for name in found.state.missing)
    wanted = asset.revision or "whatever refs/main says: the page pins none"
    also = ", and refs/main must name it" if asset.ref_main else ""
    yield Content.styled(plain(f"revision {wanted}{also}"), "$text-muted")
    if asset.private:
        yield Content.styled("private: needs a token with access in HF_TOKEN", "$text-muted")
    for text in asset.note.strip().splitlines():
        yield Content.styled(plain(text), "$text-muted")
    if found is not None and not cached:
        for command in by_hand(shelf, asset):
            yield Content.styled(plain(f"by hand: {command}"), "$text-muted")


def _download(event: Event) -> Content:
    match event:
        case Progress():
            return Content.styled(plain(f"▶ {line(event)}"), "$text-primary")
        case Fetched(at=at):
            return Content.styled(
                plain(f"✔ last download, {ago(time.time() - at)}: {line(event)}"), "$text-success"
            )
        case NotFetched(at=at):
            when = f", {ago(time.time() - at)}" if at else ""
            return Content.styled(plain(f"✘ last download{when}: {line(event)}"), "bold $text-error")
        case _:
            assert_never(event)


def summary_row(stock: Stock | None, *, looking: bool) -> Row:
    """How much is there, and what to press."""
    if stock is None or looking:
        return Row("", (Cell("◌ looking at the cache", "muted"),))
    if stock.error:
        return Row("", (Cell(f"✘ {stock.error}", "red"),))
    lacking = len(stock.lacking())
    if not lacking:
        return Row("", (Cell(f"✔ all {len(stock.found)} are there, whole, at their revisions", "green"),))
    text = f"✘ {lacking} of {len(stock.found)} not as the page wants them"
    return Row("", (Cell(text, "warn"), Cell("  d downloads one, D all", "muted")))
