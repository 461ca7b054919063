"""Writing a report into a file of the operator's, for the verbs and the screens."""

import os
from contextlib import suppress
from pathlib import Path

from omnitui.errors import StoreError, UsageError


class AlreadyThere(UsageError):
    """The file is there, and nobody has said that it may be replaced."""


def write(file: Path, text: str, *, over: bool = False) -> None:
    """Write a new file; `over` replaces the one that is there, whole or not at all. Raises `OmniError`."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}") if over else file
    try:
        # What was read of logs and JSON may hold half a character.
        with fresh.open("x", encoding="utf-8", errors="backslashreplace") as out:
            out.write(text if text.endswith("\n") else text + "\n")
        if over:
            fresh.replace(file)
    except FileExistsError as error:
        raise AlreadyThere(f"{fresh} is there already; name another file") from error
    except OSError as error:
        with suppress(OSError):
            fresh.unlink()
        raise StoreError(f"{file} cannot be written: {error.strerror}") from error
