"""Score transcripts: word error rate (WER) of every sample and of the corpus, with jiwer.

WER is (substitutions + deletions + insertions) / words of the reference; it can exceed 1. The corpus WER sums
the errors and the words over all scored samples. What it measures here is a chain: what pocketsphinx, with a
grammar of the 36 words of radio spelling, hears in what espeak-ng says. It says nothing of recognition with an
open vocabulary.

Exit status: 0 at least one sample was scored, 1 none was, 2 wrong usage or existing results.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jiwer
from speech_results import AlreadyMeasured, refuse_existing, write_once

NOT_IN_WORDS = re.compile(r"[^\w\s'-]|(?<!\w)['-]|['-](?!\w)")


@dataclass(frozen=True)
class Scored:
    """A transcript with its errors, counted in words of the normalised texts."""

    id: str
    reference: str
    hypothesis: str
    substitutions: int
    deletions: int
    insertions: int
    hits: int

    @property
    def errors(self) -> int:
        """Number of wrong words."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def words(self) -> int:
        """Number of words in the reference, never 0."""
        return self.substitutions + self.deletions + self.hits

    @property
    def wer(self) -> float:
        """Word error rate of this sample."""
        return self.errors / self.words


@dataclass(frozen=True)
class Skipped:
    """A transcript that cannot be scored, and why."""

    id: str
    reference: str
    hypothesis: str | None
    reason: str


class NoTranscripts(ValueError):
    """The transcripts cannot be read; the message says why."""


def normalize(text: str) -> str:
    """Make texts comparable: NFKC, lower case, no punctuation, single spaces.

    Apostrophes and hyphens inside a word stay, because they tell words apart (x-ray, it's).
    """
    plain = unicodedata.normalize("NFKC", text).lower()
    return " ".join(NOT_IN_WORDS.sub(" ", plain).split())


def score(row: Mapping[str, Any]) -> Scored | Skipped:
    """Score one row of the transcripts; raises NoTranscripts when it is not such a row.

    A failed request is skipped, because it says nothing about what was heard. An empty reference is skipped too,
    because its WER is a division by zero. An empty hypothesis is scored: every word was missed.
    """
    sample_id, reference, hypothesis = row.get("id"), row.get("reference"), row.get("hypothesis")
    if not isinstance(sample_id, str) or not isinstance(reference, str):
        raise NoTranscripts(f"a row has no id or no reference: {dict(row)}")
    if row.get("is_success") is not True or not isinstance(hypothesis, str):
        error = row.get("error")
        return Skipped(sample_id, reference, None, f"the request failed: {error or 'no transcript'}")
    expected, heard = normalize(reference), normalize(hypothesis)
    if not expected:
        return Skipped(sample_id, reference, hypothesis, "the reference has no words")
    found = jiwer.process_words(expected, heard)
    return Scored(
        sample_id, reference, hypothesis, found.substitutions, found.deletions, found.insertions, found.hits
    )


def corpus_wer(samples: Sequence[Scored]) -> float | None:
    """Return errors over words of all samples, None for no samples."""
    words = sum(sample.words for sample in samples)
    return sum(sample.errors for sample in samples) / words if words else None


def summarize(judged: Sequence[Scored | Skipped]) -> dict[str, float | int | None]:
    """Summarize; WER is None, never 0, when nothing was scored."""
    scored = [sample for sample in judged if isinstance(sample, Scored)]
    usable = [sample for sample in scored if sample.wer <= 0.5]
    return {
        "wer_corpus": corpus_wer(scored),
        "wer_below_50_corpus": corpus_wer(usable),
        "n_above_50_pct_wer": len(scored) - len(usable),
        "evaluated": len(scored),
        "total": len(judged),
        "skipped": len(judged) - len(scored),
    }


def to_row(judged: Scored | Skipped) -> dict[str, Any]:
    """Turn a judged sample into its row of the result file; a skipped one has the same keys with nulls."""
    scored = judged if isinstance(judged, Scored) else None
    return {
        "id": judged.id,
        "reference": judged.reference,
        "hypothesis": judged.hypothesis,
        "ref_norm": normalize(judged.reference),
        "hyp_norm": None if judged.hypothesis is None else normalize(judged.hypothesis),
        "wer": scored.wer if scored else None,
        "substitutions": scored.substitutions if scored else None,
        "deletions": scored.deletions if scored else None,
        "insertions": scored.insertions if scored else None,
        "hits": scored.hits if scored else None,
        "is_success": scored is not None,
        "error": judged.reason if isinstance(judged, Skipped) else None,
    }


def read_rows(path: Path) -> Iterable[Mapping[str, Any]]:
    """Read the rows of a transcription client's results; raises NoTranscripts."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise NoTranscripts(f"cannot read {path}: {error}") from error
    rows = content.get("per_request") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise NoTranscripts(f"{path} has no list per_request")
    return rows


def run(transcripts: Path, output: Path) -> int:
    """Score a file of transcripts into another; returns the exit status."""
    try:
        refuse_existing(output)
        judged = [score(row) for row in read_rows(transcripts)]
        summary = summarize(judged)
        write_once(output, {"summary": summary, "per_sample": [to_row(sample) for sample in judged]})
    except AlreadyMeasured as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (NoTranscripts, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for sample in judged:
        if isinstance(sample, Skipped):
            print(f"skipped {sample.id}: {sample.reason}", file=sys.stderr)
    for name, value in summary.items():
        print(f"{name:<26}{'-' if value is None else f'{value:.4f}' if isinstance(value, float) else value:>12}")
    print(f"evaluated={summary['evaluated']}/{summary['total']}", flush=True)
    return 0 if summary["evaluated"] else 1


def main() -> int:
    """Read the arguments and score; returns the exit status."""
    parser = argparse.ArgumentParser(description="Score transcripts.")
    parser.add_argument("--transcripts", type=Path, required=True, help="speed_results.json of the transcription")
    parser.add_argument("--output", type=Path, required=True, help="wer_results.json to write")
    args = parser.parse_args()
    return run(args.transcripts, args.output)


if __name__ == "__main__":
    sys.exit(main())
