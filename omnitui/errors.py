"""The errors that OmniTUI tells its operator about; each says what, why and the way out.

    OmniError                 exit 1
    ├── UsageError            exit 2   an argument or a value of a variable is wrong
    │   └── RunbookError      exit 2   a runbook cannot be read; names file and key
    ├── Blocked               exit 3   somebody else has it, or the operator is asked
    │   ├── RunBusy                    another process holds the lock of the run
    │   └── ResourceBusy               another run has the port or the GPU
    ├── CorruptState          exit 4   a state file that cannot be trusted
    ├── StoreError            exit 1   the run folder cannot be written or read
    └── JobError              exit 1   a command could not be started or must not be signalled
        └── PlaceError                 a container cannot be looked at
            └── PlaceDown              it is known not to run: nothing lives there

Anything else that is raised is a bug and keeps its traceback.
"""

from pathlib import Path


class OmniError(Exception):
    """Base of all errors that carry a message for the operator."""

    exit_code = 1


class UsageError(OmniError):
    """What the operator asked for cannot be done as written."""

    exit_code = 2


class RunbookError(UsageError):
    """A runbook is wrong: `file`, the key path in it, and the reason."""

    def __init__(self, file: Path, key: str, reason: str) -> None:
        super().__init__(f"{file}: {key}: {reason}" if key else f"{file}: {reason}")
        self.file = file
        self.key = key
        self.reason = reason


class Blocked(OmniError):
    """Nothing is wrong, but somebody has to act first."""

    exit_code = 3


class RunBusy(Blocked):
    """The lock of the run is held by another process."""


class ResourceBusy(Blocked):
    """A port or a GPU belongs to another run on this host."""


class CorruptState(OmniError):
    """A state file is empty, cut or unreadable; it is kept, and `omnitui repair` rebuilds it."""

    exit_code = 4


class StoreError(OmniError):
    """The run folder could not be written or read."""


class JobError(OmniError):
    """A job could not be started, or a signal was refused because the identity does not match."""


class PlaceError(JobError):
    """A place where jobs run cannot be looked at: what is there is not known."""


class PlaceDown(PlaceError):
    """A place is not there, or stands still: nothing lives in it."""
