"""How many rows each split of a cached data set has, and its fingerprint, through `datasets`, offline.

`python -m omnitui.probes.rows` reads a `Request` from its stdin and prints the reading: `datasets` costs a second
and 116 MiB to import.
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import msgspec

from omnitui.probes.one_look import NotSeen, one_look

_PATIENCE_S = 600.0


class Request(msgspec.Struct, frozen=True):
    """A data set that is cached at a commit, and the cache."""

    hub: str
    repo: str
    revision: str


class Split(msgspec.Struct, frozen=True):
    """One split. The fingerprint is empty where only the rows of its files could be counted."""

    name: str
    rows: int
    fingerprint: str = ""


class RowsReading(msgspec.Struct, frozen=True):
    """The splits, in their order, or why they could not be read."""

    splits: tuple[Split, ...] = ()
    error: str = ""


def reading(request: Request) -> RowsReading:
    """One look, taken by a child process; may take minutes."""
    home = Path(request.hub).parent
    # The page's clients keep what `datasets` made of a snapshot beside the hub's cache.
    prepared = os.environ.get("HF_DATASETS_CACHE", str(home / "datasets"))
    env = {"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": request.hub, "HF_DATASETS_CACHE": prepared}
    try:
        return one_look("omnitui.probes.rows", request, RowsReading, request.repo, _PATIENCE_S, env)
    except NotSeen as error:
        return RowsReading(error=str(error))


def count(request: Request) -> RowsReading:
    """The splits as the page's clients load them, by name; else the rows of the snapshot's own files."""
    import datasets  # noqa: PLC0415 - slow to import

    datasets.disable_progress_bars()
    try:
        loaded = datasets.load_dataset(request.repo, revision=request.revision or None)
        return RowsReading(tuple(Split(str(n), s.num_rows, s._fingerprint) for n, s in loaded.items()))
    except Exception as error:  # noqa: BLE001 - it raises whatever its loaders and file systems do
        by_name = _line(error)
    try:
        return RowsReading(_of_files(request))
    except Exception as error:  # noqa: BLE001
        return RowsReading(error=f"by name: {by_name}; from its files: {_line(error)}")


def _of_files(request: Request) -> tuple[Split, ...]:
    import datasets  # noqa: PLC0415
    from pyarrow import parquet  # noqa: PLC0415

    folder = Path(request.hub, f"datasets--{request.repo.replace('/', '--')}", "snapshots", request.revision)
    with tempfile.TemporaryDirectory(prefix="omnitui-rows-") as scratch:
        files = datasets.load_dataset_builder(str(folder), cache_dir=scratch).config.data_files
    return tuple(
        Split(str(name), sum(parquet.read_metadata(str(file)).num_rows for file in paths))
        for name, paths in files.items()
    )


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def main() -> None:
    """Answer the request on stdin; what the libraries print goes to stderr."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    with contextlib.redirect_stdout(sys.stderr):
        found = count(request)
    sys.stdout.write(msgspec.json.encode(found).decode())


if __name__ == "__main__":
    main()
