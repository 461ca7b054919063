"""Loads every data set of the run's MODELS offline and prints how many samples each has, in the page's order."""

import os

models = {one.strip() for one in os.environ["MODELS"].split(",")}
counts = []
if models & {"qwen3", "whisper", "fun"}:
    from benchmarks.dataset.seedtts import SEEDTTS_DATASET_ID, load_seedtts_samples

    for language in ("en", "zh"):
        samples = load_seedtts_samples(SEEDTTS_DATASET_ID, split=language, revision=os.environ["SEEDTTS_REV"])
        counts.append(len(samples))
if "moss_td" in models:
    from benchmarks.tasks.transcribe_diarize import load_movies800_samples

    for repo in ("movies800time", "AISHELL4", "googletime"):
        samples = load_movies800_samples(
            f"zhaochenyang20/{repo}",
            split="validation",
            audio_column="audio",
            expected_column="transcription",
            expected_sample_count=None,
        )
        counts.append(len(samples))
print(*counts)
