"""Stand-in for `pip`: installs nothing."""

import sys

from omnitui.rehearsal.stand_ins import stage, venv


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
    return 0
