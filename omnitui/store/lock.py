"""The kernel lock that owns a run and dies with its holder."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from omnitui.errors import RunBusy, StoreError
from omnitui.model import Identity
from omnitui.store.folder import RunFolder


class Holder(msgspec.Struct, frozen=True):
    """Who holds a run."""

    role: str
    host: str
    identity: Identity


def holder(run: RunFolder) -> Holder | None:
    """Who holds the lock now, or nobody. A lock that is held but not yet named reads as an unnamed holder."""
    try:
        fd = os.open(run.lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _named_holder(os.pread(fd, 4096, 0))
        return None
    finally:
        os.close(fd)


def _named_holder(data: bytes) -> Holder:
    try:
        return msgspec.json.decode(data, type=Holder)
    except msgspec.MsgspecError:
        return Holder(role="process", host="", identity=Identity(pid=0, start=0, boot=""))


def _take(run: RunFolder, role: str, identity: Identity, patience_s: float) -> int:
    # Python's descriptors are not inherited, so no child of ours can keep the lock.
    try:
        fd = os.open(run.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreError(f"{run.lock} cannot be opened: {error.strerror}") from error
    until = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # A reader that asks who holds the lock holds it itself for an instant.
            if time.monotonic() > until:
                other = _named_holder(os.pread(fd, 4096, 0))
                os.close(fd)
                raise RunBusy(
                    f"run {run.name} is held by a {other.role} (pid {other.identity.pid} on {other.host}); "
                    f"watch it with: omnitui attach {run.name}"
                ) from None
            time.sleep(0.01)
        else:
            data = msgspec.json.encode(Holder(role=role, host=os.uname().nodename, identity=identity))
            try:
                os.ftruncate(fd, 0)
                os.pwrite(fd, data, 0)
            except OSError as error:
                os.close(fd)
                raise StoreError(f"{run.lock} cannot be written: {error.strerror}; free space") from error
            return fd


@contextmanager
def locked(run: RunFolder, identity: Identity, role: str, patience_s: float = 1.0) -> Iterator[None]:
    """Hold the run's lock. Raises `RunBusy` naming the holder."""
    lock = _take(run, role, identity, patience_s)
    try:
        yield
    finally:
        os.close(lock)
