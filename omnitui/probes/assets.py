"""Which models and data sets a hub's cache holds, by huggingface_hub's own rules, offline.

`python -m omnitui.probes.assets` reads a `Request` from its stdin and prints the reading. A child process, because
huggingface_hub costs 0.2 s and 30 MiB that neither runner nor screen should pay, and a dead network disk hangs.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from omnitui.assets import (
    Absent,
    AssetsReading,
    Cached,
    Found,
    OtherMain,
    OtherRevision,
    Partial,
    State,
    Unread,
    Wanted,
)
from omnitui.errors import UsageError
from omnitui.places import place_at
from omnitui.probes.one_look import NotSeen, one_look
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import expand

_PATIENCE_S = 60.0
_SHA = 40
_LARGEST_INDEX = 64 << 20
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".onnx", ".msgpack", ".h5", ".nemo", ".ckpt")
_ABOUT = frozenset({"README.md", ".gitattributes", ".gitignore"})
"""What every repository has beside what it is for."""


class Request(msgspec.Struct, frozen=True):
    """Where to look, and for what."""

    hub: str
    assets: tuple[Wanted, ...]


def hub_of(runbook: Runbook, values: Mapping[str, str]) -> Path:
    """The folder of the page's cache on this host. Raises `OmniError` where its place cannot be reached."""
    if not runbook.cache.hub:
        raise UsageError("the runbook names no cache: [cache] hub")
    place = place_at(runbook, runbook.cache.place, values)
    return place.to_host(expand(runbook.cache.hub, values)).expanduser()


def reading(hub: Path, assets: tuple[Wanted, ...]) -> AssetsReading:
    """One look, taken by a child process. Blocks for as long as it takes, at most a minute."""
    if not assets:
        return AssetsReading()
    request = Request(str(hub), assets)
    try:
        return one_look(
            "omnitui.probes.assets", request, AssetsReading, str(hub), _PATIENCE_S, {"HF_HUB_OFFLINE": "1"}
        )
    except NotSeen as error:
        return AssetsReading(error=str(error))


def look(hub: Path, assets: tuple[Wanted, ...]) -> tuple[Found, ...]:
    """What the cache holds of each. Slow the first time: it imports huggingface_hub."""
    return tuple(Found(asset, _state(hub, asset)) for asset in assets)


def _state(hub: Path, asset: Wanted) -> State:
    from huggingface_hub.file_download import repo_folder_name  # noqa: PLC0415 - slow to import

    try:
        return _found(hub / repo_folder_name(repo_id=asset.repo, repo_type=asset.kind), asset)
    except OSError as error:
        return Unread(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except ValueError as error:
        # The library refuses names that cannot be on the hub.
        return Unread(" ".join(str(error).split()))


def _found(repo: Path, asset: Wanted) -> State:
    # The hub's library reads a reference as it stands: a newline at its end makes another name of it.
    main = _text(repo / "refs" / "main")
    snapshots = _names(repo / "snapshots")
    if not snapshots:
        return Absent()
    revision = _commit(repo, asset.revision) if asset.revision else main
    if not asset.revision and main not in snapshots and (not main or main.strip() in snapshots):
        return OtherMain(main.strip(), main)
    if revision not in snapshots:
        return OtherRevision(revision or asset.revision, tuple(sorted(snapshots)))
    files, dangling = _files(repo / "snapshots" / revision)
    proof, missing = _missing(repo, asset, revision, files, dangling)
    if missing:
        return Partial(revision, tuple(missing))
    if refused := _refused(repo.parent, asset, revision):
        return Partial(revision, (refused,))
    if asset.ref_main and main != revision:
        return OtherMain(revision, main)
    return Cached(revision, len(files), sum(files.values()), proof)


def _commit(repo: Path, revision: str) -> str:
    """The commit of a branch or tag, as the cache last knew it; a commit is itself."""
    return revision if len(revision) == _SHA else _text(repo / "refs" / revision)


def _text(file: Path) -> str:
    with suppress(FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return file.read_text(errors="replace")
    return ""


def _names(folder: Path) -> frozenset[str]:
    # Path.exists() would say of a folder that may not be read that it is not there.
    with suppress(FileNotFoundError):
        return frozenset(entry.name for entry in os.scandir(folder))
    return frozenset()


def _files(snapshot: Path) -> tuple[dict[str, int], list[str]]:
    """The files of a snapshot with their sizes in bytes, and the links in it that lead nowhere."""
    sizes: dict[str, int] = {}
    dangling: list[str] = []

    def fail(error: OSError) -> None:
        raise error

    for folder, _, names in os.walk(snapshot, onerror=fail):
        for name in names:
            path = Path(folder, name)
            shown = path.relative_to(snapshot).as_posix()
            try:
                sizes[shown] = path.stat().st_size
            except FileNotFoundError:
                dangling.append(shown)
    return sizes, sorted(dangling)


def _missing(
    repo: Path, asset: Wanted, revision: str, files: Mapping[str, int], dangling: list[str]
) -> tuple[str, list[str]]:
    """What the files were held against, and every file that is not there or not whole."""
    listed = _listed(repo.parent, asset, revision)
    if listed is not None:
        gone = [name for name in sorted(listed) if name not in files]
        cut = [f"{n} ({files[n]} of {size} bytes)" for n, size in listed.items() if files.get(n, size) != size]
        return "all that the hub lists", [*gone, *cut]
    missing = [f"{name} (its blob is gone)" for name in dangling]
    shards = dict(_shards(repo / "snapshots" / revision, files))
    missing += [f"{name} (named by {index})" for name, index in sorted(shards.items()) if name not in files]
    missing += [f"a file whose download was cut off ({blob})" for blob in _cut_off(repo / "blobs")]
    missing += [f"{name} (empty)" for name, size in files.items() if not size and name.endswith(_WEIGHTS)]
    if not missing and not any(name not in _ABOUT for name in files):
        missing = ["every file"]
    elif not missing and asset.kind == "model" and not any(name.endswith(_WEIGHTS) for name in files):
        missing = ["every file of weights"]
    return (
        "its weight map is whole" if shards else "nothing was cut off; the cache has no list of its files",
        missing,
    )


def _listed(hub: Path, asset: Wanted, revision: str) -> dict[str, int] | None:
    """Every file of the commit with its size, as the hub's library noted them at a download of the whole."""
    from huggingface_hub import RepoFile, get_cached_repo_tree  # noqa: PLC0415 - slow to import
    from huggingface_hub.errors import CachedRepoTreeNotFoundError  # noqa: PLC0415

    try:
        tree: list[RepoFile] = get_cached_repo_tree(
            asset.repo, repo_type=asset.kind, revision=revision, cache_dir=hub
        )
    except CachedRepoTreeNotFoundError:
        return None
    return {file.path: file.size for file in tree}


def _shards(snapshot: Path, files: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Each file that a weight map (`*.safetensors.index.json` and its kin) names, with the map's own name."""
    for name, size in files.items():
        if ".index" not in name or not name.endswith(".json") or size > _LARGEST_INDEX:
            continue
        try:
            index = msgspec.json.decode((snapshot / name).read_bytes(), type=_Index)
        except msgspec.MsgspecError:
            yield f"the shards of {name}, which is no JSON", name
            continue
        folder = Path(name).parent
        yield from (((folder / shard).as_posix(), name) for shard in set(index.weight_map.values()))


class _Index(msgspec.Struct):
    weight_map: dict[str, str] = {}


def _cut_off(blobs: Path) -> list[str]:
    """Blobs whose download was cut off and that no later one brought whole."""
    names = _names(blobs)
    etags = {name: name.partition(".")[0] for name in names if name.endswith(".incomplete")}
    return sorted({f"{etag[:12]}.incomplete" for etag in etags.values() if etag not in names})


def _refused(hub: Path, asset: Wanted, revision: str) -> str:
    """The last word is the library's own: why it would not load the snapshot offline, or an empty string."""
    from huggingface_hub import snapshot_download  # noqa: PLC0415 - slow to import
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    try:
        snapshot_download(
            asset.repo, repo_type=asset.kind, revision=revision, cache_dir=hub, local_files_only=True
        )
    except LocalEntryNotFoundError as error:
        return str(error)
    return ""


def main() -> None:
    """Answer the request on stdin."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    found = AssetsReading(assets=look(Path(request.hub), request.assets))
    sys.stdout.write(msgspec.json.encode(found).decode())


if __name__ == "__main__":
    main()
