"""Whether the values of a run make sense together, before anything is started for them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from serving_said import say

TEXT_WITHOUT_THINKING: Mapping[str, Any] = {
    "modalities": ["text"],
    "chat_template_kwargs": {"enable_thinking": False},
}
"""What Daily-Omni is asked with: thinking would eat the answer's 256 tokens, audio would change the template."""


def overrides_problems(text: str) -> Iterator[str]:
    """What is wrong with `--stage-overrides`: an object of settings for each of the stages 0, 1 and 2."""
    if not text:
        return
    try:
        stages = json.loads(text)
    except ValueError as error:
        yield f"STAGE_OVERRIDES is no JSON: {error}"
        return
    if not isinstance(stages, dict) or not stages:
        yield 'STAGE_OVERRIDES must be an object of stages, such as {"0": {"gpu_memory_utilization": 0.55}}'
        return
    for stage, settings in stages.items():
        if stage not in ("0", "1", "2"):
            yield f"STAGE_OVERRIDES names stage {stage!r}; there are 0, 1 and 2"
        elif not isinstance(settings, dict):
            yield f"STAGE_OVERRIDES: stage {stage} must be an object of settings"
        elif not _is_share(settings.get("gpu_memory_utilization", 1)):
            yield f"STAGE_OVERRIDES: stage {stage} has a gpu_memory_utilization that is not between 0 and 1"


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value <= 1


def words_of(command: str) -> list[str]:
    """The words of a command as the shell sees them. Raises ValueError for quotes that do not close."""
    return shlex.split(command)


def option_of(words: list[str], *names: str) -> str | None:
    """The value of an option, given as `--name value` or `--name=value`."""
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word in names:
            return following
        name, equals, value = word.partition("=")
        if equals and name in names:
            return value
    return None


def daily_omni_problems(command: str) -> Iterator[str]:
    """Why a Daily-Omni command does not measure the page's text accuracy."""
    if not command:
        yield "DAILY_OMNI_CMD is empty; the page gives no whole command for its runner, so give yours"
        return
    try:
        body = option_of(words_of(command), "--extra_body", "--extra-body")
    except ValueError as error:
        yield f"DAILY_OMNI_CMD is no command: {error}"
        return
    flag = f"--extra_body '{json.dumps(TEXT_WITHOUT_THINKING, separators=(',', ':'))}'"
    if body is None:
        yield f"DAILY_OMNI_CMD must contain {flag}"
        return
    try:
        sent = json.loads(body)
    except ValueError as error:
        yield f"DAILY_OMNI_CMD: its extra body is no JSON ({error}); it must be {flag}"
        return
    template = sent.get("chat_template_kwargs") if isinstance(sent, dict) else None
    thinking = template.get("enable_thinking") if isinstance(template, dict) else None
    if thinking is not False or sent.get("modalities") != ["text"]:
        yield f"DAILY_OMNI_CMD sends {body}; it must be {flag}"


def soft_interrupt_problems(values: Mapping[str, str]) -> Iterator[str]:
    """Why the soft-interrupt driver cannot be run as asked."""
    command = values.get("SOFT_INTERRUPT_CMD", "")
    if not command:
        yield "SOFT_INTERRUPT_CMD is empty; the page gives no command for the driver, so give yours"
        return
    try:
        words = words_of(command)
    except ValueError as error:
        yield f"SOFT_INTERRUPT_CMD is no command: {error}"
        return
    if any(word.startswith("--validation-mode") for word in words):
        yield "SOFT_INTERRUPT_CMD must not choose a --validation-mode; SOFT_INTERRUPT_MODES does"
    if "response-required" not in _items(values.get("SOFT_INTERRUPT_MODES", "")):
        return
    sha = values.get("SOFT_INPUT_SHA256", "")
    if not re.fullmatch(r"[0-9a-f]{64}", sha):
        yield "response-required needs SOFT_INPUT_SHA256: the 64 hexadecimal digits of its two-response WAV"
    elif wav := option_of(words, "--input-wav"):
        yield from _sha_problems(Path(wav), sha)
    if not values.get("SOFT_SECOND_SUBSTRING"):
        yield "response-required needs SOFT_SECOND_SUBSTRING: what the second answer must contain"


def _sha_problems(wav: Path, sha: str) -> Iterator[str]:
    try:
        found = hashlib.sha256(wav.read_bytes()).hexdigest()
    except OSError as error:
        yield f"{wav} cannot be read: {error.strerror}"
        return
    if found != sha:
        yield f"{wav} has the SHA-256 {found}, not SOFT_INPUT_SHA256"


def clock_problems(values: Mapping[str, str]) -> Iterator[str]:
    """Why evaluation would reject what is generated at this pace."""
    if values.get("PACE") == "as-fast-as-possible" and values.get("ALLOW_INVALID_CLOCK") != "yes":
        yield (
            "PACE=as-fast-as-possible records clock=invalid, which evaluation rejects; "
            "take PACE=realtime, or say ALLOW_INVALID_CLOCK=yes"
        )


def setting_problems(values: Mapping[str, str]) -> list[str]:
    """All that is wrong with the values of a run, as far as its parts use them."""
    parts = _items(values.get("PARTS", ""))
    found = list(overrides_problems(values.get("STAGE_OVERRIDES", "")))
    if "daily-omni" in parts:
        found += daily_omni_problems(values.get("DAILY_OMNI_CMD", ""))
    if "soft-interrupt" in parts:
        found += soft_interrupt_problems(values)
    if "omni-duplex-eval" in parts:
        found += clock_problems(values)
    return found


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


if __name__ == "__main__":
    sys.exit(say("SETTINGS", setting_problems(os.environ)))
