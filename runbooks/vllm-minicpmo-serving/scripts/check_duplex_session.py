"""Whether a duplex session went through: its own result is ok, something was said, and it can be heard."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from serving_said import last_object, say
from serving_wav import speech_problems


def session_problems(result: Mapping[str, Any] | None, wavs: Sequence[Path]) -> list[str]:
    """Why a session does not count, from the result it left and its WAVs."""
    if result is None:
        return ["no result of the session can be read"]
    errors = [
        str(one.get("message", one)) if isinstance(one, dict) else str(one) for one in result.get("errors") or ()
    ]
    if result.get("ok") is not True or errors:
        return [f"the session is not ok: {'; '.join(errors)[:300] or 'it does not say why'}"]
    problems = speech_problems(wavs)
    if not str(result.get("transcript") or "").strip() and not wavs:
        problems.append("the model only listened; give an input that asks something and ends with a pause")
    return problems


def driver_problems(result: Mapping[str, Any] | None) -> list[str]:
    """Why a validation driver's printed result is no pass."""
    if result is None or "ok" not in result:
        return ["the driver printed no result with an ok"]
    return [] if result["ok"] is True else [f"the driver says: {json.dumps(result, ensure_ascii=False)[:300]}"]


def read_result(path: Path) -> Mapping[str, Any] | None:
    """A JSON object in a file, or the last one in what a program printed; None when there is none."""
    try:
        return last_object(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None


def main(path: Path) -> int:
    """Judge the folder of a session, or the log of a driver."""
    if path.is_dir():
        wavs = sorted(path.rglob("*.wav"))
        print(f"{len(wavs)} WAVs")
        return say("SESSION", session_problems(read_result(path / "result.json"), wavs))
    return say("SESSION", driver_problems(read_result(path)))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
