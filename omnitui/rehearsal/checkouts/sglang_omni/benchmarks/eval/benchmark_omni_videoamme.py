"""Stand-in for the Video-AMME client."""

import argparse
import time
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks import standing_in as base

CHAT = "/v1/chat/completions"
WARMUPS = 16


def add_video_eval_args(parser: argparse.ArgumentParser, *, repo_help: str = "") -> None:
    """The client's options."""
    for name in ("--model", "--repo-id", "--output-dir"):
        parser.add_argument(name, default="", help=repo_help)
    for name, default in (
        ("--port", 8000),
        ("--max-samples", 50),
        ("--max-tokens", 256),
        ("--max-concurrency", 16),
    ):
        parser.add_argument(name, type=int, default=default)
    for name in ("--video-max-frames", "--video-min-pixels", "--video-max-pixels", "--video-total-pixels"):
        parser.add_argument(name, type=int, default=None)
    for name in ("--video-fps", "--temperature", "--timeout-s"):
        parser.add_argument(name, type=float, default=None)
    parser.add_argument("--enable-audio", action="store_true")
    parser.add_argument("--seed", type=int, default=None)


def video_eval_config_from_args(args: argparse.Namespace) -> argparse.Namespace:
    """The options themselves."""
    return args


async def run_videoamme_eval(config: argparse.Namespace, *, compute_wer: bool = True) -> dict[str, Any]:
    """Ask, answer at random, and write `videoamme_results.json`. Exit status 0 also with failed requests."""
    print("stand-in benchmark_omni_videoamme: no figure here is a measurement")
    url, out = f"http://127.0.0.1:{config.port}", Path(config.output_dir)
    base.log(f"Prepared {config.max_samples} Video-AMME samples")
    base.warm_up(url, CHAT, WARMUPS)
    rng, begun, rows = base.seeded(out.absolute(), "videoamme"), time.monotonic(), []
    for number in range(config.max_samples):
        if number == config.max_samples // 2:
            base.break_halfway()
        base.post(url, CHAT, {"sample": number})
        rows.append(_row(number, out, rng))
        base.bar("Video-AMME", number + 1, config.max_samples)
    correct = sum(row["is_correct"] for row in rows)
    summary = {
        "total_samples": len(rows),
        "correct": correct,
        "accuracy": round(correct / len(rows), 4),
        "failed": sum(not row["is_success"] for row in rows),
        "mc_fallback": 0,
        **{f"per_{key}": _per(rows, key) for key in ("duration", "domain", "task_type")},
    }
    known = {key: value for key, value in vars(config).items() if key not in ("output_dir", "port", "timeout_s")}
    settings = {"base_url": f"http://localhost:{config.port}", "split": "test", "warmup": WARMUPS, "lang": "en"}
    results = {
        "summary": summary,
        "speed": base.speed(rows, 2.0 * (time.monotonic() - begun) + 2.0),
        "config": {**known, **settings},
        "per_sample": rows,
    }
    base.write_json(out / "videoamme_results.json", results)
    return results


def _row(number: int, out: Path, rng: Any) -> dict[str, Any]:
    good = not base.failing(number)
    name = f"{number // 3 + 1:03d}-{number % 3 + 1}"
    expected, predicted = rng.choice("ABCD"), rng.choice("ABCD")
    latency, audio, tokens = round(rng.uniform(0.4, 0.8), 4), round(rng.uniform(3.0, 6.0), 4), rng.randint(40, 70)
    return {
        "sample_id": name,
        "video_path": f"/stand-in/{name}.mp4",
        "url": "",
        "video_id": name.partition("-")[0],
        "question_id": name,
        "duration": ("short", "medium", "long")[number % 3],
        "domain": ("Knowledge", "Sports Competition")[number % 2],
        "sub_category": "stand-in",
        "task_type": ("Counting Problem", "Spatial Reasoning")[number % 2],
        "expected": expected,
        "latency_s": latency,
        "prompt_tokens": rng.randint(5000, 15000) if good else 0,
        "completion_tokens": tokens if good else 0,
        "output_token_rate": round(tokens / latency, 1),
        "audio_duration_s": audio if good else 0.0,
        "rtf": round(latency / audio, 4),
        "wav_path": base.write_speech(out / "audio", name) if good else "",
        "predicted": predicted if good else "",
        "raw_response": f"{base.sentence(number)} Answer: {predicted}" if good else "",
        "is_correct": good and expected == predicted,
        "is_success": good,
        "is_mc_fallback": False,
        "error": "" if good else "500, message='Internal Server Error' (stand-in)",
    }


def _per(rows: list[dict[str, Any]], key: str) -> dict[str, dict[str, float]]:
    total = Counter(row[key] for row in rows)
    correct = Counter(row[key] for row in rows if row["is_correct"])
    return {
        name: {"total": count, "correct": correct[name], "accuracy": round(correct[name] / count, 4)}
        for name, count in total.items()
    }
