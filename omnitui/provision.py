"""`omnitui assets`: the table of models and data sets, their downloads told in lines, the rows of data sets."""

import json
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import msgspec

from omnitui import stock
from omnitui.assets import Wanted, said, short, sign
from omnitui.downloads import Download, Fetched, NotFetched, Progress, line
from omnitui.errors import OmniError, UsageError
from omnitui.sanitise import plain
from omnitui.stock import Counted, Shelf, Stock

Say = Callable[[str], None]
_POLL_S = 0.2
_TOLD_EVERY_S = 5.0
"""How often a download is told where lines cannot be written over."""


def look(runbook: str, given: Mapping[str, str]) -> Stock:
    """What the cache has of what a runbook wants with these values. Raises `OmniError`."""
    return stock.look(stock.shelf_of(runbook, given))


def table(found: Stock) -> str:
    """One line for each asset: its state, what it is, and what to do."""
    shelf = found.shelf
    lines = [f"{shelf.title}: models and data sets in {shelf.hub}{shelf.inside}"]
    if found.error:
        return "\n".join([*lines, f"◌ unknown: {found.error}"])
    wide = max((len(one.asset.id) for one in found.found), default=0)
    for one in found.found:
        symbol, word = sign(one.state)
        commit = short(one.asset.revision) or "not pinned"
        lines.append(f"{symbol} {word:<14} {one.asset.id:<{wide}}  {one.asset.repo} {commit}")
        lines.append(f"  {said(one)}")
        if event := stock.news(one, shelf.hub):
            what = "▶ fetching" if isinstance(event, Progress) else "✘ last download"
            lines.append(f"  {what}: {line(event)}")
    if lacking := found.lacking():
        sets = [f"--set={name}={value}" for name, value in shelf.given.items()]
        again = shlex.join(["omnitui", "assets", shelf.source, *sets, "--download", *(one.id for one in lacking)])
        lines.append(f"to bring them: {again}")
    return "\n".join(lines)


def as_json(found: Stock, counted: Sequence[Counted] = ()) -> str:
    """The same as JSON, with the rows that were counted."""
    rows = [
        {
            **msgspec.to_builtins(one.asset),
            "state": msgspec.to_builtins(one.state),
            "said": said(one),
            "download": msgspec.to_builtins(stock.news(one, found.shelf.hub)),
        }
        for one in found.found
    ]
    shelf = found.shelf
    told = {"runbook": shelf.runbook, "hub": str(shelf.hub), "container": shelf.place, "error": found.error}
    return json.dumps({**told, "assets": rows, "rows": msgspec.to_builtins(tuple(counted))}, indent=2)


def chosen(found: Stock, ids: Sequence[str]) -> tuple[Wanted, ...]:
    """The assets to bring: those named, or all that are lacking; never one that is there. Raises `UsageError`."""
    known = {one.asset.id for one in found.found}
    for name in ids:
        if name not in known:
            raise UsageError(f"the run wants no asset {name}; it wants: {', '.join(sorted(known))}")
    return tuple(asset for asset in found.lacking() if not ids or asset.id in ids)


def bring(shelf: Shelf, wanted: Sequence[Wanted], say: Say) -> int:
    """Download one after the other, telling how far each is; the exit code. Ctrl-C stops the one at work."""
    code = 0
    for asset in wanted:
        try:
            download = stock.fetch(shelf, asset)
        except OmniError as error:
            say(f"✘ {asset.id}: {error}")
            code = 1
            continue
        try:
            ended = _follow(asset, download, say)
        except KeyboardInterrupt:
            download.stop()
            ended = _follow(asset, download, say)
        if isinstance(ended, NotFetched) and ended.stopped:
            return 130
        code = code or int(isinstance(ended, NotFetched))
    return code


def _follow(asset: Wanted, download: Download, say: Say) -> Fetched | NotFetched:
    terminal = sys.stdout.isatty()
    told_at, told = 0.0, ""
    while True:
        event = download.read()
        text = line(event)
        if not isinstance(event, Progress):
            _write_over("", terminal=terminal)
            say(f"{'✔' if isinstance(event, Fetched) else '✘'} {asset.id}: {text}")
            return event
        if terminal:
            _write_over(f"▶ {asset.id}: {text}", terminal=True)
        elif text != told and time.monotonic() > told_at + _TOLD_EVERY_S:
            told_at, told = time.monotonic(), text
            say(f"▶ {asset.id}: {text}")
        time.sleep(_POLL_S)


def _write_over(text: str, *, terminal: bool) -> None:
    if terminal:
        sys.stdout.write(f"\r\x1b[K{plain(text)}")
        sys.stdout.flush()


def tell_rows(found: Stock, say: Say) -> list[Counted]:
    """Count the rows of every data set that is there, tell and note them."""
    counts = []
    for one in found.found:
        if (counted := stock.count_rows(found, one)) is None:
            continue
        counts.append(counted)
        say(f"{counted.asset}: {counted.repo} at {short(counted.revision)}")
        if counted.rows.error:
            say(f"  ✘ {counted.rows.error}")
        for split in counted.rows.splits:
            fingerprint = f"fingerprint {split.fingerprint}" if split.fingerprint else "counted from its files"
            say(f"  {split.name}: {split.rows} rows, {fingerprint}")
    say(f"noted in {stock.rows_file(found.shelf)}" if counts else "no data set is there, whole: no rows to count")
    return counts
