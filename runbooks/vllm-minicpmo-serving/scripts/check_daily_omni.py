"""Whether a Daily-Omni run measured an accuracy: answers were scored, and no request failed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from serving_said import say

_ACCURACY = re.compile(r"^Overall Accuracy: (\d+)/(\d+) = ", re.MULTILINE)
_FAILED = re.compile(r"^HTTP failed[^:\n]*:\s*(\d+)\s*$", re.MULTILINE)
_UNREAD = re.compile(r"^Parsed OK but no A.D found:\s*(\d+)\s*$", re.MULTILINE)


def accuracy_problems(printed: str) -> list[str]:
    """Why the accuracy that was printed is none. Failed requests are left out of it: over fewer, it is another."""
    accuracy = _ACCURACY.search(printed)
    if not accuracy:
        return ["no line `Overall Accuracy: correct/asked = ...` was printed"]
    problems = []
    if not int(accuracy[2]):
        problems.append("no answer was scored")
    if (failed := _FAILED.search(printed)) and int(failed[1]):
        problems.append(f"{failed[1]} requests failed and are left out of the accuracy")
    return problems


def main(log: Path) -> int:
    """Judge the log of a run."""
    printed = log.read_text(encoding="utf-8", errors="replace")
    if unread := _UNREAD.search(printed):
        print(f"{unread[1]} answers had no letter A to D; they count as wrong")
    return say("DAILY_OMNI", accuracy_problems(printed))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
