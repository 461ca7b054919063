"""Stand-in for loading what MOSS-Transcribe-Diarize is measured on."""

from datasets import load_dataset


def load_movies800_samples(
    repo_id: str, *, split: str, audio_column: str, expected_column: str, expected_sample_count: int | None
) -> list[dict[str, str]]:
    """The samples of a split, if they are cached. Raises `ValueError` when there are not as many as expected."""
    rows = load_dataset(repo_id, split=split)
    if expected_sample_count is not None and len(rows) != expected_sample_count:
        raise ValueError(f"stand-in: {repo_id} has {len(rows)} samples, not {expected_sample_count}")
    return [{"id": row["id"], "text": row[expected_column]} for row in (rows[n] for n in range(len(rows)))]
