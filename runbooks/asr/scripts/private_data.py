"""Which rows of the private data sets are cached: their loaded fingerprints, and the heads of their repositories.

`record FILE` asks the hub and writes the file; what it said before is kept beside it. `compare FILE` is offline.
"""

import os
import sys
from pathlib import Path

REPOS = ("zhaochenyang20/movies800time", "zhaochenyang20/AISHELL4", "zhaochenyang20/googletime")


def fingerprint(repo: str) -> str:
    """The fingerprint of the rows as they load here."""
    from datasets import load_dataset  # noqa: PLC0415 - whether it is offline is settled before

    return str(load_dataset(repo, split="validation")._fingerprint)


def recorded(file: Path) -> dict[str, dict[str, str]]:
    """For each repository the values that its line names."""
    lines = [line.split() for line in file.read_text().splitlines() if line.strip()]
    return {words[0]: dict(word.partition("=")[::2] for word in words[1:]) for words in lines}


def record(file: Path) -> int:
    """Write what is loaded and what the hub has; tell what changed since the last record."""
    from huggingface_hub import HfApi  # noqa: PLC0415 - comparing needs no hub

    lines = []
    for repo in REPOS:
        head = HfApi().dataset_info(repo).sha
        lines.append(f"{repo} remote_head={head} loaded_fingerprint={fingerprint(repo)}")
        print(lines[-1], flush=True)
    before = recorded(file) if file.exists() else {}
    if before:
        file.replace(aside(file))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n")
    for repo, now in recorded(file).items():
        for name, value in now.items():
            if before and before.get(repo, {}).get(name) != value:
                print(f"{repo}: {name} was {before.get(repo, {}).get(name)}: not comparable with earlier passes")
    print("FINGERPRINTS_RECORDED")
    return 0


def aside(file: Path) -> Path:
    """A free name beside the file."""
    number = 1
    while (free := file.with_name(f"{file.stem}-earlier-{number}{file.suffix}")).exists():
        number += 1
    return free


def compare(file: Path) -> int:
    """Whether what loads offline is what was recorded."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    if not file.exists():
        print(f"{file} is not there yet")
        return 1
    known = recorded(file)
    for repo in REPOS:
        loaded, noted = fingerprint(repo), known.get(repo, {}).get("loaded_fingerprint")
        print(f"{repo} loaded_fingerprint={loaded}, recorded {noted}", flush=True)
        if loaded != noted:
            return 1
    print("FINGERPRINTS_SAME")
    return 0


if __name__ == "__main__":
    sys.exit({"record": record, "compare": compare}[sys.argv[1]](Path(sys.argv[2])))
