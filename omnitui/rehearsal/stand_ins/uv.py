"""Stand-in for `uv`: makes stand-in environments and installs nothing."""

import sys
from pathlib import Path

from omnitui.rehearsal.stand_ins import stage, venv


def main(argv: list[str]) -> int:
    """`uv venv`, `uv pip install`, `uv pip freeze`, `uv sync`."""
    if argv[:1] in (["--version"], ["version"]):
        sys.stdout.write("uv 0.0 (stand-in uv)\n")
        return 0
    if argv[:1] == ["venv"]:
        words = _without_values(argv[1:], ("-p", "--python", "--prompt"))
        folder = Path(words[0] if words else ".venv")
        venv.make(folder)
        stage.say("uv", f"made a stand-in environment at {folder}")
        return 0
    if argv[:2] in (["pip", "freeze"], ["pip", "list"]):
        sys.stdout.write(venv.freeze())
        return 0
    stage.say("uv", f"installs nothing: {' '.join(argv)[:120]}")
    return 0


def _without_values(words: list[str], options: tuple[str, ...]) -> list[str]:
    rest, kept = list(words), []
    while rest:
        word = rest.pop(0)
        if word in options:
            rest[:1] = []
        elif not word.startswith("-"):
            kept.append(word)
    return kept
