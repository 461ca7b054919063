"""Writing a report into a file of the operator's, for the verbs and the screens."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from omnitui.errors import StoreError, UsageError


class AlreadyThere(UsageError):
    """The file is there, and nobody has said that it may be replaced."""


def write(file: Path, text: str, *, over: bool = False) -> None:
    """Write a new file; `over` replaces the one that is there, whole or not at all. Raises `OmniError`.

    What replaces a file has its mode, and stands where a link leads.
    """
    file = Path(os.path.realpath(file)) if over else file
    # Short, because a name may be as long as the file system lets it.
    fresh = file.with_name(f".omnitui-{os.getpid()}") if over else file
    try:
        # What was read of logs and JSON may hold half a character.
        with fresh.open("x", encoding="utf-8", errors="backslashreplace") as out:
            if over and file.exists():
                os.fchmod(out.fileno(), stat.S_IMODE(file.stat().st_mode))
            out.write(text if text.endswith("\n") else text + "\n")
        if over:
            fresh.replace(file)
    except FileExistsError as error:
        raise AlreadyThere(f"{fresh} is there already; name another file") from error
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise StoreError(f"{file} cannot be written: {error.strerror}") from error
