"""Ports, GPUs and output folders that a run has for itself on this host: a kernel lock for each."""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path

from omnitui.errors import ResourceBusy, StoreError

_PATIENCE_S = 1.0


def folder() -> Path:
    """A folder that every user of this host can write: `OMNITUI_LOCKS`, `/run/lock`, or the temporary one."""
    if given := os.environ.get("OMNITUI_LOCKS"):
        return Path(given)
    system = Path("/run/lock")
    return system if os.access(system, os.W_OK) else Path(tempfile.gettempdir())


def trouble() -> str:
    """Why no run can keep its locks on this host, or an empty string."""
    where = folder()
    if not where.is_dir():
        return f"{where} is not a folder: make it, or set OMNITUI_LOCKS to a shared folder"
    if not os.access(where, os.W_OK):
        return f"{where} cannot be written, and a run keeps its locks there: set OMNITUI_LOCKS to a shared folder"
    return ""


def output(out: Path) -> dict[str, str]:
    """The claim on an output folder of this host, however it is spelled."""
    real = os.path.realpath(out)
    return {f"out-{sha256(os.fsencode(real)).hexdigest()[:16]}": f"the output folder {real}"}


def holder(name: str) -> str:
    """Who holds a thing (`port-8000`) now, or an empty string."""
    try:
        fd = os.open(folder() / f"omnitui-{name}.lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _named(fd)
    finally:
        os.close(fd)
    return ""


def _named(fd: int) -> str:
    return os.pread(fd, 200, 0).decode(errors="replace").strip() or "another run"


@contextmanager
def claimed(things: Mapping[str, str], run: str) -> Iterator[None]:
    """Hold things (`port-8000`: "port 8000") while the block lasts. Raises `ResourceBusy` naming the other run."""
    with ExitStack() as stack:
        for name in sorted(things):
            stack.enter_context(_one(name, things[name], run))
        yield


@contextmanager
def _one(name: str, thing: str, run: str) -> Iterator[None]:
    path = folder() / f"omnitui-{name}.lock"
    fd = _open_shared(path)
    try:
        if not _locked(fd):
            raise ResourceBusy(f"{thing} belongs to {_named(fd)}; wait for it or choose another")
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"run {run} of uid {os.getuid()} (pid {os.getpid()})\n".encode(), 0)
        yield
    finally:
        os.close(fd)


def _locked(fd: int) -> bool:
    until_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # Who only asks for the holder holds it for an instant as well; on a busy machine that may last.
            if time.monotonic() > until_s:
                return False
            time.sleep(0.01)
        else:
            return True


def _open_shared(path: Path) -> int:
    # The kernel refuses O_CREAT on another user's file in a sticky folder, so an existing one is opened first.
    # A link that somebody else laid there must not lead us to a file of our own: it would be emptied.
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        try:
            return os.open(path, flags)
        except FileNotFoundError:
            fd = os.open(path, flags | os.O_CREAT, 0o666)
            os.fchmod(fd, 0o666)
            return fd
    except OSError as error:
        raise StoreError(
            trouble() or f"{path} cannot be opened: {error.strerror}; set OMNITUI_LOCKS to a shared folder"
        ) from error
