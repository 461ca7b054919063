"""What the stand-in clients share: requests, figures from a seed, speech files, and how they break on purpose."""

import json
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omnitui.rehearsal.stand_ins import containers, serve, stage

EVERY = 40
"""One sample in so many is really requested: a rehearsal is for the path, not for the load."""
WORDS = ("different", "all", "twisty", "maze", "passage", "little", "darkest", "light", "dawn", "chef", "week")


class ClientError(RuntimeError):
    """What ends a client with a traceback and exit status 1."""


def log(text: str) -> None:
    """A line on stderr, as the real clients log."""
    print(f"{time.strftime('%Y-%m-%d %H:%M:%S')},000 stand-in client INFO {text}", file=sys.stderr, flush=True)


def seeded(*names: object) -> random.Random:
    """Figures that are the same for the same commit, output folder and name."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout
    return random.Random(f"{commit}:{':'.join(map(str, names))}")


def wait_for_service(base: str, patience_s: float = 3.0) -> None:
    """Wait until the health page answers. Raises `TimeoutError`."""
    log(f"Waiting for service at {base} ...")
    until = time.monotonic() + patience_s
    while True:
        try:
            with urllib.request.urlopen(f"{base}/health", timeout=3):
                log("Service is ready.")
                return
        except OSError:
            if time.monotonic() > until:
                raise TimeoutError(f"Service at {base} not ready within {patience_s:.0f}s") from None
            time.sleep(0.1)


def post(base: str, route: str, body: dict[str, Any]) -> bytes:
    """One real request. Raises `ClientError`."""
    request = urllib.request.Request(f"{base}{route}", json.dumps(body).encode(), method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return bytes(answer.read())
    except (OSError, urllib.error.HTTPError) as error:
        raise ClientError(str(error)) from error


def warm_up(base: str, route: str, count: int) -> None:
    """The requests before the timed window. Raises `ValueError` when one fails."""
    log(f"Warmup ({count} requests)...")
    for number in range(count):
        try:
            post(base, route, {"warmup": number})
        except ClientError as error:
            raise ValueError(f"Warmup failed - stand-in client: {error}") from error
        log(f"  warmup {number + 1}/{count}: ok")


def bar(title: str, done: int, total: int) -> None:
    """One line that is rewritten, as tqdm does."""
    print(
        f"\r{title}: {100 * done // total:3d}%|{done}/{total}", end="" if done < total else "\n", file=sys.stderr
    )


def break_halfway() -> None:
    """Die, if that is the fault that is set."""
    fault = stage.fault()
    if fault == "client-cut":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "reboot":
        containers.stop_here()


def figure(value: float) -> float:
    """The figure itself, or NaN if that is the fault that is set."""
    return math.nan if stage.fault() == "nan-result" else value


def failing(number: int) -> bool:
    """Whether a sample is to be left out: the first three, if that is the fault that is set."""
    return number < 3 and stage.fault() == "skipped-samples"


def sentence(number: int) -> str:
    """Words that mean nothing."""
    return f"{' '.join(WORDS[(number * 3 + step) % len(WORDS)] for step in range(9)).capitalize()}."


def seedtts_id(number: int, lang: str = "en") -> str:
    """An id of the shape that the data set's ids have."""
    if lang == "zh":
        return f"{10002287 + number * 7}-{20000094 + number:08d}"
    return f"common_voice_{lang}_{10119832 + number * 10007}-common_voice_{lang}_{10119840 + number * 10008}"


def write_speech(folder: Path, name: str) -> str:
    """A short tone in the place of speech; its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.wav"
    path.write_bytes(serve.TONE)
    return str(path.absolute())


def write_json(path: Path, data: Any) -> None:
    """As the clients write: `Infinity` and `NaN` as Python does."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=2))


def percentile(values: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def speed(rows: Sequence[dict[str, Any]], wall_s: float) -> dict[str, Any]:
    """The speed fields over the rows that succeeded; three fields when none did."""
    good = [row for row in rows if row["is_success"]]
    counts = {"total_requests": len(rows), "completed_requests": len(good)}
    head: dict[str, Any] = {**counts, "failed_requests": len(rows) - len(good)}
    if not good:
        return head
    latency = [float(row["latency_s"]) for row in good]
    audio = [float(row["audio_duration_s"]) for row in good]
    rtf = [one / long for one, long in zip(latency, audio, strict=True)]
    out, prompt = ([int(row[key]) for row in good] for key in ("completion_tokens", "prompt_tokens"))
    return {
        **head,
        "latency_mean_s": round(statistics.mean(latency), 3),
        "latency_median_s": round(statistics.median(latency), 3),
        "latency_p95_s": figure(round(percentile(latency, 95), 3)),
        "latency_p99_s": round(percentile(latency, 99), 3),
        "audio_duration_mean_s": round(statistics.mean(audio), 3),
        "rtf_mean": round(statistics.mean(rtf), 4),
        "rtf_median": round(statistics.median(rtf), 4),
        "rtf_p95": round(percentile(rtf, 95), 4),
        "rtf_p99": round(percentile(rtf, 99), 4),
        "throughput_qps": round(len(good) / wall_s, 3),
        "output_tok_per_req_s": round(sum(out) / sum(latency), 1),
        "output_throughput": round(sum(out) / wall_s, 1),
        "output_tokens_mean": float(round(statistics.mean(out))),
        "output_tokens_total": sum(out),
        "prompt_tokens_mean": float(round(statistics.mean(prompt))),
        "prompt_tokens_total": sum(prompt),
        "audio_throughput_s_per_s": round(sum(audio) / wall_s, 3),
    }


def wer_summary(rows: Sequence[dict[str, Any]], lang: str) -> dict[str, Any]:
    """The WER fields. With nothing evaluated they are 0.0, as the real ones are."""
    scored = [row for row in rows if row["is_success"]]
    wers = [float(row["wer"]) for row in scored] or [0.0]
    words = sum(row["hits"] + row["substitutions"] + row["deletions"] for row in scored)
    errors = sum(row["substitutions"] + row["deletions"] + row["insertions"] for row in scored)
    above = sum(wer > 0.5 for wer in wers)
    latency = [float(row["latency_s"]) for row in scored] or [0.0]
    audio = [float(row["audio_duration_s"]) for row in scored] or [0.0]
    corpus = errors / words if words else 0.0
    return {
        "lang": lang,
        "total_samples": len(rows),
        "evaluated": len(scored),
        "skipped": len(rows) - len(scored),
        "wer_corpus": corpus,
        "wer_per_sample_mean": statistics.mean(wers),
        "wer_per_sample_median": statistics.median(wers),
        "wer_per_sample_std": statistics.pstdev(wers),
        "wer_per_sample_p95": percentile(wers, 95),
        "wer_per_sample_max": max(wers),
        "wer_below_50_corpus": corpus,
        "n_above_50_pct_wer": above,
        "pct_above_50_pct_wer": 100 * above / len(wers),
        "latency_mean_s": statistics.mean(latency),
        "latency_median_s": statistics.median(latency),
        "latency_p95_s": percentile(latency, 95),
        "rtf_mean": statistics.mean(latency) / statistics.mean(audio) if scored else 0.0,
        "audio_duration_mean_s": statistics.mean(audio),
    }


def wer_of(rng: random.Random) -> dict[str, Any]:
    """The errors of one sample of nine words."""
    wrong = 1 if rng.random() < 0.15 else 0
    counts = {"substitutions": wrong, "deletions": 0, "insertions": 0, "hits": 9 - wrong}
    return {"wer": round(wrong / 9, 6), **counts}
