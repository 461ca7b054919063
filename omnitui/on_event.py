"""The process that stands between the runner and the operator's own `on_event` command.

It keeps the command's time limit also when the runner has ended meanwhile, and imports nothing that costs.
`python -m omnitui.on_event SECONDS COMMAND`; stdin is the command's; it prints what went wrong, if anything did.
"""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress

_LONGEST = 300


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
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return _tell(f"took longer than {limit_s:g} s and was ended")
        if not status:
            return 0
        said.seek(0)
        last = said.read()[-4096:].decode(errors="replace").strip().rpartition("\n")[2]
        how = f"exit status {status}" if status > 0 else f"ended by signal {-status}"
        return _tell(f"{how}; {last[:_LONGEST]}" if last else how)


def _tell(what: str) -> int:
    with suppress(OSError):
        sys.stdout.write(f"{what}\n")
        sys.stdout.flush()
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
