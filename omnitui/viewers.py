"""Who watches a run, and what that costs: each viewer has a small file there, the runner reads their CPU time."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from omnitui import store
from omnitui.errors import StoreError
from omnitui.places.local import boot_id, identity_of
from omnitui.probes.procfs import seen
from omnitui.store import RunFolder

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class Viewer:
    """This process, as one that watches a run. Its file, which is named by its identity, goes with it.

    Where none can be written, nobody counts what the watching costs, and that is all.
    """

    def __init__(self, run: RunFolder) -> None:
        self._folder = run.viewers
        self._file: Path | None = None

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file:
            with suppress(OSError):
                self._file.unlink()

    def watches(self, *, live: bool) -> None:
        """It watches now; nothing is written into the folder of a run on which nobody is at work."""
        if self._file or not live:
            return
        who = identity_of(os.getpid())
        self._file = self._folder / f"{who.pid}.{who.start}.{who.boot}"
        with suppress(StoreError):
            store.make_folder(self._folder)
            store.replace_file(self._file, b"", durable=False)
        for file, ticks in _viewers(self._folder):
            if ticks is None:
                with suppress(OSError):
                    # Who was killed has left it.
                    file.unlink()


class Viewers:
    """All that watch a run on this host."""

    def __init__(self, run: RunFolder) -> None:
        self._folder = run.viewers
        self._ticks: dict[Path, tuple[int, int]] = {}

    def spent_s(self) -> float:
        """CPU seconds that they have taken since the first look at each of them, gone ones included."""
        for file, ticks in _viewers(self._folder):
            if ticks is not None:
                first, _ = self._ticks.get(file, (ticks, ticks))
                self._ticks[file] = (first, ticks)
        return sum(last - first for first, last in self._ticks.values()) / _TICKS_A_SECOND


def _viewers(folder: Path) -> Iterator[tuple[Path, int | None]]:
    """The viewers of this boot, and their CPU time in clock ticks; None of one that is gone."""
    files: list[Path] = []
    with suppress(OSError):
        files = list(folder.iterdir())
    for file in files:
        pid, _, rest = file.name.partition(".")
        start, _, boot = rest.partition(".")
        if pid.isdecimal() and boot == boot_id():
            found = seen(int(pid))
            yield file, found.ticks if found and str(found.start) == start and not found.zombie else None
