"""Hub caches on disk, laid out as huggingface_hub lays them out: blobs, snapshots of links, references."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

SHA = "503e754207c94da6bb26850b4469f367c9ea3582"
OTHER = "7278e1e70fe206f11671096ffdd38061171dd6e5"
MODEL = {
    "README.md": b"# About\n",
    "config.json": b"{}",
    "model.safetensors.index.json": json.dumps(
        {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    ).encode(),
    "model-00001-of-00002.safetensors": b"first" * 40,
    "model-00002-of-00002.safetensors": b"second" * 40,
}
DATA = {"README.md": b"# About\n", "data/test-00000-of-00001.parquet": b"rows" * 30}


def repo_of(hub: Path, name: str, kind: str = "model") -> Path:
    return hub / f"{kind}s--{name.replace('/', '--')}"


def cache(
    hub: Path,
    name: str,
    files: Mapping[str, bytes],
    kind: str = "model",
    revision: str = SHA,
    main: str | None = None,
    without: tuple[str, ...] = (),
    listed: bool = False,
) -> Path:
    """A repository of the cache; `without` some files; `listed`: with the library's own list of all of them."""
    repo = repo_of(hub, name, kind)
    snapshot = repo / "snapshots" / revision
    snapshot.mkdir(parents=True)
    (repo / "blobs").mkdir(exist_ok=True)
    (repo / "refs").mkdir(exist_ok=True)
    for file, data in files.items():
        if file in without:
            continue
        blob = repo / "blobs" / blob_id(data)
        blob.write_bytes(data)
        link = snapshot / file
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(Path(*[".."] * (2 + file.count("/")), "blobs", blob.name))
    if main is not None:
        (repo / "refs" / "main").write_text(main)
    if listed:
        (repo / "trees").mkdir()
        entries = {file: {"size": len(data), "blob_id": blob_id(data)} for file, data in files.items()}
        tree = {"format_version": 1, "files": entries}
        (repo / "trees" / f"{revision}.json").write_text(json.dumps(tree))
    return repo


def blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
