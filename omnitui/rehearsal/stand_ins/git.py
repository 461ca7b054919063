"""Stand-in for `git`: the real one, whose origin is a repository of the rehearsal, not one of the internet.

The stand-in repositories have two commits. A commit of the real project that somebody asks for by its number is
answered with one of its own, made on the spot, so that every commit that is named is another one.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from omnitui.rehearsal.stand_ins import stage

_NUMBER = re.compile(r"[0-9a-f]{7,40}")
_REAL = shutil.which("git", path="/usr/local/bin:/usr/bin:/bin") or "/usr/bin/git"


def main(argv: list[str]) -> int:
    """Run the real git, with numbers of commits that it cannot know replaced."""
    where, verb = _where(argv)
    words = list(argv)
    if verb in ("checkout", "rev-parse", "fetch", "merge-base", "cat-file", "show", "log", "switch", "reset"):
        words = [_known(where, word) if _NUMBER.fullmatch(word) else word for word in words]
    if verb == "checkout" and stage.fault() == "wrong-commit":
        # Says that it worked, and leaves another commit.
        words = ["-C", where, "checkout", "--quiet", "--detach", "origin/main~1"]
    if verb == "clone":
        stage.say("git", "clones a stand-in repository")
    os.execv(_REAL, ["git", *words])


def _where(argv: list[str]) -> tuple[str, str]:
    folder = "."
    words = iter(argv)
    for word in words:
        if word == "-C":
            folder = str(Path(folder) / next(words, "."))
        elif word == "-c":
            next(words, "")
        elif not word.startswith("-"):
            return folder, word
    return folder, ""


def _git(where: str, *words: str, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [_REAL, "-C", where, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **(env or {})},
    )
    return done.stdout.strip() if done.returncode == 0 else ""


def _known(where: str, number: str) -> str:
    if _git(where, "rev-parse", "--verify", "--quiet", f"{number}^{{commit}}"):
        return number
    aliases = stage.read_json(stage.state() / "commits.json", {})
    if number in aliases and _git(where, "cat-file", "-t", aliases[number]):
        return str(aliases[number])
    dates = {"GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000"}
    tree, parent = _git(where, "rev-parse", "origin/main^{tree}"), _git(where, "rev-parse", "origin/main")
    text = f"Stand-in for commit {number}"
    made = _git(where, "commit-tree", tree, "-p", parent, "-m", text, env=dates) if tree else ""
    if not made:
        return number
    stage.write_json(stage.state() / "commits.json", {**aliases, number: made})
    sys.stderr.write(f"stand-in git: commit {made[:12]} stands in for {number}\n")
    return made
