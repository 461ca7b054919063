"""Stores of passes for tests, pictures and benchmarks: the files that a collect step leaves, at fixed times."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import numpy as np
import soundfile as sf
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

[[provenance]]
id = "commit"
value = "${COMMIT}"
compare = "subject"

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
        "skipped": {},
        "remedies": [],
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


SAID = (
    ("s1", "the quick brown fox jumps over the lazy dog", "the quick fox jumped over the lazy old dog", 3 / 9),
    ("s2", "today the weather is fine", "today the weather is fine", 0.0),
    ("s3", "今天天气很好我们去公园", "今天天汽好我们去公园吧", 3 / 11),
)


def write_output(out: Path, seed: int) -> Path:
    """What the clients of a pass left: three samples, two of them misheard, and their sounds."""
    speech = out / "speech"
    (speech / "audio").mkdir(parents=True)
    rows = []
    for number, (ident, text, heard, wer) in enumerate(SAID):
        latency = 0.4 + number / 10 + seed / 1000
        speed = {
            "id": ident,
            "text": text,
            "is_success": True,
            "latency_s": latency,
            "completion_tokens": 90 + number,
        }
        speed |= {"audio_duration_s": 1.2, "wav_path": f"/elsewhere/{ident}.wav"}
        rows.append((speed, {"id": ident, "target_text": text, "whisper_text": heard, "wer": wer}))
        if number < 2:
            swell = np.linspace(0, 1, 24_000) * np.sin(np.arange(24_000) / 9) * 0.8
            sf.write(speech / "audio" / f"{ident}.wav", swell, 24_000, subtype="PCM_16")
    (speech / "speed_results.json").write_text(json.dumps({"per_request": [one for one, _ in rows]}))
    (speech / "wer_results.json").write_text(json.dumps({"per_sample": [other for _, other in rows]}))
    return out


def two_commits(**differs: object) -> tuple[list[Path], list[Path]]:
    """Three passes each of two commits, B twice as fast; `differs` is B's other provenance."""
    passes: dict[str, PassResult] = {}
    provenances: dict[str, dict[str, object]] = {}
    for side, commit, rate in (("base", "5ed8a8d", 4.0), ("new", "070fc3b", 8.0)):
        for number in range(1, 4):
            metrics = {"speech.throughput": rate + number / 50, "wer": 0.02 + number / 1000, "speech.tokens": 91.0}
            one = result(f"run{number}", number * 7, metrics, series=side, commit=commit)
            out = write_output(store.home() / "out" / f"{side}-run{number}", number)
            scope = f"{side}/run{number}"
            passes[scope] = one
            provenances[scope] = known(commit, side, out_here=str(out), **(differs if side == "new" else {}))
    home = take_in(passes, provenances["base/run1"])
    for scope, provenance in provenances.items():
        (home / "passes" / scope / "provenance.toml").write_text(tomli_w.dumps(provenance))
        coverage = {
            "marker": "",
            "reading": {
                "workloads": [
                    {
                        "id": "speech",
                        "expected": 3,
                        "rows": 3,
                        "unique": 3,
                        "done": 2,
                        "failed": 1,
                        "wrong": ["1 failed"],
                        "ids": {"failed": ["s3"]},
                    },
                    {"id": "transcription", "expected": 3, "rows": 3, "unique": 3, "done": 3},
                ]
            },
        }
        (home / "passes" / scope / "coverage.json").write_text(json.dumps(coverage))
        job = home / "jobs" / scope / "client" / "1"
        job.mkdir(parents=True)
        (job / "script").write_text("set -e\npython -m client --samples 3 \\\n    --out $OUT\n")
        (job / "pid").write_text("1 1 b\n")
        (job / "log").write_text("3 of 3\nOK\n")
    folders = {
        side: [home / "passes" / scope for scope in passes if scope.startswith(side)] for side in ("base", "new")
    }
    return folders["base"], folders["new"]
