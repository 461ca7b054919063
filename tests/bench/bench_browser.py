"""The results browser over 10,000 passes: its first screen after Home's paint, filter, sort, keys, memory."""

import json
import os
import select
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from omnitui.results import catalog

from tests.bench.bench_app import SLOGAN, THE_APP, TITLE
from tests.bench.bench_catalog import PASSES, store_pass
from tests.bench.measuring import Figure, Terminal, percentile, running
from tests.result_stores import known, make_runbook, put, result

KEYS = 200
OPENINGS = 5
ROUNDS = 9


def drawn(terminal: Terminal, key: bytes, text: str) -> float:
    """Milliseconds from a key until a text is drawn."""
    pressed_s = terminal.press(key)
    return (terminal.wait_for(text) - pressed_s) * 1000


def opening(app: str) -> Iterator[Figure]:
    """From the key on Home to the first rows."""
    took = []
    for _ in range(OPENINGS):
        with running(app) as terminal:
            terminal.wait_for(SLOGAN)
            terminal.wait_for(TITLE)
            terminal.drain(0.5)
            took.append(drawn(terminal, b"r", "complete"))
    yield Figure("browser_first_screen_10000", statistics.median(took), "ms", 100)


def answered(terminal: Terminal, key: bytes) -> float:
    """Milliseconds from a key until anything is drawn."""
    pressed_s = terminal.press(key)
    select.select([terminal.screen], [], [], 5.0)
    return (time.perf_counter() - pressed_s) * 1000


def using(app: str) -> Iterator[Figure]:
    """Keys, sort and filter, in one app."""
    with running(app) as terminal:
        terminal.wait_for(TITLE)
        terminal.drain(0.5)
        drawn(terminal, b"r", "complete")
        terminal.drain(2.0)
        moves = []
        for number in range(KEYS):
            moves.append(answered(terminal, b"\x1b[6~" if number % 4 == 0 else b"j"))
            terminal.drain(0.05)
        yield Figure("browser_key_to_paint_p95", percentile(moves, 95), "ms", 20)
        sorts = []
        for number in range(ROUNDS):
            sorts.append(drawn(terminal, b"o", "↓" if number % 2 else "↑"))
            terminal.drain(0.3)
        yield Figure("browser_sort_10000", statistics.median(sorts), "ms", 100)
        filters = []
        for _ in range(ROUNDS):
            terminal.press(b"/")
            terminal.drain(0.3)
            filters.append(drawn(terminal, b"f", "with"))
            terminal.press(b"\x7f")
            terminal.drain(0.3)
            terminal.press(b"\r")
            terminal.drain(0.1)
        yield Figure("browser_filter_10000", statistics.median(filters), "ms", 100)
        yield Figure("browser_peak", terminal.peak_mib(), "MiB", 150)


def store_samples(home: Path, rows: int) -> None:
    """A run with one pass of so many samples, newer than all others."""
    run = home / "runs" / f"20990101-{rows:06}-samples"
    make_runbook(run)
    out = run / "out"
    (out / "speech").mkdir(parents=True)
    samples = [{"id": f"s{n}", "target_text": "one two", "whisper_text": "one", "wer": 0.5} for n in range(rows)]
    (out / "speech" / "wer_results.json").write_text(json.dumps({"per_sample": samples}))
    (out / "speech" / "speed_results.json").write_text(json.dumps({"per_request": []}))
    one = result("run1", rows, {"wer": 0.5}, collected=f"2099-01-01T00:00:{rows // 1000:02}.000Z")
    put(run / "passes" / "main" / "run1", one, known("1", "main", out_here=str(out)))


def samples(app: str, rows: int) -> Iterator[Figure]:
    """The samples of a pass, opened from its screen, and moved through."""
    with running(app) as terminal:
        terminal.wait_for(TITLE)
        terminal.drain(0.5)
        drawn(terminal, b"r", "complete")
        terminal.drain(1.0)
        drawn(terminal, b"\r", "primary:")
        terminal.drain(0.5)
        yield Figure(f"samples_{rows}_open", drawn(terminal, b"m", "0.500"), "ms", 300)
        terminal.drain(1.0)
        moves = []
        for number in range(KEYS):
            moves.append(answered(terminal, b"\x1b[6~" if number % 4 == 0 else b"j"))
            terminal.drain(0.05)
        yield Figure(f"samples_{rows}_key_to_paint_p95", percentile(moves, 95), "ms", 20)


def measure(folder: Path) -> Iterator[Figure]:
    """All figures of the browser."""
    home = folder / "home"
    os.environ["OMNITUI_HOME"] = str(home)
    for number in range(PASSES):
        store_pass(home, number)
    catalog.refresh()
    time.sleep(0.1)
    app = THE_APP.format(arguments=[])
    yield from opening(app)
    yield from using(app)
    for rows in (2_020, 10_000):
        store_samples(home, rows)
        catalog.refresh()
        yield from samples(app, rows)
