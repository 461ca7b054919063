"""Loads every data set of the run's MODELS offline and prints how many samples each has, in the page's order.

Exits with 1 when one has not as many as the page says, and names it.
"""

import os
import sys

SEEDTTS = {"en": 1088, "zh": 2020}
PRIVATE = {"movies800time": 800, "AISHELL4": 20, "googletime": 25}

models = {one.strip() for one in os.environ["MODELS"].split(",")}
counts: dict[str, int] = {}
if models & {"qwen3", "whisper", "fun"}:
    from benchmarks.dataset.seedtts import SEEDTTS_DATASET_ID, load_seedtts_samples

    for language in SEEDTTS:
        samples = load_seedtts_samples(SEEDTTS_DATASET_ID, split=language, revision=os.environ["SEEDTTS_REV"])
        counts[language] = len(samples)
if "moss_td" in models:
    from benchmarks.tasks.transcribe_diarize import load_movies800_samples

    for repo in PRIVATE:
        samples = load_movies800_samples(
            f"zhaochenyang20/{repo}",
            split="validation",
            audio_column="audio",
            expected_column="transcription",
            expected_sample_count=None,
        )
        counts[repo] = len(samples)
expected = {**SEEDTTS, **PRIVATE}
short = {name: count for name, count in counts.items() if count != expected[name]}
for name, count in short.items():
    print(f"{name} has {count} samples instead of {expected[name]}")
print(*counts.values())
sys.exit(1 if short or not counts else 0)
