"""Whether a client's request was answered: text that is not empty and no error, WAVs that can be heard.

The clients exit 0 for an empty answer, and the curl script for an error of the server too.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from serving_said import say
from serving_wav import speech_problems

# What the clients print before an answer, and the lines of their own that may follow it.
_BEFORE = re.compile(r"^(?:Output of request|Chat completion output from text|content):[ \t]*", re.MULTILINE)
_OWN = re.compile(r"^(?:Choices with audio: \d+|Audio (?:output )?saved to .*)$", re.MULTILINE)
_AUDIO = re.compile(r"^Choices with audio: (\d+)$", re.MULTILINE)


class Answer(NamedTuple):
    """What a client printed. `text` is None when it told of no answer; `with_audio` when it did not count."""

    text: str | None
    with_audio: int | None


def parse_answer(printed: str) -> Answer:
    """The answer in the output of the curl script or of a client."""
    audio = _AUDIO.search(printed)
    begin = _BEFORE.search(printed)
    text = _OWN.sub("", printed[begin.end() :]).strip() if begin else None
    return Answer(text, int(audio[1]) if audio else None)


def error_in(text: str) -> str:
    """The message, when an answer is the server's error in JSON; else empty."""
    try:
        found = json.loads(text)
    except ValueError:
        return ""
    if not isinstance(found, dict):
        return ""
    error = found.get("error", found)
    message = error.get("message") if isinstance(error, dict) else error
    return str(message)[:300] if isinstance(message, str) else ""


def answer_problems(answer: Answer, wavs: Sequence[Path], need: str) -> list[str]:
    """Why the answer does not count, given what the request asked for."""
    if error := error_in(answer.text or ""):
        return [f"the server answered with an error: {error}"]
    spoken = bool(wavs or answer.with_audio)
    problems = speech_problems(wavs)
    if need == "either" and not answer.text and not wavs:
        problems.append("neither text nor a WAV came back")
    if need in ("text", "text-only", "both") and not answer.text:
        problems.append("the text of the answer is empty" if answer.text == "" else "no answer was printed")
    if need == "both" and not wavs:
        problems.append("no WAV was saved")
    if need == "text-only" and spoken:
        problems.append("audio came back though only text was asked for")
    return problems


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge one request by its log and the folder that its WAVs are in."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--need", choices=("text", "text-only", "either", "both"), required=True)
    options = parser.parse_args(arguments)
    answer = parse_answer(options.log.read_text(encoding="utf-8", errors="replace"))
    wavs = sorted(options.log.parent.rglob("*.wav"))
    print(f"{len(answer.text or '')} characters of text, {len(wavs)} WAVs")
    return say("ANSWER", answer_problems(answer, wavs, options.need))


if __name__ == "__main__":
    sys.exit(main())
