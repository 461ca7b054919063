"""The process that stands between the runner and the operator's own `on_event` command.

It keeps the command's time limit also when the runner has ended meanwhile, and imports nothing that costs.
`python -m omnitui.on_event SECONDS COMMAND`; stdin is the command's; it prints what went wrong, if anything did.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from typing import IO

_LONGEST = 300
_READ_BYTES = 4096
_MOST_BYTES = 1 << 20
_LOOK_S = 0.1


def main(arguments: list[str]) -> int:
    """Run the command in a session of its own; 0 when it ended well in time."""
    limit_s, command = float(arguments[0]), arguments[1]
    # Files, not pipes: whatever the command leaves in the background may keep them open.
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,
            )
        except OSError as error:
            return _tell(f"cannot be started: {error.strerror}")
        try:
            status = _waited(process, said, limit_s)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return _tell(f"took longer than {limit_s:g} s and was ended")
        if not status:
            return 0
        said.seek(max(0, os.fstat(said.fileno()).st_size - _READ_BYTES))
        # What was cut off before is a hole of NUL bytes.
        last = said.read(_READ_BYTES).replace(b"\0", b"").decode(errors="replace").strip().rpartition("\n")[2]
        how = f"exit status {status}" if status > 0 else f"ended by signal {-status}"
        return _tell(f"{how}; {last[:_LONGEST]}" if last else how)


def _waited(process: "subprocess.Popen[bytes]", said: IO[bytes], limit_s: float) -> int:
    """The exit status. What floods its stderr must not fill the disk that a benchmark writes to."""
    until_s = time.monotonic() + limit_s
    while True:
        try:
            return process.wait(max(0.0, min(_LOOK_S, until_s - time.monotonic())))
        except subprocess.TimeoutExpired:
            if time.monotonic() >= until_s:
                raise
            if os.fstat(said.fileno()).st_blocks * 512 > _MOST_BYTES:
                os.ftruncate(said.fileno(), 0)


def _tell(what: str) -> int:
    with suppress(OSError):
        sys.stdout.write(f"{what}\n")
        sys.stdout.flush()
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
