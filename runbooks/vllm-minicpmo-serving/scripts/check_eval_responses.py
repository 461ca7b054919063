"""Whether generated Omni-DuplexEval responses may be judged: there are some, and their clock is the media's."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from serving_said import say

_META = ".meta.json"


def responses_of(root: Path) -> list[Path]:
    """The response files: JSON below the root, aside from what tells about them and from hidden folders."""
    return [
        path
        for path in sorted(root.rglob("*.json"))
        if not path.name.endswith((_META, "_metrics.json", "_summary.json"))
        and not any(part.startswith(".") for part in path.relative_to(root).parts)
    ]


def read_json(path: Path) -> Any:
    """The content of a JSON file; None when there is none that can be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def clock_of(response: Path) -> str:
    """The clock recorded with a response: beside it, or in it; empty when nothing tells."""
    for found in (read_json(response.with_name(response.stem + _META)), read_json(response)):
        if isinstance(found, dict) and isinstance(found.get("clock"), str):
            return str(found["clock"])
    return ""


def clock_problems(clocks: Sequence[str], *, allow_invalid: bool) -> list[str]:
    """Why artifacts with these clocks must not be scored."""
    counts = Counter(clocks)
    problems = []
    if unknown := counts.pop("", 0):
        problems.append(f"{unknown} of {len(clocks)} responses record no clock")
    if (invalid := counts.pop("invalid", 0)) and not allow_invalid:
        problems.append(f"{invalid} of {len(clocks)} responses record clock=invalid, not clock=media")
    counts.pop("media", 0)
    problems += [f"{number} responses record clock={clock}" for clock, number in counts.items()]
    return problems


def response_problems(responses: Sequence[Path], limit: int) -> list[str]:
    """Why what was generated is not whole."""
    if not responses:
        return ["no response was generated"]
    broken = [path.name for path in responses if read_json(path) is None]
    problems = [f"cut off or no JSON: {', '.join(broken[:5])}"] if broken else []
    if len(responses) < limit:
        problems.append(f"{len(responses)} responses for LIMIT={limit}")
    return problems


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the responses below a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--limit", default="")
    parser.add_argument("--allow-invalid-clock", choices=("yes", "no"), default="no")
    options = parser.parse_args(arguments)
    responses = responses_of(options.root)
    clocks = [clock_of(path) for path in responses]
    for clock, number in Counter(clocks).items():
        print(f"clock={clock or '(not recorded)'}: {number}")
    allowed = options.allow_invalid_clock == "yes"
    status = say("RESPONSES", response_problems(responses, int(options.limit or 0)))
    return status | say("CLOCK", clock_problems(clocks, allow_invalid=allowed))


if __name__ == "__main__":
    sys.exit(main())
