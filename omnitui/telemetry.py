"""A run's telemetry: what its monitor told, with the steps' boundaries between, in a file that stays small.

Times in the file never go back, even when the host's clock does, so that a reader can search it. Nothing in it is
synced: it is not the truth, and losing its end loses nothing that a resume needs.
"""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from omnitui.samples import Line, Notice, Sample, decoded, encoded
from omnitui.store import RunFolder

LIMIT_BYTES = 64 << 20
_THINNED = 8
"""When the file is full, one sample in so many stays of its older three quarters."""
_BLOCK = 1 << 18


class Writer:
    """Appends lines; when the file is full its older samples are thinned out. What is lost is told, not raised."""

    def __init__(self, path: Path, limit: int = LIMIT_BYTES) -> None:
        self._path = path
        self._limit = limit
        self._fd = -1
        self._size = 0
        self._last = 0.0
        self._lost = 0
        self._why = ""

    def append(self, line: Line) -> None:
        """Write a line. On a full disk it is dropped, and the next one that can be written says so."""
        try:
            if self._fd >= 0 and not os.fstat(self._fd).st_nlink:
                # Somebody removed it: what goes on into the old one is read by nobody.
                self.close()
            if self._fd < 0:
                self._open()
            if self._lost:
                said = f"{self._lost} lines could not be written: {self._why}"
                self._write(encoded(Notice(self._later(line.at), said)))
                self._lost = 0
            at = self._later(line.at)
            self._write(encoded(line if at == line.at else replace(line, at=at)))
            if self._size > self._limit:
                self._thin()
        except OSError as error:
            self._lost += 1
            self._why = error.strerror or str(error)

    def close(self) -> None:
        """Close the file."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _later(self, at: float) -> float:
        self._last = max(self._last, at)
        return self._last

    def _open(self) -> None:
        self._fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._size = os.fstat(self._fd).st_size
        end = os.pread(self._fd, _BLOCK, max(0, self._size - _BLOCK))
        self._last = max((line.at for line in lines_in(end)), default=self._last)
        if end and not end.endswith(b"\n"):
            self._write(b"\n")

    def _write(self, data: bytes) -> None:
        written = os.write(self._fd, data)
        self._size += written
        if written != len(data):
            # Half a line must not swallow the next one.
            with suppress(OSError):
                self._size += os.write(self._fd, b"\n")
            raise OSError(28, "the disk is full")

    def _thin(self) -> None:
        """Keep every event and the newest quarter, and of the other samples one in eight."""
        tail = os.pread(self._fd, _BLOCK, self._size - self._size // 4)
        recent = self._size - self._size // 4 + tail.find(b"\n") + 1
        fresh = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
                for number, line in enumerate(_raw_lines(self._fd, 0, recent)):
                    if line and _stays(line, number):
                        file.write(line + b"\n")
                file.writelines(line + b"\n" for line in _raw_lines(self._fd, recent, self._size) if line)
            fresh.replace(self._path)
        finally:
            fresh.unlink(missing_ok=True)
        self.close()
        self._open()
        # Events alone may fill it: it must not be thinned again at every line.
        self._limit = max(self._limit, 2 * self._size)


def _stays(line: bytes, number: int) -> bool:
    return number % _THINNED == 0 or not line.startswith(b'{"is":"sample"')


def read(run: RunFolder, since: float = 0.0, until: float = float("inf"), at_most: int = 0) -> list[Line]:
    """The lines between two times, oldest first; with `at_most`, so many samples evenly chosen, and all events."""
    return list(between(run.telemetry, since, until, at_most))


def between(path: Path, since: float, until: float, at_most: int = 0) -> Iterator[Line]:
    """The lines of a file between two times. A line that is cut or broken is left out."""
    fd = _opened(path)
    if fd < 0:
        return
    try:
        size = os.fstat(fd).st_size
        begin = _offset(fd, size, since)
        end = size if until == float("inf") else _offset(fd, size, until, after=True)
        every = _every(fd, begin, end, at_most)
        number = 0
        for raw in _raw_lines(fd, begin, end):
            if raw.startswith(b'{"is":"sample"'):
                number += 1
                if number % every:
                    continue
            for line in lines_in(raw):
                if since <= line.at <= until:
                    yield line
    finally:
        os.close(fd)


def latest(run: RunFolder) -> Sample | None:
    """The newest sample that was written; its age is the reader's clock less its `at`."""
    fd = _opened(run.telemetry)
    if fd < 0:
        return None
    try:
        size = os.fstat(fd).st_size
        data = os.pread(fd, _BLOCK, max(0, size - _BLOCK))
    finally:
        os.close(fd)
    return next((line for line in reversed(list(lines_in(data))) if isinstance(line, Sample)), None)


class Tail:
    """Reads what is appended to a run's telemetry, from a time on."""

    def __init__(self, run: RunFolder, since: float) -> None:
        self._path = run.telemetry
        self._last = since
        self._file: tuple[int, int] | None = None
        self._offset = 0

    def lines(self) -> list[Line]:
        """The whole lines since the last call. A file that was thinned meanwhile is another one."""
        fd = _opened(self._path)
        if fd < 0:
            return []
        try:
            found = os.fstat(fd)
            file = (found.st_dev, found.st_ino)
            anew = file != self._file or found.st_size < self._offset
            if anew:
                self._file, self._offset = file, _offset(fd, found.st_size, self._last)
            data = os.pread(fd, found.st_size - self._offset, self._offset)
        finally:
            os.close(fd)
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        lines = [line for line in lines_in(whole) if not anew or line.at > self._last]
        self._last = lines[-1].at if lines else self._last
        return lines


def _opened(path: Path) -> int:
    """A descriptor, or -1 where there is no such file: no telemetry is no error."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    return -1


def lines_in(data: bytes) -> Iterator[Line]:
    """The whole lines in some bytes; broken ones are left out."""
    for raw in data.split(b"\n"):
        if raw:
            with suppress(msgspec.MsgspecError):
                yield decoded(raw)


def _every(fd: int, begin: int, end: int, at_most: int) -> int:
    if not at_most:
        return 1
    block = os.pread(fd, min(_BLOCK, end - begin), begin)
    count = block.count(b'{"is":"sample"') * (end - begin) / max(1, len(block))
    return max(1, -(-int(count) // at_most))


def _raw_lines(fd: int, begin: int, end: int) -> Iterator[bytes]:
    rest = b""
    while begin < end:
        block = os.pread(fd, min(_BLOCK, end - begin), begin)
        if not block:
            return
        begin += len(block)
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
    yield rest


def _offset(fd: int, size: int, at: float, *, after: bool = False) -> int:
    """Where the first line that is not earlier (or, `after`, that is later) begins: a binary search over bytes."""
    low, high = 0, size
    while high - low > _BLOCK:
        middle = (low + high) // 2
        found = _first_in(os.pread(fd, _BLOCK, middle))
        if found is None:
            break
        if found > at or (found == at and not after):
            high = middle
        else:
            low = middle
    if after:
        # The line that is on the way over the end of the search is read too; the caller looks at its time.
        return min(size, high + _BLOCK)
    # A search ends somewhere in a line: begin at the line's own beginning.
    before = os.pread(fd, min(low, _BLOCK), max(0, low - _BLOCK))
    return low - len(before) + before.rfind(b"\n") + 1 if low else 0


def _first_in(block: bytes) -> float | None:
    for raw in block.split(b"\n")[1:-1]:
        with suppress(msgspec.MsgspecError):
            return decoded(raw).at
    return None


def age_s(sample: Sample) -> float:
    """Seconds since a sample that was read from the file was taken, by the wall clock."""
    return max(0.0, time.time() - sample.at)
