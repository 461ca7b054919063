"""Runbooks that a test writes for itself."""

from pathlib import Path


def make_book(folder: Path, text: str) -> str:
    """Make a folder with a runbook of this text; the folder, as a verb takes it."""
    folder.mkdir()
    (folder / "runbook.toml").write_text(text)
    return str(folder)
