"""Stand-in for huggingface_hub, in stand-in environments only: what pages call of it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from omnitui.rehearsal.stand_ins import hub

__version__ = "0.0+stand-in"


class _Constants:
    """`constants.HF_HUB_CACHE`."""

    @property
    def HF_HUB_CACHE(self) -> str:  # the name that pages use
        """The cache folder."""
        return str(hub.cache())


constants = _Constants()


def snapshot_download(
    repo_id: str,
    *,
    repo_type: str | None = None,
    revision: str | None = None,
    cache_dir: str | Path | None = None,
    local_files_only: bool = False,
    **_: Any,
) -> str:
    """The folder of a snapshot."""
    root = Path(cache_dir) if cache_dir else None
    return str(hub.snapshot(repo_id, repo_type or "model", revision, root, offline=local_files_only))


def hf_hub_download(repo_id: str, filename: str, **options: Any) -> str:
    """One file of a snapshot."""
    return str(Path(snapshot_download(repo_id, **options)) / filename)


class HfApi:
    """What is asked of the hub itself."""

    def __init__(self, **_: Any) -> None:
        pass

    def dataset_info(self, repo_id: str, **_: Any) -> Any:
        """The head of a data set."""
        return SimpleNamespace(id=repo_id, sha=hub.head(repo_id))

    model_info = dataset_info
    repo_info = dataset_info
