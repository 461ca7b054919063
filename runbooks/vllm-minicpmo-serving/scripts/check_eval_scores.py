"""Whether Omni-DuplexEval scores are complete: one for each response, read from the judge, all in the summary.

The summary takes an answer of the judge that could not be read for a 0: no score is no zero.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from check_eval_responses import read_json, responses_of
from serving_said import last_object, say


def unread_of(score: Any) -> int:
    """How many answers of the judge this score lacks."""
    if not isinstance(score, dict):
        return 1
    missing = 0
    if isinstance(temporal := score.get("temporal"), dict):
        rows = [row for row in temporal.get("sentences", ()) if not row.get("error")]
        missing += sum("temporal_score" not in row or "is_relevant" not in row for row in rows)
        content = score.get("content")
        missing += not (isinstance(content, dict) and "content_score" in content)
    if isinstance(reminder := score.get("pr"), dict):
        missing += sum("success_score" not in row for row in reminder.get("events", ()))
    return missing


def numbers_in(value: Any) -> Iterator[float]:
    """Every number of a JSON value."""
    if isinstance(value, dict):
        for one in value.values():
            yield from numbers_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from numbers_in(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def score_problems(responses: int, scores: Sequence[Any]) -> list[str]:
    """Why the scores are not whole."""
    problems = []
    if not scores or len(scores) != responses:
        problems.append(f"{len(scores)} scores for {responses} responses")
    if unread := sum(map(unread_of, scores)):
        problems.append(f"{unread} answers of the judge could not be read, and the summary counts them as 0")
    return problems


def summary_problems(scores: int, summary: Mapping[str, Any] | None) -> list[str]:
    """Why a summary is not of these scores."""
    if not summary:
        return ["no summary was printed"]
    problems = []
    if summary.get("samples", scores) != scores:
        problems.append(f"the summary is over {summary['samples']} samples, there are {scores} scores")
    if not all(map(math.isfinite, numbers_in(summary))):
        problems.append("the summary has a number that is not finite")
    return problems


def main(response_root: Path, score_root: Path, printed: Path | None = None) -> int:
    """Judge the scores below a folder and, once it was printed, the summary over them."""
    scores = [read_json(path) for path in responses_of(score_root)]
    problems = score_problems(len(responses_of(response_root)), scores)
    if printed:
        summary = last_object(printed.read_text(encoding="utf-8", errors="replace"))
        problems += summary_problems(len(scores), summary)
    return say("SCORES", problems)


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:4])))
