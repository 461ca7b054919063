"""What all stand-ins share: the rehearsal's folder, the fault that is set, and words on stderr."""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

VARIABLE = "OMNITUI_REHEARSAL"
"""Names the rehearsal's folder in the environment of everything in its sandbox."""


def folder() -> Path:
    """The rehearsal's folder. A stand-in that is run outside of one ends at once."""
    given = os.environ.get(VARIABLE)
    if not given:
        raise SystemExit("this is a stand-in of OmniTUI's rehearsals; it works only in their sandbox")
    return Path(given)


def state() -> Path:
    """Where stand-ins keep what they know."""
    return folder() / "state"


def fault() -> str:
    """The fault that is set now, or an empty string. It may be lifted while the rehearsal goes on."""
    try:
        return (state() / "fault").read_text().strip()
    except OSError:
        return ""


def say(name: str, text: str) -> None:
    """A line on stderr: stdout belongs to what the real program would print."""
    sys.stderr.write(f"stand-in {name}: {text}\n")
    sys.stderr.flush()


def read_json(path: Path, default: Any) -> Any:
    """What a file of the stage holds; the default when there is none yet."""
    try:
        return json.loads(path.read_text())
    except FileNotFoundError:
        return default


def write_json(path: Path, value: Any) -> None:
    """Replace a file of the stage; a reader sees the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
        json.dump(value, file, indent=1)
    Path(file.name).replace(path)


def start_of(pid: int) -> int | None:
    """When a process began, in ticks since boot; None when it is gone or a zombie."""
    try:
        tail = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
    return None if tail[0] in "ZX" else int(tail[19])


def environ_of(pid: int) -> dict[str, str]:
    """The environment of a process; empty when it is gone or may not be read."""
    try:
        data = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (entry.partition(b"=") for entry in data.split(b"\0") if entry)
    return {name.decode(errors="replace"): value.decode(errors="replace") for name, _, value in pairs}


def pids() -> list[int]:
    """Every process that can be seen."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def wait_for_death(pid: int, patience_s: float) -> bool:
    """Whether a process has ended within so many seconds."""
    until = time.monotonic() + patience_s
    while start_of(pid) is not None:
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
