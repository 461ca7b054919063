"""What the app costs: its first full paint beside a minimal Textual app's, and a Run screen that only watches."""

import json
import os
import random
import select
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from omnitui import supervise

from tests.bench.bench_runner import cpu_s, finished, runbook
from tests.bench.measuring import Figure, Terminal, running

DATA = Path(__file__).parents[1] / "data" / "gpu"
PAIRS = 9
WATCHED_S = 20.0
TITLE = "Quickstart: a speech"
"""Stands on the Home screen once the runbooks have been read."""
SLOGAN = "from page to trusted number"

MINIMAL_APP = f"""
from textual.app import App
from textual.widgets import Static
class Minimal(App):
    def compose(self):
        yield Static("{TITLE}")
Minimal().run()
"""
THE_APP = "from omnitui.__main__ import main; import sys; sys.argv[1:] = {arguments!r}; main()"

LONG_STEP = """
[resources]
gpus = "0,1"

[[phases]]
id = "p"
title = "P"

[[phases.steps]]
id = "rest"
title = "A step that rests"
run = '''
echo begun
sleep 300
'''
gates = [{ gate = "output", word = "NEVER" }]
"""


def first_paint(home: Path) -> Iterator[Figure]:
    """From the start of the process to the Home screen and its runbooks; the apps are started in turn."""
    os.environ["OMNITUI_HOME"] = str(home)
    app = THE_APP.format(arguments=[])
    rounds = []
    for _ in range(PAIRS):
        with running(MINIMAL_APP) as terminal:
            minimal = terminal.wait_for(TITLE) - terminal.started_s
        with running(app) as terminal:
            painted = terminal.wait_for(SLOGAN) - terminal.started_s
            listed = terminal.wait_for(TITLE) - terminal.started_s
        rounds.append((minimal, painted, listed))
    yield Figure("minimal_app_first_paint", statistics.median(m for m, _, _ in rounds) * 1000, "ms", float("inf"))
    yield Figure("app_first_paint_ratio", statistics.median(p / m for m, p, _ in rounds), "x", 1.4)
    yield Figure("app_runbooks_listed_ratio", statistics.median(t / m for m, _, t in rounds), "x", 1.4)


class FakeCards:
    """Two stand-in cards whose memory, load, power and clocks are other ones at every look of the monitor."""

    def __init__(self, folder: Path) -> None:
        self._answer = folder / "nvml.json"
        self._told = json.loads((DATA / "nvml_held.json").read_text())
        self._told["cards"] = [json.loads(json.dumps(self._told["cards"][0])) for _ in range(2)]
        for number, card in enumerate(self._told["cards"]):
            card["uuid"] = f"GPU-{number}"
            card["processes"] = [[os.getpid(), 1000]]
        self._random = random.Random(1)
        self._end = threading.Event()
        self.change()
        os.environ["FAKE_NVML"] = str(self._answer)
        os.environ["PYTHONPATH"] = f"{DATA / 'fake'}:{Path(__file__).parents[2]}"
        threading.Thread(target=self._work, daemon=True).start()

    def change(self) -> None:
        """Other figures."""
        for card in self._told["cards"]:
            card["memory"]["used"] = self._random.uniform(60_000, 64_000)
            card["utilisation"] = self._random.randint(80, 100)
            card["power_mw"] = self._random.randint(500_000, 690_000)
            card["temperature"] = self._random.randint(58, 66)
            card["sm_mhz"] = self._random.randint(1700, 1980)
        fresh = self._answer.with_suffix(".new")
        fresh.write_text(json.dumps(self._told))
        fresh.replace(self._answer)

    def _work(self) -> None:
        while not self._end.wait(0.5):
            self.change()

    def close(self) -> None:
        """Rest, and be no stand-in for anybody else."""
        self._end.set()
        for name in ("FAKE_NVML", "PYTHONPATH"):
            os.environ.pop(name, None)


def watching(folder: Path) -> Iterator[Figure]:
    """An open Run screen while a step rests and two cards do not: CPU of the app, and bytes to the terminal."""
    run = supervise.make_run(str(runbook(folder / "rest", LONG_STEP)), {}, None)
    cards = FakeCards(folder)
    supervise.start(run)
    try:
        with running(THE_APP.format(arguments=["attach", run.name])) as terminal:
            terminal.wait_for("A step that rests")
            terminal.wait_for("GPU 1")
            terminal.drain(5.0)
            used, begun = cpu_s(terminal.process.pid), time.monotonic()
            sent = drained(terminal, WATCHED_S)
            spent = time.monotonic() - begun
            yield Figure(
                "run_screen_idle_cpu", (cpu_s(terminal.process.pid) - used) * 100 / spent, "% of a core", 1.5
            )
            yield Figure("run_screen_idle_bytes", sent / 1024 / spent, "KiB/s", 1.0)
    finally:
        cards.close()
        supervise.stop_run(run)
        finished(run)


def drained(terminal: Terminal, for_s: float) -> int:
    """How many bytes the program draws in that time."""
    count, until = 0, time.monotonic() + for_s
    while (left := until - time.monotonic()) > 0:
        if select.select([terminal.screen], [], [], left)[0]:
            count += len(os.read(terminal.screen, 65536))
    return count


def measure(folder: Path) -> Iterator[Figure]:
    """All figures of the app."""
    os.environ["OMNITUI_HOME"] = str(folder / "home")
    yield from first_paint(folder / "home")
    yield from watching(folder)
