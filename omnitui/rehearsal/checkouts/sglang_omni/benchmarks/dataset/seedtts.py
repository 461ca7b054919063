"""Stand-in for loading the SeedTTS data set: as many samples as the real one has, if it is cached."""

from omnitui.rehearsal.stand_ins import hub

from benchmarks import standing_in as base

SEEDTTS_DATASET_ID = "zhaochenyang20/seed-tts-eval-arrow"
SEEDTTS_DATASET_REVISION = "27f4c1adee83b5b29b7c4b375f6b976324bda308"
COUNTS = {"en": 1088, "zh": 2020}


def load_seedtts_samples(
    repo: str, max_samples: int | None = None, *, split: str = "en", revision: str | None = None
) -> list[dict[str, str]]:
    """The samples of a split."""
    pinned = revision or (SEEDTTS_DATASET_REVISION if repo == SEEDTTS_DATASET_ID else None)
    hub.snapshot(repo, "dataset", pinned)
    count = min(COUNTS[split], max_samples or COUNTS[split])
    return [{"id": base.seedtts_id(n, split), "text": base.sentence(n)} for n in range(count)]
