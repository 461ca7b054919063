"""What can be told about a bash script without running it."""

import re
import subprocess
from collections.abc import Iterator

_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")


def script_problems(key: str, text: str, *, last_may_chain: bool = True) -> Iterator[tuple[str, str]]:
    """Where bash does not accept it, and lines after whose failure it would go on."""
    if not text:
        return
    result = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    if result.returncode:
        yield key, f"bash does not accept it: {result.stderr.strip().splitlines()[-1]}"
    lines = _commands(text)
    for number, line in enumerate(lines, 1):
        final = number == len(lines) and last_may_chain
        if _chains(line) and not final:
            yield (
                key,
                f"`{line.strip()[:60]}`: when the left side fails, bash goes on; write one command a line",
            )


def _chains(line: str) -> bool:
    bare = re.sub(r"'[^']*'|\"[^\"]*\"|\[\[.*?\]\]|\(\(.*?\)\)", "", line)
    return "&&" in bare and not re.match(r"\s*(if|elif|while|until)\b", bare)


def _commands(text: str) -> list[str]:
    """The command lines of a script: continuations joined, here-documents and comments left out."""
    lines: list[str] = []
    until = ""
    pending = ""
    for raw in text.splitlines():
        if until:
            until = "" if raw.strip() == until else until
            continue
        line = pending + raw
        if line.endswith("\\"):
            pending = line[:-1]
            continue
        pending = ""
        if heredoc := _HEREDOC.search(line):
            until = heredoc[1]
        if line.strip() and not line.lstrip().startswith("#"):
            lines.append(line)
    return lines
