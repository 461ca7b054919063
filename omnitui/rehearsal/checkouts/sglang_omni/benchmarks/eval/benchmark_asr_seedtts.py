"""Stand-in for the SeedTTS ASR client. Like the real one it exits with 0 whatever became of the requests."""

import argparse
import hashlib
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import standing_in as base
from benchmarks.dataset.seedtts import SEEDTTS_DATASET_ID, load_seedtts_samples

ROUTE = "/v1/audio/transcriptions"
HEAD = (
    "| conc | valid reps (lat/RTF/WER) | evaluated/requests | wall(s) mean | req/s mean | req/s best | RTFx mean "
    "| lat mean(s) | lat p50(s) | lat p95(s) | RTF mean | RTF p95 | corpus WER | max WER |"
)


def main() -> int:
    """One sweep over a split, which is written however much of it succeeded."""
    print("stand-in benchmark_asr_seedtts: no figure here is a measurement")
    args = _options()
    samples = load_seedtts_samples(SEEDTTS_DATASET_ID, split=args.lang, revision=args.dataset_revision)
    at = f"127.0.0.1:{args.port}"
    print(
        f"Loaded {len(samples)} SeedTTS {args.lang} samples; sweeping concurrency={args.concurrencies} "
        f"x {args.repeats} repeats against {at} ({args.model_path})"
    )
    entries = []
    for concurrency in args.concurrencies:
        if args.warmup:
            print(f"[conc={concurrency}] warmup pass ...")
            _requests(f"http://{at}", len(samples))
        entry = _measured(args, len(samples), f"http://{at}", concurrency)
        entries.append(entry)
        figures = {name: value["mean"] for name, value in entry.items() if isinstance(value, dict)}
        count = f"{entry['evaluated']}/{entry['total']}"
        print(
            f"[conc={concurrency} rep=1] wall={figures['wall_clock_s']:.3f}s "
            f"thrpt={figures['throughput_samples_per_s']:.3f}/s rtfx={figures['rtfx']:.3f} "
            f"lat_mean={figures['latency_mean_s']:.3f}s lat_p95={figures['latency_p95_s']:.3f}s "
            f"rtf_mean={figures['rtf_mean']:.4f} corpus_wer={figures['corpus_wer']:.4f} evaluated={count}"
        )
        print(f"\n{HEAD}\n{'|---:' * 14}|\n| {concurrency} | 1/1 / 1/1 / 1/1 | {count} | (stand-in) |\n")
    heard = hashlib.sha256(
        f"{SEEDTTS_DATASET_ID} {args.dataset_revision} {args.lang} {len(samples)}".encode()
    ).hexdigest()
    body = {
        "schema_version": 2,
        "provenance": {"artifacts": {"evaluation_input_sha256": heard}},
        "config": _config(args, len(samples)),
        "results": entries,
    }
    base.write_json(Path(args.output), body)
    print(f"Wrote results to {Path(args.output).absolute()}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--model-path", required=True)
    parser.add_argument("--lang", choices=["en", "zh"], required=True)
    parser.add_argument("--concurrencies", type=int, nargs="+", default=[32])
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--warmup", action="store_true")
    parser.add_argument("--dataset-revision", default=None)
    parser.add_argument("--output", required=True)
    return parser.parse_args()


def _requests(url: str, count: int) -> int:
    """Request some of the samples; how many of all were lost."""
    lost = 0
    for number in range(count):
        lost += base.failing(number)
        if number % base.EVERY == 0:
            try:
                base.post(url, ROUTE, {"sample": number})
            except base.ClientError as error:
                base.log(f"request {number} failed: {error}")
                return count
            time.sleep(0.002)
    return lost


def _measured(args: argparse.Namespace, total: int, url: str, concurrency: int) -> dict[str, Any]:
    begun = time.monotonic()
    lost = _requests(url, total // 2)
    base.break_halfway()
    lost = total if lost == total // 2 else min(total, lost + _later(url, total))
    evaluated = total - lost
    rng = base.seeded(args.output, args.model_path, args.lang)
    rate = rng.uniform(90, 170)
    latency = [rng.uniform(0.12, 0.4) for _ in range(evaluated)]
    rtf = [one / rng.uniform(3, 7) for one in latency]
    # With nothing evaluated they are 0.0, as the real ones are.
    figures = {
        "corpus_wer": base.figure(rng.uniform(0.012, 0.018)) if evaluated else 0.0,
        "per_sample_wer_max": 1.0 if evaluated else 0.0,
        "wall_clock_s": time.monotonic() - begun + evaluated / rate,
        "throughput_samples_per_s": rate if evaluated else 0.0,
        "rtfx": round(rate * 4.5, 3) if evaluated else 0.0,
        "latency_mean_s": statistics.mean(latency or [0.0]),
        "latency_median_s": statistics.median(latency or [0.0]),
        "latency_p95_s": base.percentile(latency or [0.0], 95),
        "latency_p99_s": base.percentile(latency or [0.0], 99),
        "rtf_mean": statistics.mean(rtf or [0.0]),
        "rtf_p95": round(base.percentile(rtf or [0.0], 95), 4),
    }
    counts = {"evaluated": evaluated, "total": total, "skipped": lost}
    spread = {name: {"mean": value, "min": value, "max": value, "n": 1} for name, value in figures.items()}
    repeat = {"concurrency": concurrency, "repeat": 1, **counts, **figures, "worker": {}}
    return {"concurrency": concurrency, "repeats": args.repeats, **counts, **spread, "per_repeat": [repeat]}


def _later(url: str, total: int) -> int:
    try:
        base.post(url, ROUTE, {"sample": total})
    except base.ClientError as error:
        base.log(f"requests failed: {error}")
        return total - total // 2
    return 0


def _config(args: argparse.Namespace, count: int) -> dict[str, Any]:
    return {
        "host": "127.0.0.1",
        "port": args.port,
        "meta": SEEDTTS_DATASET_ID,
        "lang": args.lang,
        "model_path": args.model_path,
        "declared_model_revision": None,
        "dataset_revision": args.dataset_revision,
        "num_samples": count,
        "concurrencies": args.concurrencies,
        "repeats": args.repeats,
        "warmup": args.warmup,
        "stream": False,
        "profile_events": False,
        "sample_util": False,
    }


if __name__ == "__main__":
    sys.exit(main())
