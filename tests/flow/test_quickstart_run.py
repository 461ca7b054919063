"""The quickstart benchmark itself: whole, and with its terminal cut and its runner killed on the way."""

import json
import os

import pytest
from omnitui import store
from tests.flow.desk import Desk
from tests.flow.test_terminal import Terminal, complete
from tests.waiting import until

pytestmark = pytest.mark.long

METRICS = {"wer", "speech.rtf_mean", "speech.latency_mean", "speech.throughput", "transcription.rtf_mean"}


def test_four_passes_end_in_a_table(desk: Desk) -> None:
    told = desk.process("run", "quickstart", "--headless", "--yes", "--set", f"PORT={desk.port}")
    assert told.code == 0, told
    assert told.out.count("RUN_COMPLETE") == 3
    found = json.loads(desk.omnitui("results", "--json").out)["series"][0]
    rows = {row["metric"]: row for row in found["rows"]}
    assert found["averaged"] == ["run1", "run2", "run3"]
    assert found["left_out"] == [["run0", "not scored"]]
    assert rows.keys() >= METRICS
    assert all(len(row["values"]) == 3 and row["stdev"] is not None for row in rows.values())
    # An honest number: recognition makes errors, and not too many.
    assert 0.0 < rows["wer"]["mean"] < 0.3


def test_it_survives_a_cut_terminal_and_a_killed_runner(desk: Desk) -> None:
    terminal = Terminal("run", "quickstart", "--set", f"PORT={desk.port}", "--set", "SAMPLES=12")
    until(lambda: terminal.shows("Measure") and bool(store.runs()), about="the Run screen")
    (run,) = store.runs()
    desk.saw(run, "step_started", step="main/run1/tts-client")
    os.close(terminal.tty)
    os.close(terminal.screen)
    terminal.tty = terminal.screen = -1
    until(lambda: terminal.process.poll() is not None, about="the app")
    desk.saw(run, "step_started", step="main/run2/asr-client")
    desk.kill_runner(run)
    told = desk.resume(run)
    assert told.code == 0, told
    assert complete(run)
    rows = json.loads(desk.omnitui("results", run.name, "--json").out)["series"][0]
    assert rows["averaged"] == ["run1", "run2", "run3"]
    terminal.close()
