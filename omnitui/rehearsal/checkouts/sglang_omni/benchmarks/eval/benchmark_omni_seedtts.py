"""Stand-in for the seed-tts client: generate, transcribe, similarity, UTMOS."""

import argparse
import csv
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import standing_in as base
from benchmarks.dataset.seedtts import load_seedtts_samples

CHAT = "/v1/chat/completions"
WARMUPS = 16


def main() -> int:
    """One of the four steps, as the page asks for it."""
    print("stand-in benchmark_omni_seedtts: no figure here is a measurement")
    parser = argparse.ArgumentParser()
    for flag in ("--generate-only", "--transcribe-only", "--similarity-only", "--utmos-only", "--voice-clone"):
        parser.add_argument(flag, action="store_true")
    for name, default in (("--meta", ""), ("--model", ""), ("--output-dir", ""), ("--lang", "en")):
        parser.add_argument(name, default=default)
    parser.add_argument("--reference-audio-field", default=None)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--max-concurrency", type=int, default=16)
    parser.add_argument("--asr-concurrency", type=int, default=32)
    parser.add_argument("--max-samples", type=int, default=None)
    parser.add_argument("--max-new-tokens", type=int, default=256)
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    steps = {
        "generate_only": _generate,
        "transcribe_only": _transcribe,
        "similarity_only": _similarity,
        "utmos_only": _utmos,
    }
    for name, step in steps.items():
        if getattr(args, name):
            step(args, Path(args.output_dir))
            return 0
    raise SystemExit("the stand-in does one step at a time: --generate-only, --transcribe-only, ...")


def _generate(args: argparse.Namespace, out: Path) -> None:
    url = f"http://127.0.0.1:{args.port}"
    base.wait_for_service(url)
    samples = load_seedtts_samples(args.meta, args.max_samples, split=args.lang)
    base.log(f"Prepared {len(samples)} requests")
    base.warm_up(url, CHAT, WARMUPS)
    rng, begun, rows = base.seeded(out.absolute(), "generate"), time.monotonic(), []
    for number, sample in enumerate(samples):
        if number == len(samples) // 2:
            base.break_halfway()
        if number % base.EVERY == 0:
            base.post(url, CHAT, {"text": sample["text"]})
            base.bar("seed-tts", number, len(samples))
            time.sleep(0.01)
        rows.append(_row(sample, number, out, rng))
    base.bar("seed-tts", len(samples), len(samples))
    config = {
        "model": args.model, "base_url": f"http://localhost:{args.port}", "meta": args.meta,
        "voice_clone": args.voice_clone, "reference_audio_field": args.reference_audio_field, "stream": False,
        "lang": args.lang, "speaker": "Ethan", "max_samples": args.max_samples,
        "max_new_tokens": args.max_new_tokens, "temperature": 0.7, "seed": args.seed, "talker_temperature": None,
        "talker_top_p": None, "talker_top_k": None, "talker_repetition_penalty": None, "warmup": WARMUPS,
        "warmup_meta": None, "max_concurrency": args.max_concurrency, "request_rate": float("inf"),
    }  # fmt: skip
    summary = base.speed(rows, 5.0 * (time.monotonic() - begun) + 5.0)
    base.write_json(out / "speed_results.json", {"summary": summary, "config": config, "per_request": rows})
    keys = ("is_success", "latency_s", "audio_duration_s")
    generated = [
        {
            "sample_id": row["id"],
            "target_text": row["text"],
            "wav_path": row["wav_path"],
            **{k: row[k] for k in keys},
        }
        for row in rows
    ]
    base.write_json(out / "generated.json", generated)
    _write_csv(out / "results.csv", rows)
    print("=" * 60 + f"\n{'Speed Benchmark Result (stand-in)':^60}\n" + "=" * 60)
    for name, value in summary.items():
        print(f"  {name:<30} {value}")


def _row(sample: dict[str, str], number: int, out: Path, rng: Any) -> dict[str, Any]:
    good = not base.failing(number)
    latency, audio = round(rng.uniform(0.12, 0.3), 4), round(rng.uniform(1.5, 3.0), 3)
    nothing = dict.fromkeys(
        ("audio_ttfp_s", "text_ttft_s", "inter_chunk_s", "chunk_audio_duration_s", "max_playback_underrun_s",
         "audio_chunk_count", "first_audio_payload_bytes")
    )  # fmt: skip
    tokens = rng.randint(20, 45)
    return {
        "id": sample["id"],
        "text": sample["text"],
        "is_success": good,
        "latency_s": latency,
        "audio_duration_s": audio if good else 0.0,
        "rtf": round(latency / audio, 4) if good else None,
        "prompt_tokens": rng.randint(270, 420) if good else 0,
        "completion_tokens": tokens if good else 0,
        "output_token_rate": round(tokens / latency, 1) if good else None,
        "wav_path": base.write_speech(out / "audio", sample["id"]) if good else "",
        "error": None if good else "Server disconnected",
        **nothing,
    }


def _write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(
            file, ["id", "text", "latency_s", "audio_duration_s", "is_success"], extrasaction="ignore"
        )
        writer.writeheader()
        writer.writerows(rows)


def _generated(out: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((out / "generated.json").read_text())
    base.log(f"Loaded {len(entries)} entries from {out / 'generated.json'}")
    return entries


def _transcribe(args: argparse.Namespace, out: Path) -> None:
    entries = _generated(out)
    url, route = f"http://127.0.0.1:{args.port}", "/v1/audio/transcriptions"
    base.warm_up(url, route, 8)
    rng, rows = base.seeded(out.absolute(), "wer"), []
    for number, entry in enumerate(entries):
        if number % base.EVERY == 0:
            base.post(url, route, {"id": entry["sample_id"]})
        found = base.wer_of(rng)
        good = bool(entry["is_success"])
        rows.append(
            {
                "id": entry["sample_id"],
                "target_text": entry["target_text"],
                "whisper_text": entry["target_text"] if good else "",
                "ref_norm": entry["target_text"].lower().rstrip("."),
                "hyp_norm": entry["target_text"].lower().rstrip(".") if good else "",
                **(found if good else dict.fromkeys(found)),
                "audio_duration_s": entry["audio_duration_s"],
                "latency_s": entry["latency_s"],
                "is_success": good,
                "error": None if good else "Generation failed: Server disconnected",
            }
        )
    config = {
        "model": args.model, "tts_model": args.model, "asr_model": "Qwen/Qwen3-ASR-1.7B", "speaker": "Ethan",
        "voice_clone": False, "meta": args.meta, "max_samples": args.max_samples,
        "asr_concurrency": args.asr_concurrency,
    }  # fmt: skip
    summary = base.wer_summary(rows, args.lang)
    base.write_json(out / "wer_results.json", {"summary": summary, "config": config, "per_sample": rows})
    print(f"WER: corpus={summary['wer_corpus']:.4f} ({summary['evaluated']}/{summary['total_samples']} evaluated)")


def _scored(
    out: Path, name: str, low: float, high: float
) -> tuple[list[dict[str, Any]], list[float], dict[str, int]]:
    rng, rows = base.seeded(out.absolute(), name), []
    for entry in _generated(out):
        good = bool(entry["is_success"])
        row = {
            "id": entry["sample_id"],
            "wav_path": entry["wav_path"],
            name: rng.uniform(low, high) if good else None,
        }
        rows.append({**row, "is_success": good, "error": None if good else "Server disconnected"})
    scores = [float(row[name]) for row in rows if row["is_success"]]
    if not scores:
        raise RuntimeError(f"{name}: no scoreable samples ({len(rows)}/{len(rows)} skipped)")
    return rows, scores, {"total_samples": len(rows), "evaluated": len(scores), "skipped": len(rows) - len(scores)}


def _similarity(args: argparse.Namespace, out: Path) -> None:
    rows, scores, counts = _scored(out, "speaker_similarity", 35.0, 65.0)
    summary = {"speaker_similarity_mean": statistics.mean(scores), **counts}
    config = {"model": args.model, "meta": args.meta, "device": "cuda:0", "max_samples": args.max_samples}
    base.write_json(out / "similarity_results.json", {"summary": summary, "config": config, "per_sample": rows})
    print(
        f"SeedTTS speaker similarity: {summary['speaker_similarity_mean']:.4f} ({counts['evaluated']} evaluated)"
    )


def _utmos(args: argparse.Namespace, out: Path) -> None:
    rows, scores, counts = _scored(out, "utmos_score", 2.5, 4.5)
    summary = {
        "utmos_mean": base.figure(round(statistics.mean(scores), 4)),
        "utmos_median": round(statistics.median(scores), 4),
        "utmos_p5": round(base.percentile(scores, 5), 4),
        "utmos_p95": round(base.percentile(scores, 95), 4),
        **counts,
    }
    config = {"model": args.model, "device": "cuda:0"}
    base.write_json(out / "utmos_results.json", {"summary": summary, "config": config, "per_sample": rows})
    print(f"UTMOS: mean={summary['utmos_mean']} ({counts['evaluated']}/{counts['total_samples']} evaluated)")


if __name__ == "__main__":
    sys.exit(main())
