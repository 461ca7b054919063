"""How these checks speak: one line `NAME: ok`, or `NAME: reason`, which the step's gate shows as it stands."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def say(name: str, problems: Sequence[str]) -> int:
    """Print the verdict of one check; the exit status: 0 when there is no problem."""
    print(f"{name}: {'; '.join(problems) or 'ok'}", flush=True)
    return 1 if problems else 0


def last_object(text: str) -> dict[str, Any] | None:
    """The last JSON object that begins a line; None without one. Programs print it after their log lines."""
    at = len(text)
    while at > 0:
        begin = text.rfind("\n{", 0, at) + 1
        if not text.startswith("{", begin):
            return None
        try:
            found, _ = json.JSONDecoder().raw_decode(text, begin)
        except ValueError:
            at = begin - 1
            continue
        return found if isinstance(found, dict) else None
    return None
