"""Stand-ins for the full-duplex programs of the MiniCPM-o page: no WebSocket, but what the real ones leave."""

import argparse
import hashlib
import json
import urllib.parse
import urllib.request
import wave
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omnitui.rehearsal.stand_ins import serve

_ANSWER = "This is a stand-in answer."


def served(url: str) -> list[str]:
    """The models of the server behind a Realtime URL. Raises OSError when nobody answers."""
    with urllib.request.urlopen(f"http://{urllib.parse.urlsplit(url).netloc}/v1/models", timeout=10) as answer:
        return [one["id"] for one in json.loads(answer.read())["data"]]


def seconds_of(path: Path) -> float:
    """How long a WAV plays. Raises ValueError for anything but 16 kHz mono 16-bit PCM."""
    with wave.open(str(path), "rb") as file:
        if (file.getframerate(), file.getnchannels(), file.getsampwidth()) != (16_000, 1, 2):
            raise ValueError("input must be 16 kHz mono PCM16 WAV")
        return file.getnframes() / 16_000


def duplex_demo(argv: Sequence[str]) -> int:
    """`realtime_duplex_demo.py --input-wav WAV` or `--input-video CLIP`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="ws://localhost:8099/v1/realtime?duplex=1")
    parser.add_argument("--model", default="openbmb/MiniCPM-o-4_5")
    parser.add_argument("--input-wav", type=Path)
    parser.add_argument("--input-video", type=Path)
    parser.add_argument("--video-fps", type=float, default=1.0)
    parser.add_argument("--frame-max-side", type=int, default=0)
    parser.add_argument("--stack-frames", type=int, default=1)
    parser.add_argument("--ref-audio", type=Path, required=True)
    parser.add_argument("--output-dir", type=Path, required=True)
    options = parser.parse_args(argv)
    if not (options.input_wav or options.input_video):
        parser.error("one of --input-wav and --input-video is needed")
    options.ref_audio.read_bytes()
    if options.input_wav:
        seconds_of(options.input_wav)
    if options.input_video:
        options.input_video.read_bytes()
    errors = [] if options.model in served(options.url) else [{"message": f"{options.model} is not served"}]
    result = _leave(options.output_dir, errors)
    print(json.dumps(result, indent=2))
    return 0 if result["ok"] else 1


def _leave(folder: Path, errors: list[dict[str, str]]) -> dict[str, Any]:
    chunks = folder / "audio_chunks"
    chunks.mkdir(parents=True, exist_ok=True)
    sound = serve.tone(0.2)
    for path in (chunks / "chunk_0001.wav", folder / "output.wav"):
        path.write_bytes(sound)
    (folder / "events.jsonl").write_text('{"type": "session.created"}\n{"type": "session.closed"}\n')
    result = {
        "ok": not errors,
        "model_decision": "speak",
        "audio_bytes": len(sound) - 44,
        "audio_chunk_count": 1,
        "output_sample_rate_hz": 24_000,
        "transcript": _ANSWER,
        "errors": errors,
        "output_dir": str(folder),
    }
    (folder / "result.json").write_text(json.dumps(result, indent=2))
    return result


def soft_interrupt(argv: Sequence[str]) -> int:
    """The soft-interrupt driver in its two validation modes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--input-wav", type=Path, required=True)
    parser.add_argument("--ref-audio", type=Path, required=True)
    modes = ("model-policy", "response-required")
    parser.add_argument("--validation-mode", choices=modes, default="model-policy")
    parser.add_argument("--input-sha256", default="")
    parser.add_argument("--expect-second-response-substring", default="")
    options = parser.parse_args(argv)
    required = options.validation_mode == "response-required"
    if required and not (options.input_sha256 and options.expect_second_response_substring):
        parser.error("response-required needs --input-sha256 and --expect-second-response-substring")
    sound = options.input_wav.read_bytes()
    if required and hashlib.sha256(sound).hexdigest() != options.input_sha256:
        raise ValueError("input WAV SHA256 mismatch")
    served(options.url)
    heard = [_ANSWER, _ANSWER] if required else [_ANSWER]
    ok = not required or options.expect_second_response_substring in heard[1]
    print(json.dumps({"ok": ok, "validation_mode": options.validation_mode, "responses": heard}, indent=2))
    return 0 if ok else 1
