"""Beginning a download, finding it again, reading how far it is, and asking it to stop."""

import fcntl
import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from omnitui import store
from omnitui.assets import Wanted
from omnitui.downloads.events import Event, NotFetched, Progress, Request
from omnitui.errors import OmniError, StoreError
from omnitui.jobs.output import tail

_OFFLINE = frozenset({"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE"})
"""The pages set these for the measurement; whoever asks for a download wants it all the same."""
_READERS_S = 0.5
"""A reader that asks whether a download lives holds its lock for an instant."""
_CHILDREN: list["subprocess.Popen[bytes]"] = []


@dataclass(frozen=True)
class Download:
    """One download, by its folder."""

    folder: Path

    @property
    def log(self) -> Path:
        """What its process printed: empty unless it met a bug, or the library a warning."""
        return self.folder / "log"

    def is_alive(self) -> bool:
        """Whether its process lives."""
        fd = _lock(self.folder, 0.0, fcntl.LOCK_SH)
        if fd is not None:
            os.close(fd)
        _CHILDREN[:] = [child for child in _CHILDREN if child.poll() is None]
        return fd is None

    def last(self) -> Event | None:
        """What `read` gives, or None where nothing was ever downloaded."""
        return self.read() if (self.folder / "told.json").exists() else None

    def read(self) -> Event:
        """How far it is, or how it ended."""
        alive = self.is_alive()
        try:
            told: Event = msgspec.json.decode((self.folder / "told.json").read_bytes(), type=Event)
        except (OSError, msgspec.MsgspecError):
            told = Progress()
        if isinstance(told, Progress) and not alive:
            last = tail(self.log, 1)
            return NotFetched("its process is gone" + (f"; its last line: {last[0][:200]}" if last else ""))
        return told

    def stop(self) -> None:
        """Ask it to end; files that are whole are kept."""
        with suppress(OSError):
            (self.folder / "stop").touch()


def find(hub: Path, asset: Wanted) -> Download:
    """The download of a repository into a cache, whether there has been one or not."""
    key = hashlib.sha256(f"{hub.resolve()}\n{asset.kind}\n{asset.repo}".encode()).hexdigest()[:12]
    return Download(store.home() / "downloads" / f"{asset.repo.rpartition('/')[2]}-{key}")


def begin(hub: Path, asset: Wanted, secrets: Mapping[str, str] | None = None) -> Download:
    """Begin a download, or find the one that is at work. Raises `OmniError` when it cannot be begun."""
    refuse(hub)
    download = find(hub, asset)
    store.make_folder(download.folder)
    fd = _lock(download.folder, _READERS_S, fcntl.LOCK_EX)
    if fd is None:
        return download
    try:
        os.ftruncate(fd, 0)
        (download.folder / "stop").unlink(missing_ok=True)
        store.replace_file(download.folder / "told.json", msgspec.json.encode(Progress()), durable=False)
        _spawn(download, Request(str(hub), asset), secrets or {}, fd)
    except OSError as error:
        raise StoreError(f"the download could not be started: {error}") from error
    finally:
        os.close(fd)
    return download


def _spawn(download: Download, request: Request, secrets: Mapping[str, str], lock: int) -> None:
    """The child has the lock from its first instant, because it is handed the descriptor that holds it."""
    with open(os.open(download.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "omnitui.downloads.child", str(download.folder)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            pass_fds=[lock],
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if name not in _OFFLINE} | dict(secrets),
        )
    _CHILDREN.append(child)
    os.pwrite(lock, f"{child.pid}\n".encode(), 0)
    assert child.stdin
    with suppress(BrokenPipeError), child.stdin:
        child.stdin.write(msgspec.json.encode(request))


def refuse(hub: Path) -> None:
    """Raise `OmniError` where nothing can be written."""
    there = next(folder for folder in (hub, *hub.parents) if folder.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        owner = there.stat().st_uid
        raise OmniError(f"{there} belongs to user {owner} and cannot be written by you (user {os.geteuid()})")


def _lock(folder: Path, patience_s: float, how: int) -> int | None:
    """The descriptor that holds the lock, or None while a download has it."""
    until = time.monotonic() + patience_s
    try:
        fd = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    while True:
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                os.close(fd)
                return None
            time.sleep(0.01)
        else:
            return fd
