"""Stand-in for `pip`: installs nothing but the word that a package is there."""

import re
import sys
from pathlib import Path

from omnitui.rehearsal.stand_ins import stage, venv

INSTALLED = "site-packages"
"""The folder of the stage where the Python of stand-in environments looks for what is installed."""


def main(argv: list[str]) -> int:
    """`pip install`, `pip freeze`, `pip show`."""
    if argv[:1] in (["freeze"], ["list"]):
        sys.stdout.write(venv.freeze())
    elif argv[:1] == ["--version"]:
        sys.stdout.write("pip 0.0 (stand-in pip)\n")
    elif argv[:1] == ["show"]:
        sys.stdout.write("".join(f"Name: {name}\nVersion: 1.0\nSummary: stand-in\n" for name in argv[1:]))
    else:
        stage.say("pip", f"installs nothing: {' '.join(argv)[:120]}")
        for name in argv[1:] if argv[:1] == ["install"] else ():
            if re.fullmatch(r"[A-Za-z][\w.-]*", name):
                install(stage.state(), name)
    return 0


def install(state: Path, name: str) -> None:
    """Let `importlib.metadata` find a package of this name."""
    folder = state / INSTALLED / f"{re.sub(r'[-_.]+', '_', name).lower()}-1.0.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\nSummary: stand-in\n")
