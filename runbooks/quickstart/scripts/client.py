"""Measure a speech server: text-to-speech (`speech`) or speech recognition (`transcription`).

Both send the test set with a fixed number of requests in flight after an untimed warmup, and write
`speed_results.json` with a summary and one row per request. Latency runs from sending a request to its whole
answer; RTF is latency over the duration of the audio.

Exit status: 0 every request was answered, 1 one was not or the warmup failed, 2 wrong usage or existing results.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import sys
import time
import wave
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import httpx
from speech_results import (
    AlreadyMeasured,
    Failure,
    Measurement,
    Outcome,
    Progress,
    Sample,
    Success,
    UnreadableSamples,
    read_samples,
    refuse_existing,
    summarize,
    to_row,
    write_once,
)

RESULTS = "speed_results.json"


class RequestFailed(Exception):
    """A request was not answered as it should; the message says how."""


class Workload(Protocol):
    """One kind of request."""

    async def send(self, http: httpx.AsyncClient, sample: Sample) -> Success:
        """Send one request and time it; raises RequestFailed or httpx.HTTPError."""

    def unanswered(self, sample: Sample) -> Mapping[str, str | None]:
        """Give what the row of a failed request holds."""


class Speech:
    """Text-to-speech: keeps the audio in memory, so that the disk is no part of the measurement."""

    def __init__(self, model: str, voice: str) -> None:
        self.audio: dict[str, bytes] = {}
        self._model, self._voice = model, voice

    async def send(self, http: httpx.AsyncClient, sample: Sample) -> Success:
        """Ask for one sample's audio."""
        body = {"model": self._model, "input": sample.text, "voice": self._voice, "response_format": "wav"}
        started_s = time.monotonic()
        response = await http.post("/v1/audio/speech", json=body)
        latency_s = time.monotonic() - started_s
        _require_ok(response)
        duration_s = wav_duration_s(response.content)
        self.audio[sample.id] = response.content
        found = {"text": sample.text, "wav_path": f"audio/{sample.id}.wav"}
        return Success(sample, latency_s, duration_s, found)

    def unanswered(self, sample: Sample) -> Mapping[str, str | None]:
        """A failed request has no audio."""
        return {"text": sample.text, "wav_path": None}

    def write_audio(self, samples: Iterable[Sample], folder: Path) -> None:
        """Write `<id>.wav` of every answered sample."""
        folder.mkdir(parents=True, exist_ok=True)
        for sample in samples:
            (folder / f"{sample.id}.wav").write_bytes(self.audio[sample.id])


class Transcription:
    """Speech recognition: reads the audio before the measurement."""

    def __init__(self, model: str, samples: Iterable[Sample], folder: Path) -> None:
        self._model = model
        paths = {sample.id: folder / f"{sample.id}.wav" for sample in samples}
        self._audio = {sample_id: path.read_bytes() for sample_id, path in paths.items() if path.is_file()}
        self._folder = folder

    async def send(self, http: httpx.AsyncClient, sample: Sample) -> Success:
        """Ask for one sample's transcript."""
        audio = self._audio.get(sample.id)
        if audio is None:
            raise RequestFailed(f"there is no {self._folder / sample.id}.wav")
        duration_s = wav_duration_s(audio)
        form = {"model": self._model, "language": "en", "response_format": "json"}
        files = {"file": (f"{sample.id}.wav", audio, "audio/wav")}
        started_s = time.monotonic()
        response = await http.post("/v1/audio/transcriptions", data=form, files=files)
        latency_s = time.monotonic() - started_s
        _require_ok(response)
        return Success(
            sample, latency_s, duration_s, {"reference": sample.text, "hypothesis": _transcript(response)}
        )

    def unanswered(self, sample: Sample) -> Mapping[str, str | None]:
        """A failed request has no hypothesis, which is not an empty one."""
        return {"reference": sample.text, "hypothesis": None}


def wav_duration_s(data: bytes) -> float:
    """Return the duration of the samples that are there, whatever the header claims; raises RequestFailed."""
    try:
        with wave.open(io.BytesIO(data), "rb") as file:
            frame_bytes = file.getsampwidth() * file.getnchannels()
            frames = len(file.readframes(file.getnframes())) // frame_bytes
            rate_hz = file.getframerate()
    except (wave.Error, EOFError, ZeroDivisionError) as error:
        raise RequestFailed(f"the audio is not WAV: {error}") from error
    if frames == 0:
        raise RequestFailed("the audio is empty")
    return frames / rate_hz


def _require_ok(response: httpx.Response) -> None:
    if response.status_code != httpx.codes.OK:
        raise RequestFailed(f"HTTP {response.status_code}: {response.text[:200]}")


def _transcript(response: httpx.Response) -> str:
    try:
        return str(response.json()["text"])
    except (ValueError, KeyError, TypeError) as error:
        raise RequestFailed(f"the answer is no transcript: {response.text[:200]}") from error


async def attempt(http: httpx.AsyncClient, workload: Workload, sample: Sample) -> Outcome:
    """Send one request and turn whatever happens to it into an outcome."""
    try:
        return await workload.send(http, sample)
    except (RequestFailed, httpx.HTTPError) as error:
        reason = str(error) or "no message"
        return Failure(sample, f"{type(error).__name__}: {reason}", workload.unanswered(sample))


async def send_all(
    http: httpx.AsyncClient, workload: Workload, samples: Sequence[Sample], concurrency: int, progress: Progress
) -> list[Outcome]:
    """Send every sample with `concurrency` requests in flight; the outcomes are in the samples' order."""
    outcomes: dict[str, Outcome] = {}
    waiting = iter(samples)

    async def lane() -> None:
        for sample in waiting:
            outcomes[sample.id] = await attempt(http, workload, sample)
            progress.advance()

    async with asyncio.TaskGroup() as lanes:
        for _ in range(concurrency):
            lanes.create_task(lane())
    progress.close()
    return [outcomes[sample.id] for sample in samples]


async def measure(args: argparse.Namespace, workload: Workload, samples: Sequence[Sample]) -> Measurement:
    """Warm the server up, then measure; raises RequestFailed when a warmup request fails."""
    # A proxy from the environment would answer for a server on this machine.
    async with httpx.AsyncClient(base_url=args.base_url, timeout=args.timeout_s, trust_env=False) as http:
        for number in range(args.warmup):
            outcome = await attempt(http, workload, samples[number % len(samples)])
            if isinstance(outcome, Failure):
                raise RequestFailed(f"warmup request {number + 1} of {args.warmup} failed: {outcome.error}")
        started_s = time.monotonic()
        outcomes = await send_all(http, workload, samples, args.concurrency, Progress(len(samples)))
        window_s = time.monotonic() - started_s
    return Measurement(outcomes, window_s, args.concurrency, args.warmup)


def report(measurement: Measurement) -> None:
    """Print the summary and, as the last line, how many requests were answered."""
    summary = summarize(measurement)
    for name, value in summary.items():
        print(f"{name:<26}{'-' if value is None else f'{value:.4f}' if isinstance(value, float) else value:>12}")
    for outcome in measurement.outcomes:
        if isinstance(outcome, Failure):
            print(f"failed {outcome.sample.id}: {outcome.error}", file=sys.stderr)
    print(f"evaluated={summary['completed_requests']}/{summary['total_requests']}", flush=True)


def run(args: argparse.Namespace) -> int:
    """Measure one workload and write what it left; returns the exit status."""
    results: Path = args.output_dir / RESULTS
    try:
        refuse_existing(results)
        samples = read_samples(args.samples, args.max_samples)
        workload: Workload
        if args.kind == "speech":
            workload = speech = Speech(args.model, args.voice)
        else:
            workload, speech = Transcription(args.model, samples, args.audio_dir), None
        measurement = asyncio.run(measure(args, workload, samples))
        if speech is not None:
            speech.write_audio((done.sample for done in measurement.successes), args.output_dir / "audio")
        rows = [to_row(outcome) for outcome in measurement.outcomes]
        write_once(results, {"summary": summarize(measurement), "per_request": rows})
    except (AlreadyMeasured, UnreadableSamples) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (RequestFailed, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    report(measurement)
    return 0 if len(measurement.successes) == len(samples) else 1


def at_least(least: int, text: str) -> int:
    """Read a number of at least `least`."""
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"{number} is less than {least}")
    return number


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--base-url", required=True, help="http://127.0.0.1:PORT")
    shared.add_argument("--model", required=True, help="name under which the server has the model")
    shared.add_argument("--concurrency", type=lambda text: at_least(1, text), default=1, help="requests in flight")
    shared.add_argument("--warmup", type=lambda text: at_least(0, text), default=0, help="untimed requests before")
    shared.add_argument("--output-dir", type=Path, required=True, help=f"where {RESULTS} goes")
    shared.add_argument("--max-samples", type=lambda text: at_least(1, text), help="only the first N samples")
    shared.add_argument("--samples", type=Path, default=Path(__file__).parent / "samples.tsv", help="the test set")
    shared.add_argument("--timeout-s", type=float, default=60.0, help="longest silence of the server, in seconds")
    parser = argparse.ArgumentParser(description="Measure a speech server.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    speech = kinds.add_parser("speech", parents=[shared], help="text-to-speech")
    speech.add_argument("--voice", default="en-us")
    transcription = kinds.add_parser("transcription", parents=[shared], help="speech recognition")
    transcription.add_argument("--audio-dir", type=Path, required=True, help="where the <id>.wav are")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(run(parse_arguments()))
