"""Stand-in for datasets, in stand-in environments only: data sets of the right length, with nothing in them."""

import hashlib
import os
from typing import Any

from omnitui.rehearsal.stand_ins import hub, stage

from datasets.exceptions import DatasetNotFoundError

__version__ = "0.0+stand-in"

ROWS = {
    "zhaochenyang20/movies800time": 800,
    "zhaochenyang20/AISHELL4": 20,
    "zhaochenyang20/googletime": 25,
}
"""The private data sets, and how many samples each has."""


class Dataset:
    """As many rows as the real one has."""

    def __init__(self, repo: str, commit: str) -> None:
        self.repo = repo
        self._fingerprint = hashlib.sha256(f"{repo}@{commit}".encode()).hexdigest()[:16]

    def __len__(self) -> int:
        return ROWS.get(self.repo, 1)

    def __getitem__(self, number: int) -> dict[str, Any]:
        if not 0 <= number < len(self):
            raise IndexError(number)
        return {
            "id": f"{self.repo.rpartition('/')[2]}_{number:04d}.wav",
            "transcription": "[0.10][S01]stand in[1.20]",
        }


def load_dataset(path: str, name: str | None = None, *, split: str, revision: str | None = None) -> Dataset:
    """Load a data set, offline from the cache. Raises `DatasetNotFoundError` where the token may not read it."""
    if path in ROWS and stage.fault() == "no-access" and os.environ.get("HF_HUB_OFFLINE", "0") in ("", "0"):
        raise DatasetNotFoundError(f"Dataset '{path}' doesn't exist on the Hub or cannot be accessed.")
    return Dataset(path, hub.snapshot(path, "dataset", revision).name)
