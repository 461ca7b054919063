"""Clear the GPU pair between two CI stages with the checkout's own script, if all it would kill is of this run.

That script kills whatever holds a GPU, by number. So first every process that has a GPU open, and every one that
`nvidia-smi` names, must carry the marker of this run. Then: GPUS_CLEARED. Else it names them and kills nothing.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
DEVICE = "/dev/nvidia"
MARKER = "OMNITUI_JOB"
APPS = ("nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader")
CLEAR = ("bash", ".github/scripts/delete_gpu_process.sh", "--kill-orphans")


class Holder(NamedTuple):
    """A process at a GPU: `run` is what its marker says, empty without one; `command` what it is."""

    pid: int
    run: str
    command: str


def run_of(environ: bytes) -> str:
    """The run whose marker stands in an environment."""
    for entry in environ.split(b"\0"):
        name, _, value = entry.partition(b"=")
        if name.decode(errors="replace") == MARKER:
            return value.partition(b":")[0].decode(errors="replace")
    return ""


def read(pid: int, name: str) -> bytes:
    """A file of a process; empty when it is gone or another user's."""
    try:
        return (PROC / str(pid) / name).read_bytes()
    except OSError:
        return b""


def has_gpu_open(pid: int) -> bool:
    """Whether one of its open files is a GPU, not only the driver's control device."""
    try:
        for link in (PROC / str(pid) / "fd").iterdir():
            try:
                target = str(link.readlink())
            except OSError:
                continue
            if target.startswith(DEVICE) and target[len(DEVICE) :].isdigit():
                return True
    except OSError:
        return False
    return False


def listed() -> set[int]:
    """The processes that `nvidia-smi` names. In a container it may name the host's: those are not ours to kill."""
    done = subprocess.run(APPS, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        sys.exit(f"wrong: nvidia-smi ended with {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return {int(line) for line in done.stdout.split() if line.isdigit()}


def holders() -> Iterator[Holder]:
    """Every process at a GPU."""
    pids = {int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()}
    for pid in sorted(listed() | {pid for pid in pids if has_gpu_open(pid)}):
        command = read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
        yield Holder(pid, run_of(read(pid, "environ")), command or "a process that cannot be seen from here")


def main() -> int:
    """Look, then clear or refuse."""
    mine = run_of(f"{MARKER}={os.environ.get(MARKER, '')}".encode())
    foreign = [one for one in holders() if not mine or one.run != mine]
    for one in foreign:
        print(f"wrong: pid {one.pid} is at a GPU and not of this run: {one.command}")
    if foreign:
        print("nothing was killed")
        return 1
    status = subprocess.run(CLEAR, check=False).returncode
    if status:
        return status
    print("GPUS_CLEARED")
    return 0


if __name__ == "__main__":
    sys.exit(main())
