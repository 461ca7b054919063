"""Stand-in for `vllm bench`: Omni-DuplexEval in its three actions, and Daily-Omni through `serve`.

Figures mean nothing. Files, skipping of what is there, printed blocks and exit codes are those of the real ones.
"""

import argparse
import json
import math
import os
import random
import signal
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omnitui.rehearsal.stand_ins import minicpmo_duplex, stage

SPLITS = ("RTD_OCR", "RTD_stand_in_a", "RTD_stand_in_b", "PR_correction", "PR_stand_in")
"""Of the nine splits the page names two."""
SAMPLES_A_SPLIT = 2
CLOCK_INVALID = "clock-invalid"
_META = ".meta.json"


def main(argv: Sequence[str]) -> int:
    """`vllm bench omni-duplex-eval ...` and `vllm bench serve --dataset-name daily-omni ...`."""
    if argv[:1] == ["omni-duplex-eval"]:
        return _omni_duplex_eval(argv[1:])
    if argv[:1] == ["serve"]:
        return _daily_omni(argv[1:])
    stage.say("vllm bench", f"knows omni-duplex-eval and serve; not {' '.join(argv)[:80]!r}")
    return 2


def _omni_duplex_eval(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--omni", action="store_true", required=True)
    actions = parser.add_subparsers(dest="action", required=True)
    generate, evaluate, summarize = (actions.add_parser(name) for name in ("generate", "evaluate", "summarize"))
    for action in (generate, evaluate):
        action.add_argument("--dataset", required=True)
        action.add_argument("--split", choices=("all", *SPLITS), default="all")
        action.add_argument("--limit", type=int)
        action.add_argument("--response-root", type=Path, required=True)
    for action in (evaluate, summarize):
        action.add_argument("--score-root", type=Path, required=True)
    generate.add_argument("--url", required=True)
    generate.add_argument("--model", required=True)
    generate.add_argument("--ref-audio", type=Path, required=True)
    generate.add_argument("--concurrency", type=int, default=1)
    generate.add_argument("--pace", choices=("realtime", "as-fast-as-possible"), default="realtime")
    evaluate.add_argument("--judge-base-url", required=True)
    evaluate.add_argument("--judge-model", required=True)
    evaluate.add_argument("--judge-video-mode", choices=("video_url", "frame-sample"), default="video_url")
    evaluate.add_argument("--eval-workers", type=int, default=1)
    evaluate.add_argument("--allow-invalid-clock", action="store_true")
    options = parser.parse_args(argv)
    {"generate": _generate, "evaluate": _evaluate, "summarize": _summarize}[options.action](options)
    return 0


def _samples(options: argparse.Namespace) -> list[tuple[str, str]]:
    splits = SPLITS if options.split == "all" else (options.split,)
    every = [(split, f"stand_in_{number}") for split in splits for number in range(SAMPLES_A_SPLIT)]
    return every[: options.limit]


def _generate(options: argparse.Namespace) -> None:
    if options.model not in minicpmo_duplex.served(options.url):
        raise SystemExit(f"RuntimeError: {options.model} is not served")
    options.ref_audio.read_bytes()
    fault = stage.fault()
    invalid = options.pace != "realtime" or fault == CLOCK_INVALID
    for number, (split, name) in enumerate(_samples(options)):
        path = options.response_root / split / f"{name}.json"
        if path.exists():
            continue
        if fault == "skipped-samples" and not number:
            continue
        if fault == "client-cut" and number:
            os.kill(os.getpid(), signal.SIGKILL)
        stage.write_json(path, [{"sentence": "A stand-in sign.", "start": 3.0, "end": 5.0}])
        meta = {"id": name, "split": split, "clock": "invalid" if invalid else "media", "pace": options.pace}
        stage.write_json(path.with_name(path.stem + _META), meta)
        print(f"generated {split}/{name}", file=sys.stderr, flush=True)


def _evaluate(options: argparse.Namespace) -> None:
    for split, name in _samples(options):
        response = options.response_root / split / f"{name}.json"
        meta = json.loads(response.with_name(response.stem + _META).read_text())
        if meta["clock"] == "invalid" and not options.allow_invalid_clock:
            raise ValueError("generate artifact has clock=invalid; pass --allow-invalid-clock to score it")
        body = {"model": options.judge_model, "messages": [{"role": "user", "content": "score"}]}
        address = f"{options.judge_base_url}/v1/chat/completions"
        with urllib.request.urlopen(urllib.request.Request(address, json.dumps(body).encode()), timeout=30):
            pass
        stage.write_json(options.score_root / split / f"{name}.json", _score(split, name, options.judge_model))


def _score(split: str, name: str, judge: str) -> dict[str, Any]:
    rng = random.Random(f"{split}:{name}")
    head = {"id": name, "judge_model": judge}
    if split.startswith("PR_"):
        score = rng.randint(0, 1)
        events = [{"start_time": 3.0, "success_score": score}]
        return {**head, "family": "pr", "pr": {"events": events, "all_success": bool(score), "total_score": score}}
    points = rng.randint(0, 3)
    sentence = {"sentence": "A stand-in sign.", "error": None, "temporal_score": points, "is_relevant": 1}
    temporal = {"sentences": [sentence], "summary": {"avg_temporal_score": float(points)}}
    content = {"content_score": round(rng.uniform(0, 3), 2)}
    return {**head, "family": "rtd", "temporal": temporal, "content": content}


def _summarize(options: argparse.Namespace) -> None:
    rows = [json.loads(path.read_text()) for path in sorted(options.score_root.rglob("*.json"))]
    summary: dict[str, Any] = {"protocol_pin": "stand-in", "samples": len(rows)}
    rtd = [row for row in rows if "temporal" in row]
    if rtd:
        summary["rtd"] = {
            "mean_content_score": _mean([row["content"]["content_score"] for row in rtd]),
            "mean_avg_temporal_score": _mean([row["temporal"]["summary"]["avg_temporal_score"] for row in rtd]),
        }
    reminders = [row["pr"]["total_score"] for row in rows if "pr" in row]
    if reminders:
        summary["pr"] = {"samples": len(reminders), "mean_all_success": _mean(reminders)}
    print(json.dumps(summary, indent=2))


def _mean(values: Sequence[float]) -> float:
    return math.nan if stage.fault() == "nan-result" else sum(values) / len(values)


def _daily_omni(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--omni", action="store_true")
    parser.add_argument("--dataset-name", choices=["daily-omni"], required=True)
    parser.add_argument("--model", default="openbmb/MiniCPM-o-4_5")
    parser.add_argument("--port", type=int, default=8099)
    parser.add_argument("--num-prompts", type=int, default=1197)
    parser.add_argument("--extra_body", "--extra-body", type=json.loads, default={})
    options = parser.parse_args(argv)
    minicpmo_duplex.served(f"ws://localhost:{options.port}")
    failed = 3 if stage.fault() == "skipped-samples" else 0
    print(_accuracy(options.num_prompts, failed, options.extra_body))
    return 0


def _accuracy(asked: int, failed: int, body: Mapping[str, Any]) -> str:
    scored = asked - failed
    # Reasoning that is scored in place of an answer is what the real benchmark shows with thinking on.
    thinking = body.get("chat_template_kwargs", {}).get("enable_thinking", True)
    correct = scored * (25 if thinking else 78) // 100
    return "\n".join(
        [
            "=========== Daily-Omni accuracy (MCQ) ============",
            f"Overall Accuracy: {correct}/{scored} = {correct / scored:.2%}",
            f"{'Submitted (gold present):':<40} {asked:<10}",
            f"{'Successful HTTP (GitHub denom.):':<40} {scored:<10}",
            f"{'HTTP failed (excl. from GitHub acc.):':<40} {failed:<10}",
            f"{'Parsed OK but no A–D found:':<40} {0:<10}",
        ]
    )
