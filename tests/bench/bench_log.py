"""What a log pane costs: `python -m tests.bench.bench_log [FOLDER]`; the folder needs 2.5 GiB.

With 12 GiB free a log of 4 GiB is measured too.

Apps run in pseudo-terminals of their own. What a 1 GiB log adds is told as the difference to a minimal Textual
app, the two started in turn.
"""

import argparse
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from omnitui.logs import LineCount, LogFile, count_lines

from tests.bench.measuring import Figure, median_difference, percentile, running

GIB = 1024**3
MIB = 1024**2
LAST = "THE LAST LINE"
PAIRS = 7
KEYS = 120
WRITTEN_LINE = 'INFO:     127.0.0.1:50222 - "POST /v1/chat/completions HTTP/1.1" 200 OK'
WRITTEN_LINE_BYTES = len(WRITTEN_LINE) + 1

MINIMAL_APP = f"""
from textual.app import App
from textual.widgets import Static
class Minimal(App):
    def compose(self):
        yield Static("{LAST}")
Minimal().run()
"""
LOG_APP = """
import sys
from pathlib import Path
from textual.app import App
from omnitui.ui.widgets import log_view
class Log(App):
    CSS_PATH = Path(log_view.__file__).with_suffix(".tcss")
    def compose(self):
        yield log_view.LogView(Path(sys.argv[1]))
Log().run()
"""
WRITER = """
import sys, time
path, lines_s, line = sys.argv[1], int(sys.argv[2]), sys.argv[3]
batch = f"{line}\\n".encode() * (lines_s // 100)
with open(path, "ab", buffering=0) as log:
    due = time.monotonic()
    while True:
        log.write(batch)
        due += 0.01
        time.sleep(max(0, due - time.monotonic()))
"""
SLOW_WRITER = """
import random, sys, time
dice = random.Random(1)
with open(sys.argv[1], "ab", buffering=0) as log:
    due, number = time.monotonic(), 0
    while True:
        number += 1
        port, took = dice.randrange(40000, 60000), dice.uniform(10, 400)
        line = f'INFO:     127.0.0.1:{port} - "POST /v1/audio/speech HTTP/1.1" 200 OK in {took:.1f} ms #{number}'
        log.write(line.encode() + b"\\n")
        due += 0.01
        time.sleep(max(0, due - time.monotonic()))
"""
LOG_LINE = b'INFO:     127.0.0.1:50222 - "POST /v1/chat/completions HTTP/1.1" 200 OK in 123.4 ms\n'
SEEKS = 60
FOLLOWED_S = 15.0


def make_log(path: Path, size: int) -> int:
    """Write about `size` bytes, which then are in the page cache, and return the number of lines."""
    line = LOG_LINE
    block = line * (MIB // len(line))
    blocks = size // len(block) + 1
    with path.open("wb") as log:
        for _ in range(blocks):
            log.write(block)
        log.write(LAST.encode() + b"\n")
    return blocks * (len(block) // len(line)) + 1


def opening(log: Path, lines: int, name: str = "log", pairs: int = PAIRS) -> Iterator[Figure]:
    """Measure what a log adds to the first paint and to the peak memory, and when its lines are counted."""
    paint_s: list[tuple[float, float]] = []
    peak_mib: list[tuple[float, float]] = []
    counted_s = []
    for _ in range(pairs):
        with running(MINIMAL_APP) as minimal:
            minimal_s = minimal.wait_for(LAST) - minimal.started_s
            minimal.drain(1.0)
            minimal_mib = minimal.peak_mib()
        with running(LOG_APP, str(log)) as app:
            painted_s = app.wait_for(LAST)
            counted_s.append(app.wait_for(f"of {lines:,}") - painted_s)
            app.drain(0.5)
            peak_mib.append((minimal_mib, app.peak_mib()))
            paint_s.append((minimal_s, painted_s - app.started_s))
    yield Figure(f"{name}_open_extra", median_difference(paint_s), "s", 0.2)
    yield Figure(f"{name}_open_ratio", statistics.median(app / minimal for minimal, app in paint_s), "x", 1.4)
    yield Figure(f"{name}_open_extra_peak_memory", median_difference(peak_mib), "MiB", 10)
    yield Figure(
        f"{name}_line_count_shown_after_paint", statistics.median(counted_s), "s", log.stat().st_size / GIB * 2
    )


def counting(log: Path, lines: int) -> Iterator[Figure]:
    """Measure the exact line count outside an app."""
    file = LogFile(log)
    file.refresh()
    assert file.identity is not None
    with log.open("rb") as opened:
        sample = opened.read(64 * MIB)
    times_s, bare_s = [], []
    for _ in range(5):
        started_s = time.perf_counter()
        assert count_lines(log, file.identity, LineCount(), file.size).lines == lines
        times_s.append(time.perf_counter() - started_s)
        started_s = time.perf_counter()
        assert sample.count(b"\n")
        bare_s.append((time.perf_counter() - started_s) * file.size / len(sample))
    took_s = statistics.median(times_s)
    yield Figure("log_line_count", took_s, "s", 2)
    yield Figure("log_line_count_over_bytes_count_in_memory", took_s / statistics.median(bare_s), "x", 1.6)
    yield Figure("log_line_count_rate", file.size / GIB / took_s, "GiB/s", 1.5, at_least=True)


def keys_while_growing(log: Path, lines_s: int) -> Iterator[Figure]:
    """Measure from a key to its paint while another process appends; each key pauses, or follows again."""
    log.write_text(LAST + "\n")
    phases = random.Random(1)
    took_ms = []
    with running(LOG_APP, str(log)) as app:
        app.wait_for(LAST)
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(log), str(lines_s), WRITTEN_LINE])
        try:
            app.drain(1.0)
            first_s, first_bytes = time.perf_counter(), log.stat().st_size
            began_s, began_cpu_s = first_s, app.cpu_s()
            for _ in range(KEYS // 2):
                for key, shown in ((b"\x1b[A", "paused"), (b"f", "following")):
                    app.drain(phases.uniform(0.02, 0.08))
                    pressed_s = app.press(key)
                    took_ms.append((app.wait_for(shown) - pressed_s) * 1000)
            busy = (app.cpu_s() - began_cpu_s) / (time.perf_counter() - began_s)
            began_s, began_cpu_s = time.perf_counter(), app.cpu_s()
            app.drain(4.0)
            grown = (log.stat().st_size - first_bytes) / WRITTEN_LINE_BYTES / (time.perf_counter() - first_s)
            following = (app.cpu_s() - began_cpu_s) / (time.perf_counter() - began_s)
        finally:
            writer.kill()
            writer.wait()
    yield Figure(f"log_growing_{lines_s}", grown, "lines/s", 0.9 * lines_s, at_least=True)
    yield Figure(f"log_growing_{lines_s}_key_to_paint_p95", percentile(took_ms, 95), "ms", 50)
    yield Figure(f"log_growing_{lines_s}_cpu_at_20_keys_a_second", busy * 100, "%", 25)
    yield Figure(f"log_growing_{lines_s}_cpu_following", following * 100, "%", 25)


def seeks(log: Path, lines: int, name: str = "log") -> Iterator[Figure]:
    """Measure from the last key of a place or of a jump to its paint, once the lines are counted."""
    dice = random.Random(2)
    places_ms, jumps_ms = [], []
    with running(LOG_APP, str(log)) as app:
        app.wait_for(f"of {lines:,}")
        for _ in range(SEEKS):
            number = dice.randrange(1, lines)
            app.press(f":{number}".encode())
            app.drain(0.1)
            pressed_s = app.press(b"\r")
            places_ms.append((app.wait_for(f"▶ {number:,}") - pressed_s) * 1000)
        for _ in range(SEEKS // 2):
            for key, shown in ((b"G", f"line {lines:,}"), (b"g", "line 39")):
                app.drain(dice.uniform(0.02, 0.08))
                pressed_s = app.press(key)
                jumps_ms.append((app.wait_for(shown) - pressed_s) * 1000)
    yield Figure(f"{name}_seek_p95", percentile(places_ms, 95), "ms", 40)
    yield Figure(f"{name}_jump_p95", percentile(jumps_ms, 95), "ms", 40)


def searching(log: Path) -> Iterator[Figure]:
    """Measure a search through all of it, and keys pressed meanwhile."""
    took_ms = []
    with running(LOG_APP, str(log)) as app:
        app.wait_for(LAST)
        app.press(b"g")
        app.wait_for("line 39")
        app.press(b"/never there")
        app.drain(0.3)
        begun_s = app.press(b"\r")
        app.wait_for("looking on")
        for _ in range(10):
            for key, shown in ((b"G", "following"), (b"\x1b[A", "paused")):
                app.drain(0.01)
                pressed_s = app.press(key)
                took_ms.append((app.wait_for(shown) - pressed_s) * 1000)
        if not app.has_drawn("none further on"):
            app.wait_for("none further on")
        took_s = time.perf_counter() - begun_s
    yield Figure("log_search_rate", log.stat().st_size / MIB / took_s, "MiB/s", 100, at_least=True)
    yield Figure("log_search_key_to_paint_p95", percentile(took_ms, 95), "ms", 50)


def followed(log: Path) -> Iterator[Figure]:
    """Measure what a log of 100 different lines a second sends to the terminal while it is followed."""
    log.write_text(LAST + "\n")
    with running(LOG_APP, str(log)) as app:
        app.wait_for(LAST)
        writer = subprocess.Popen([sys.executable, "-c", SLOW_WRITER, str(log)])
        try:
            app.drain(3.0)
            begun_cpu_s = app.cpu_s()
            sent, paints = app.count(FOLLOWED_S)
            used = app.cpu_s() - begun_cpu_s
        finally:
            writer.kill()
            writer.wait()
    yield Figure("log_followed_100_bytes", sent / 1024 / FOLLOWED_S, "KiB/s", 5)
    yield Figure("log_followed_100_paints", paints / FOLLOWED_S, "a second", 0.5, at_least=True)
    yield Figure("log_followed_100_cpu", used * 100 / FOLLOWED_S, "%", 3)


def measure(folder: Path) -> Iterator[Figure]:
    """Measure everything with files in `folder`, which are removed."""
    log, growing = folder / "bench.log", folder / "growing.log"
    try:
        lines = make_log(log, GIB)
        yield from opening(log, lines)
        yield from counting(log, lines)
        yield from seeks(log, lines)
        yield from searching(log)
        yield from followed(growing)
        for lines_s in (100_000, 1_000_000):
            yield from keys_while_growing(growing, lines_s)
        growing.unlink()
        if shutil.disk_usage(folder).free > 12 * GIB:
            lines = make_log(log, 4 * GIB)
            yield from opening(log, lines, "log_4gib", pairs=3)
            yield from seeks(log, lines, "log_4gib")
    finally:
        log.unlink(missing_ok=True)
        growing.unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    given = parser.parse_args().folder
    with tempfile.TemporaryDirectory(dir=given) as folder:
        for figure in measure(Path(folder)):
            print(figure, flush=True)


if __name__ == "__main__":
    main()
