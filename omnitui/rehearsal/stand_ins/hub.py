"""Stand-in for the Hugging Face hub: snapshots of two small files, in the real layout of the hub's cache."""

import hashlib
import os
import re
import sys
from pathlib import Path

from omnitui.rehearsal.stand_ins import stage

_COMMIT = re.compile(r"[0-9a-f]{40}")
HEADS = {
    "zhaochenyang20/seed-tts-eval-50-arrow": "351f38c8d5ea36deda18dd9218645cda8f5c91b3",
    "zhaochenyang20/mmmu-ci-50": "ff72fd69cc7e0719e04a0ddb12d160de89c6fefe",
    "zhaochenyang20/mmsu-ci-2000": "5ae6ed4343a89566be6dd90023d529f1bd97802d",
}
"""What `main` is where a page tells it; for any other repository it is a number made of its name."""


class LocalEntryNotFoundError(FileNotFoundError):
    """The cache does not have it, and nothing may be downloaded."""


def cache() -> Path:
    """The hub's cache folder, by the hub's own rules."""
    home = os.environ.get("HF_HOME") or Path("~/.cache/huggingface").expanduser()
    return Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub")


def head(repo: str) -> str:
    """The commit that `main` is."""
    return HEADS.get(repo) or hashlib.sha1(repo.encode()).hexdigest()


def folder_of(repo: str, kind: str, root: Path | None = None) -> Path:
    """The folder of a repository in the cache."""
    return (root or cache()) / f"{kind}s--{repo.replace('/', '--')}"


def snapshot(
    repo: str, kind: str = "model", revision: str | None = None, root: Path | None = None, *, offline: bool = False
) -> Path:
    """The folder of a snapshot; made when it is not there and may be. Raises `LocalEntryNotFoundError`."""
    folder, wanted = folder_of(repo, kind, root), revision or "main"
    if offline or os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0"):
        return _cached(folder, repo, wanted)
    commit = wanted if _COMMIT.fullmatch(wanted) else head(repo)
    made = folder / "snapshots" / commit
    made.mkdir(parents=True, exist_ok=True)
    (folder / "refs").mkdir(exist_ok=True)
    if wanted != commit:
        (folder / "refs" / wanted).write_text(commit)
    files = {"README.md": "stand-in\n"}
    files |= (
        {"config.json": '{"model_type": "stand-in"}\n', "model.safetensors": f"stand-in for {repo}\n"}
        if kind == "model"
        else {"data/part-00000.parquet": f"stand-in for {repo}\n"}
    )
    for name, text in files.items():
        _file(folder, made / name, text)
    stage.say("hub", f"{repo} at {commit}")
    return made


def _cached(folder: Path, repo: str, wanted: str) -> Path:
    ref = folder / "refs" / wanted
    commit = wanted if _COMMIT.fullmatch(wanted) else ref.read_text() if ref.exists() else ""
    found = folder / "snapshots" / commit
    cut = next((folder / "blobs").glob("*.incomplete"), None)
    if not commit or not found.is_dir() or cut or not all(path.exists() for path in found.rglob("*")):
        raise LocalEntryNotFoundError(f"stand-in hub: {repo} at {wanted} is not whole in {folder.parent}")
    return found


def _file(folder: Path, link: Path, text: str) -> None:
    digest = hashlib.sha256(text.encode()).hexdigest()
    blob = folder / "blobs" / digest
    blob.parent.mkdir(exist_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    if stage.fault() == "partial-download" and link.suffix in (".safetensors", ".parquet"):
        # The beginning came; the rest did not, and nobody said so.
        blob.with_suffix(".incomplete").write_text(text[:4])
        return
    blob.with_suffix(".incomplete").unlink(missing_ok=True)
    blob.write_text(text)
    if not link.is_symlink():
        link.symlink_to(os.path.relpath(blob, link.parent))


def main(argv: list[str]) -> int:
    """`hf download REPO [--repo-type T] [--revision R]`."""
    from omnitui.rehearsal.stand_ins.serve import option  # noqa: PLC0415 - a server's needs are not a download's

    if argv[:1] != ["download"] or len(argv) < 2:
        stage.say("hf", f"only downloads; not {' '.join(argv)[:80]!r}")
        return 2
    print(snapshot(argv[1], option(argv, "--repo-type", default="model"), option(argv, "--revision") or None))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
