"""The runbooks that came with OmniTUI, by their names and titles. Light: the app's first paint shows them."""

import tomllib
from pathlib import Path
from typing import NamedTuple

FILE = "runbook.toml"


class Head(NamedTuple):
    """What a runbook says of itself before its first table."""

    name: str
    title: str
    summary: str


def library() -> Path:
    """The folder of the runbooks that came with OmniTUI."""
    packaged = Path(__file__).parent.parent / "runbooks"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "runbooks"


def available() -> list[str]:
    """The ids of the runbooks that came with OmniTUI, sorted."""
    return sorted(file.parent.name for file in library().glob(f"*/{FILE}"))


def heads() -> list[Head]:
    """What is on the shelf. Of a file that cannot be read only its name is known; `load` says what is wrong."""
    return [_head(name) for name in available()]


def _head(name: str) -> Head:
    try:
        text = (library() / name / FILE).read_text(encoding="utf-8")
        head = tomllib.loads(text.partition("\n[")[0])
    except (OSError, ValueError):
        return Head(name, name, "")
    return Head(name, str(head.get("title", name)), str(head.get("summary", "")))
