"""Stand-in for the MOSS-Transcribe-Diarize client. Like the real one it writes its files, then exits with 1 when a
request failed."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omnitui.rehearsal.stand_ins import stage

from benchmarks import standing_in as base
from benchmarks.tasks.transcribe_diarize import load_movies800_samples

DEFAULT_MAX_NEW_TOKENS: int | None = 65536
REPOS = {
    "movies800times": "zhaochenyang20/movies800time",
    "aishell4_long": "zhaochenyang20/AISHELL4",
    "googletime": "zhaochenyang20/googletime",
}
MODEL = "OpenMOSS-Team/MOSS-Transcribe-Diarize"
ROUTE = "/v1/audio/transcriptions"
ERROR = 'HTTP 500: {"error": {"message": "stand-in: told to fail", "code": 500}}'


def main(argv: Sequence[str] | None = None) -> int:
    """Measure one data set."""
    print("stand-in benchmark_asr_transcribe_diarize: no figure here is a measurement")
    args = _options(argv)
    out = Path(args.output_dir)
    samples = load_movies800_samples(
        REPOS[args.dataset],
        split="validation",
        audio_column="audio",
        expected_column="transcription",
        expected_sample_count=None,
    )
    begun = time.monotonic()
    rows = _rows(samples, f"http://127.0.0.1:{args.port}", base.seeded(out.absolute()))
    wall_s = time.monotonic() - begun + len(rows) / 60
    config = _config(args, wall_s)
    speed = _speed(rows, wall_s, stream=args.stream)
    raw = out / "transcribe_diarize_asr_results.json"
    base.write_json(raw, {"schema_version": 1, "config": config, "samples": samples, "outputs": rows})
    print(f"Raw ASR results saved before metric computation: {raw.absolute()}")
    base.write_json(
        out / "transcribe_diarize_speed_results.json", {"schema_version": 1, "config": config, "speed": speed}
    )
    done = [row for row in rows if row["is_success"]]
    metrics = _metrics(len(done), base.seeded(out.absolute(), "metrics"))
    summary = {"total_samples": len(rows), "evaluated": len(done), "skipped": len(rows) - len(done)}
    result = {
        "config": {
            key: config[key]
            for key in ("dataset", "repo_id", "split", "model_path", "concurrency", "wall_clock_s")
        },
        "summary": summary,
        "speed": speed,
        "diarization_metrics": metrics,
        "diarization_metrics_percent": {key: _percent(key, value) for key, value in metrics.items()},
        "per_sample": [_sample(row) for row in rows],
    }
    base.write_json(out / "transcribe_diarize_results.json", result)
    for title, part in (("summary", summary), ("speed", speed), ("diarization_metrics_percent", metrics)):
        print(f"\n{title}\n" + "-" * 60)
        for name, value in part.items():
            print(f"  {name + ':':<30} {_percent(name, value) if title.startswith('diarization') else value}")
    if len(done) < len(rows):
        print(f"Evaluation failed: {len(rows) - len(done)} request(s) failed.", file=sys.stderr)
        return 1
    return 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--use-existing-server", action="store_true")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--dataset", choices=sorted(REPOS), required=True)
    parser.add_argument("--stream", action="store_true")
    parser.add_argument("--max-concurrency", type=int, default=16)
    parser.add_argument("--request-timeout-s", type=int, default=1800)
    # Read when it is called, as the page relies on.
    parser.add_argument("--max-new-tokens", type=int, default=DEFAULT_MAX_NEW_TOKENS)
    parser.add_argument("--output-dir", required=True)
    args = parser.parse_args(argv)
    if stage.fault() == "tokens-sent":
        args.max_new_tokens = 65536
    return args


def _rows(samples: list[dict[str, str]], url: str, rng: Any) -> list[dict[str, Any]]:
    rows, gone = [], False
    for number, sample in enumerate(samples):
        if number == len(samples) // 2:
            base.break_halfway()
        if not gone and number % base.EVERY == 0:
            try:
                base.post(url, ROUTE, {"sample": number})
            except base.ClientError as error:
                base.log(str(error))
                gone = True
            base.bar("diarize", number, len(samples))
            time.sleep(0.01)
        good = not gone and not base.failing(number)
        latency, audio = rng.uniform(0.1, 0.4), rng.uniform(2.0, 9.0)
        rows.append(
            {
                "request_id": sample["id"],
                "text": sample["text"] if good else "",
                "is_success": good,
                "latency_s": latency,
                "audio_duration_s": audio,
                "rtf": latency / audio,
                "prompt_tokens": 0,
                "completion_tokens": 0,
                "error": "" if good else ERROR,
            }
        )
    base.bar("diarize", len(samples), len(samples))
    return rows


def _speed(rows: list[dict[str, Any]], wall_s: float, *, stream: bool) -> dict[str, Any]:
    whole = base.speed(rows, wall_s)
    found = {name: value for name, value in whole.items() if "tok" not in name}
    return (
        {**found, "text_ttft_mean_s": 0.0363, "inter_chunk_mean_s": 0.0007}
        if stream and "rtf_mean" in found
        else found
    )


def _config(args: argparse.Namespace, wall_s: float) -> dict[str, Any]:
    return {
        "dataset": args.dataset,
        "repo_id": REPOS[args.dataset],
        "split": "validation",
        "audio_column": "audio",
        "expected_column": "transcription",
        "model_path": MODEL,
        "base_url": f"http://127.0.0.1:{args.port}",
        "concurrency": args.max_concurrency,
        "warmup": 0,
        "request_rate": "inf",
        "request_timeout_s": args.request_timeout_s,
        "max_new_tokens": args.max_new_tokens,
        "max_samples": None,
        "exclude_sample_ids": "",
        "wall_clock_s": wall_s,
        "timing_scope": "asr_requests_only",
    }


def _metrics(count: int, rng: Any) -> dict[str, Any]:
    """With nothing evaluated they are null, as the real ones are."""
    cer = base.figure(rng.uniform(0.03, 0.06)) if count else None
    cp_cer = rng.uniform(0.1, 0.15) if count else None
    return {
        "cer": cer,
        "cer_no_spk": cer,
        "cp_cer": cp_cer,
        "cer_valid_samples": count - count // 50,
        "cp_cer_valid_samples": count - count // 50,
        "speaker_timestamp_der": rng.uniform(0.08, 0.14) if count else None,
        "speaker_timestamp_der_valid_samples": count,
        "speaker_timestamp_der_skipped": 0,
        "speaker_timestamp_der_skipped_parse_error": 0,
        "count": count,
    }


def _percent(name: str, value: Any) -> Any:
    return round(value * 100, 2) if isinstance(value, float) and "samples" not in name else value


def _sample(row: dict[str, Any]) -> dict[str, Any]:
    good = row["is_success"]
    return {
        "id": row["request_id"],
        "expected_text": "[0.10][S01]stand in[1.20]",
        "result_text": row["text"],
        "is_exact_match": good,
        "latency_s": row["latency_s"],
        "audio_duration_s": row["audio_duration_s"],
        "error": None if good else row["error"],
        "cer_no_spk": 0.0 if good else None,
        "cp_cer": 0.0 if good else None,
        "cer_valid": True if good else None,
        "cp_cer_valid": True if good else None,
    }


if __name__ == "__main__":
    sys.exit(main())
