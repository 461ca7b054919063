"""Stores of passes for tests, pictures and benchmarks: the files that a collect step leaves, at fixed times."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import tomli_w
from omnitui import store
from omnitui.results.passes import PassResult
from omnitui.results.sources import IMPORT_FILE, IMPORTS

FIRST = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
RUNBOOK = """
schema = 1
title = "Speech, two ways"
summary = "Figures to compare."

[variables.COMMIT]
default = "5ed8a8d"
help = "What is measured."
compare = "subject"

[[phases]]
id = "p"
title = "P"
per = "pass"

[[phases.steps]]
id = "client"
title = "Client"
run = "true"
gates = [{ gate = "output", word = "OK" }]

[passes]
unscored = ["run0"]
out = "${RUN_DIR}/out/${SERIES}-${PASS}"

[[schedules]]
id = "standard"
title = "Three passes"
order = ["main/run0", "main/run1", "main/run2", "main/run3"]

[[workloads]]
id = "speech"
title = "Speech"
file = "speech/speed_results.json"
rows = "per_request"
expect = "2"

[[metrics]]
id = "speech.throughput"
file = "speech/speed_results.json"
path = "summary.throughput"
unit = "req/s"
direction = "higher"
primary = true
guards = ["speech.tokens"]

[[metrics]]
id = "wer"
file = "speech/wer_results.json"
path = "summary.wer"
unit = "fraction"
direction = "lower"
primary = true

[[metrics]]
id = "speech.tokens"
file = "speech/speed_results.json"
path = "summary.tokens"
unit = "tokens"

[[samples]]
id = "wer"
file = "speech/wer_results.json"
rows = "per_sample"
value = "wer"
direction = "lower"
"""


def known(commit: str, series: str, **more: object) -> dict[str, object]:
    """Provenance in which all is known."""
    return {
        "runbook": "speech",
        "runbook_sha256": "0" * 64,
        "definition_sha256": "d" * 64,
        "origin": "run",
        "omnitui": "0.1.0",
        "packages": "textual==8.2.8",
        "edited": {},
        "variables": {"COMMIT": commit},
        "told": {"commit": commit},
        "gpus": {"count": 1, "names": ["NVIDIA H200"], "uuids": ["GPU-a"], "driver": "575.57"},
        "host": {"name": "bench", "cpu": "EPYC", "cpus": "2-15", "kernel": "6.1", "boot": "b", "python": "3.11"},
        "containers": [{"image": "sha256:1", "gpus": ["GPU-a"], "cpuset": "2-15"}],
        "series": series,
        **more,
    }


def put(
    folder: Path, result: PassResult, provenance: Mapping[str, object], steps: tuple[str, ...] = ("client",)
) -> None:
    """The small files of one pass; `steps` are those that are done."""
    folder.mkdir(parents=True)
    (folder / "metrics.json").write_bytes(msgspec.json.encode(result))
    (folder / "provenance.toml").write_text(tomli_w.dumps(dict(provenance)))
    (folder / "standing.json").write_text(json.dumps({"done": list(steps), "marks": list(result.marks)}))


def result(label: str, run: int, metrics: Mapping[str, float], **more: object) -> PassResult:
    """One pass of the series main."""
    fields: dict[str, object] = {
        "series": "main",
        "label": label,
        "scored": label != "run0",
        "complete": True,
        "metrics": metrics,
        "steps": ("client",),
        "runbook": "speech",
        "title": "Speech, two ways",
        "collected": (FIRST + timedelta(minutes=run)).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "commit": "5ed8a8d",
        "gpu": "NVIDIA H200",
        "host": "bench",
        **more,
    }
    return msgspec.convert(fields, PassResult)


def make_runbook(run: Path, text: str = RUNBOOK) -> None:
    """A run's own copy of its runbook."""
    (run / "runbook").mkdir(parents=True, exist_ok=True)
    (run / "runbook" / "runbook.toml").write_text(text)


def fill(count: int) -> Iterator[Path]:
    """So many passes in runs of four, of three runbooks, five commits and two GPUs; some are not averaged."""
    for number in range(count):
        run, label = divmod(number, 4)
        home = store.home() / "runs" / f"{FIRST + timedelta(minutes=run):%Y%m%d-%H%M%S}-r{run}"
        if label == 0:
            make_runbook(home)
        commit = f"{run % 5:07x}"
        metrics = {f"part{n}.metric{n}": n + number / 1000 for n in range(27)}
        metrics |= {"speech.throughput": 4 + number % 97 / 100, "wer": 0.02 + number % 13 / 1000}
        marks = ("foreign process 911 (python3 of mallory) on GPU 0 during client",) if number % 50 == 7 else ()
        folder = home / "passes" / "main" / f"run{label}"
        one = result(
            f"run{label}",
            run * 10 + label,
            metrics,
            marks=marks,
            runbook=("speech", "asr", "video")[run % 3],
            commit=commit,
            gpu=("NVIDIA H200", "NVIDIA H100 80GB HBM3")[run % 2],
        )
        put(folder, one, known(commit, "main"))
        yield folder


def take_in(passes: Mapping[str, PassResult], provenance: Mapping[str, object]) -> Path:
    """Results that were taken in, as one import."""
    home = store.home() / IMPORTS / "20260301-070000-speech"
    make_runbook(home)
    for scope, one in passes.items():
        put(home / "passes" / scope, one, provenance)
    record = {
        "schema": 1,
        "id": home.name,
        "runbook": "speech",
        "title": "Speech, two ways",
        "created": "2026-03-01T07:00:00.000Z",
        "variables": {},
        "passes": list(passes),
    }
    (home / IMPORT_FILE).write_text(tomli_w.dumps(record))
    return home
