"""How far a download is: counts what the library's progress bars are told, and tells it to the readers."""

import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from omnitui import store
from omnitui.downloads.events import Event, NotFetched, Progress
from omnitui.errors import StoreError

_TOLD_EVERY_S = 0.3
_RATE_OVER_S = 10.0
_PATIENCE_S = 2.0
"""How long the library may take to let go of its files after it was asked to stop."""
STOPPED = NotFetched(
    "stopped; the files that are whole are kept, and the next download goes on with the others", True
)


class Stopped(BaseException):
    """The operator asked to stop. No `Exception`: no retry in the library may take it for a failure."""


class Meter:
    """Counts, tells, and listens for the request to stop, in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = self._size = self._of_files = self._of_size = 0
        self._seen: deque[tuple[float, int]] = deque()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="meter", daemon=True)
        self.stop_asked = threading.Event()

    def start(self) -> None:
        """Tell the progress from now on."""
        self._thread.start()

    def expect(self, sizes: Mapping[str, int], there: int) -> None:
        """These files, with their sizes in bytes; so many bytes of them are there already."""
        self._of_files, self._of_size = len(sizes), sum(sizes.values())
        self._size = there

    def count(self, files: int, size: int) -> None:
        """Some more has come, or gone again. Raises `Stopped`."""
        self._files += files
        self._size += size
        if self.stop_asked.is_set():
            raise Stopped

    def _progress(self) -> Progress:
        now, size = time.monotonic(), min(self._size, self._of_size)
        if self._of_files:
            self._seen.append((now, size))
        while self._seen and self._seen[0][0] < now - _RATE_OVER_S:
            self._seen.popleft()
        since, first = self._seen[0] if self._seen else (now, size)
        rate = max(0.0, (size - first) / (now - since)) if now > since else 0.0
        left_s = (self._of_size - size) / rate if rate else None
        return Progress(self._files, self._of_files, size, self._of_size, rate, left_s)

    def _tell(self, event: Event) -> None:
        store.replace_file(self._folder / "told.json", msgspec.json.encode(event), durable=False)

    def _run(self) -> None:
        while not self._ended.wait(_TOLD_EVERY_S):
            if (self._folder / "stop").exists():
                self.stop_asked.set()
                if not self._ended.wait(_PATIENCE_S):
                    self._leave()
                return
            # A full disk is told at the end, by the download itself.
            with suppress(StoreError):
                self._tell(self._progress())

    def end(self, event: Event) -> None:
        """Tell how it ended, and no more."""
        self._ended.set()
        self._thread.join()
        self._tell(_dated(event))

    def _leave(self) -> None:
        """End the process though the library has not let go, without leaving half a file behind."""
        for link in Path("/proc/self/fd").glob("*"):
            with suppress(OSError):
                path = Path(os.readlink(link))  # noqa: PTH115
                if path.suffix == ".incomplete":
                    path.unlink()
        self._tell(_dated(STOPPED))
        os._exit(1)


def _dated(event: Event) -> Event:
    return event if isinstance(event, Progress) else replace(event, at=time.time())
