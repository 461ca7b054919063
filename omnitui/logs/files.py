"""Which file a log is, and which bytes of it must not be shown."""

import json
import os
import stat
from collections.abc import Iterable
from errno import EINVAL
from pathlib import Path
from typing import NamedTuple

LEAKS = "leaks.json"
"""Beside a log: the byte ranges in it that hold a secret."""


def leaks_of(log: Path) -> list[tuple[int, int]]:
    """The (offset, length) ranges of a log that must not be shown. They tell nothing about the secret itself."""
    try:
        found = json.loads(log.with_name(LEAKS).read_bytes())
    except (OSError, ValueError):
        return []
    return [(int(at), int(length)) for at, length in found]


def blanked(data: bytes, offset: int, leaks: Iterable[tuple[int, int]]) -> bytes:
    """`data`, which stands at `offset` in its log, with every leak replaced by asterisks."""
    clean = bytearray(data)
    for at, length in leaks:
        low, high = max(0, at - offset), min(len(clean), at + length - offset)
        if low < high:
            clean[low:high] = b"*" * (high - low)
    return bytes(clean)


class Identity(NamedTuple):
    """Which file it is, whatever its name: device and inode."""

    device: int
    inode: int


def open_log(path: Path) -> int:
    """Open a regular file for reading; the descriptor. Raises OSError."""
    # Without O_NONBLOCK, opening a FIFO waits for its writer.
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(EINVAL, "not a regular file", str(path))
    return fd


def identity_of(status: os.stat_result) -> Identity:
    """Which file was looked at."""
    return Identity(status.st_dev, status.st_ino)
