"""What a speech client measured: its outcomes, their summary, and the result file that is written once."""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO


@dataclass(frozen=True)
class Sample:
    """One line of the test set."""

    id: str
    text: str


@dataclass(frozen=True)
class Success:
    """A request that was answered; `found` holds what its kind of request adds to the result file."""

    sample: Sample
    latency_s: float
    audio_duration_s: float
    found: Mapping[str, str | None]

    @property
    def rtf(self) -> float:
        """Real-time factor: latency over the duration of the audio; below 1 is faster than real time."""
        return self.latency_s / self.audio_duration_s


@dataclass(frozen=True)
class Failure:
    """A request that was not answered, and why."""

    sample: Sample
    error: str
    found: Mapping[str, str | None]


Outcome = Success | Failure


@dataclass(frozen=True)
class Measurement:
    """All outcomes of one timed window; `window_s` is its length by the monotonic clock."""

    outcomes: Sequence[Outcome]
    window_s: float
    concurrency: int
    warmup: int

    @property
    def successes(self) -> list[Success]:
        """The answered requests."""
        return [outcome for outcome in self.outcomes if isinstance(outcome, Success)]


class AlreadyMeasured(FileExistsError):
    """The result file exists; results are never overwritten."""


class UnreadableSamples(ValueError):
    """The test set cannot be read; the message says where."""


def read_samples(path: Path, limit: int | None) -> list[Sample]:
    """Read the first `limit` samples (all when None) of a TSV file with the columns id and text."""
    try:
        header, *lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    except OSError as error:
        raise UnreadableSamples(f"cannot read {path}: {error.strerror}") from error
    rows = [line.split("\t") for line in lines]
    wrong = [number for number, row in enumerate(rows, start=2) if len(row) != 2 or not row[0]]
    if header != "id\ttext" or wrong or not rows:
        raise UnreadableSamples(f"{path}:{wrong[0] if wrong else 1}: expected the two columns id and text")
    if len({row[0] for row in rows}) != len(rows):
        raise UnreadableSamples(f"{path}: an id is there twice")
    return [Sample(*row) for row in rows[:limit]]


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, None for no values."""
    return math.fsum(values) / len(values) if values else None


def percentile(values: Sequence[float], percent: float) -> float | None:
    """Return a percentile by linear interpolation between closest ranks, None for no values."""
    if not values:
        return None
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def summarize(measurement: Measurement) -> dict[str, float | int | None]:
    """Summarize a measurement; what needs an answered request is None, never 0, when there was none."""
    done = measurement.successes
    latencies = [success.latency_s for success in done]
    audio_s = math.fsum(success.audio_duration_s for success in done)
    return {
        "total_requests": len(measurement.outcomes),
        "completed_requests": len(done),
        "failed_requests": len(measurement.outcomes) - len(done),
        "throughput_qps": len(done) / measurement.window_s if done else None,
        "latency_mean_s": mean(latencies),
        "latency_p50_s": percentile(latencies, 50),
        "latency_p95_s": percentile(latencies, 95),
        "rtf_mean": mean([success.rtf for success in done]),
        "audio_duration_mean_s": audio_s / len(done) if done else None,
        "audio_throughput_s_per_s": audio_s / measurement.window_s if done else None,
        "concurrency": measurement.concurrency,
        "warmup": measurement.warmup,
    }


def to_row(outcome: Outcome) -> dict[str, Any]:
    """Turn an outcome into its row of the result file; a failure has the same keys with nulls."""
    done = outcome if isinstance(outcome, Success) else None
    return {
        "id": outcome.sample.id,
        "is_success": done is not None,
        "latency_s": done.latency_s if done else None,
        "audio_duration_s": done.audio_duration_s if done else None,
        "rtf": done.rtf if done else None,
        **outcome.found,
        "error": outcome.error if isinstance(outcome, Failure) else None,
    }


def refuse_existing(path: Path) -> None:
    """Raise `AlreadyMeasured` when the result file exists."""
    if path.exists():
        raise AlreadyMeasured(
            f"{path} exists; results are never overwritten: move it aside or name another folder"
        )


def write_once(path: Path, value: Mapping[str, Any]) -> None:
    """Write a JSON file that is either whole or absent; raises `AlreadyMeasured` rather than replace one."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    refuse_existing(path)
    Path(file.name).replace(path)


@dataclass
class Progress:
    """A progress bar in tqdm's form: one physical line of many updates."""

    total: int
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    done: int = 0
    started_s: float = field(default_factory=time.monotonic)

    def advance(self) -> None:
        """Count one finished request and draw the line again."""
        self.done += 1
        elapsed_s = max(time.monotonic() - self.started_s, 1e-6)
        left_s = elapsed_s / self.done * (self.total - self.done)
        rate = self.done / elapsed_s
        text = f" {self.done}/{self.total} [{_clock(elapsed_s)}<{_clock(left_s)}, {rate:.1f} it/s]"
        self.stream.write(f"\r{text:<44}")
        self.stream.flush()

    def close(self) -> None:
        """End the line."""
        self.stream.write("\n")
        self.stream.flush()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:02d}:{rest:02d}"
