"""The process of one download: `python -m omnitui.downloads.child FOLDER`, with its request on stdin.

huggingface_hub does the work. Files that are whole are kept, so that the next download goes on with the others;
what it had of a file that was cut off it takes away itself.
"""

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import msgspec
from huggingface_hub import HfApi, RepoFile, constants, snapshot_download
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError
from huggingface_hub.file_download import repo_folder_name
from huggingface_hub.utils.tqdm import tqdm

from omnitui.assets import Wanted, sized
from omnitui.downloads.events import Event, Fetched, NotFetched, Request
from omnitui.downloads.meter import STOPPED, Meter, Stopped
from omnitui.errors import OmniError, StoreError

_SHA = 40
_TOKEN = "HF_TOKEN"
_BYTES = "huggingface_hub.snapshot_download"
"""The library's name for the bar that counts the bytes written; the one of the files has the unit `it`."""


def fetch(request: Request, meter: Meter) -> Event:
    """Bring all files of the asset, then set its references; how it ended."""
    asset, hub = request.asset, Path(request.hub)
    begun = time.monotonic()
    try:
        commit, sizes = _listed(asset)
        snapshot = hub / repo_folder_name(repo_id=asset.repo, repo_type=asset.kind) / "snapshots" / commit
        there = sum(size for name, size in sizes.items() if (snapshot / name).exists())
        meter.expect(sizes, there)
        hub.mkdir(parents=True, exist_ok=True)
        wanted, free = sum(sizes.values()) - there, shutil.disk_usage(hub).free
        if wanted > free:
            return NotFetched(
                f"{sized(wanted)} are to come, and {sized(free)} are free for {hub}: free space first"
            )
        snapshot_download(
            asset.repo,
            repo_type=asset.kind,
            revision=commit,
            cache_dir=hub,
            token=_token(),
            tqdm_class=_bar_of(meter),
        )
        for name in _references(asset, commit):
            _set_reference(snapshot.parents[1] / "refs" / name, commit)
    except Stopped:
        return STOPPED
    except (OSError, ValueError, OmniError, httpx2.HTTPError) as error:
        return NotFetched(_without_token(_reason(error, asset, hub)))
    return Fetched(commit, len(sizes), sum(sizes.values()), time.monotonic() - begun)


def _token() -> str | bool:
    # False, not None: no token from a file that the operator may have forgotten.
    return os.environ.get(_TOKEN) or False


def _listed(asset: Wanted) -> tuple[str, dict[str, int]]:
    """The commit, and each of its files with its size in bytes."""
    api = HfApi(token=_token())
    commit = asset.revision
    if len(commit) != _SHA:
        commit = api.repo_info(asset.repo, repo_type=asset.kind, revision=commit or None).sha or ""
    tree = api.list_repo_tree(asset.repo, recursive=True, revision=commit, repo_type=asset.kind)
    return commit, {entry.path: entry.size for entry in tree if isinstance(entry, RepoFile)}


def _bar_of(meter: Meter) -> type[tqdm]:
    """A progress bar that draws nothing and tells the meter."""

    class Bar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.counts_bytes = kwargs.get("name") == _BYTES
            self.counts_files = kwargs.get("unit", "it") == "it"
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> bool | None:
            step = int(n or 0)
            meter.count(step if self.counts_files else 0, step if self.counts_bytes else 0)
            return None

    return Bar


def _references(asset: Wanted, commit: str) -> list[str]:
    """The references that the page needs, or that name what was fetched; a download by commit sets none."""
    named = [asset.revision] if asset.revision not in ("", commit) else []
    return [*named, *(["main"] if asset.ref_main or not asset.revision else [])]


def _set_reference(file: Path, commit: str) -> None:
    # No newline at its end: the library would take it for a part of the name.
    with suppress(FileNotFoundError):
        if file.read_text() == commit:
            return
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    fresh.write_text(commit)
    fresh.replace(file)


def _reason(error: BaseException, asset: Wanted, hub: Path) -> str:
    """Why it could not be fetched, and what to do."""
    cause = error
    while cause.__cause__ is not None and not isinstance(cause, HfHubHTTPError | httpx2.HTTPError):
        cause = cause.__cause__
    who = (
        f"the token in {_TOKEN} cannot read"
        if os.environ.get(_TOKEN)
        else f"{_TOKEN} is not set, and without a token nobody reads"
    )
    match cause:
        case GatedRepoError():
            return f"{who} {asset.repo}: it is gated; ask for access at {constants.ENDPOINT}/{asset.repo}"
        case RevisionNotFoundError():
            return f"{asset.repo} has no revision {asset.revision}"
        case RepositoryNotFoundError():
            return f"{who} {asset.repo}, or there is no such {asset.kind}"
        case HfHubHTTPError(response=response) if response.status_code in (401, 403):
            return f"{who} {asset.repo} (status {response.status_code})"
        case HfHubHTTPError(response=response):
            return f"the hub answered {response.status_code} for {asset.repo}; try again later"
        case httpx2.HTTPError():
            said = f"{type(cause).__name__} {cause}".strip()
            return f"{constants.ENDPOINT} cannot be reached ({said}); the next download goes on where this one was"
        case OSError(strerror=str(said), filename=name):
            return f"{name or hub}: {said}"
    return " ".join(str(error).split()) or type(error).__name__


def _without_token(text: str) -> str:
    token = os.environ.get(_TOKEN)
    return text.replace(token, "*" * 8) if token else text


def main() -> None:
    """Answer the request on stdin; TERM stops it as the operator would."""
    folder = Path(sys.argv[1])
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    signal.signal(signal.SIGTERM, lambda *_: (folder / "stop").touch())
    meter = Meter(folder)
    meter.start()
    with suppress(StoreError):
        meter.end(fetch(request, meter))


if __name__ == "__main__":
    main()
