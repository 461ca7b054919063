"""How far a running step is: told by tqdm's bars in its log, or by counting the files that it leaves.

Counting can hang with a network disk, so it is only called from threads that nobody waits for, or by whoever has
nothing else to do.
"""

import os
import time
from collections import deque
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from omnitui.bars import last_bar
from omnitui.errors import OmniError
from omnitui.jobs.folder import JobFolder
from omnitui.logs import blanked, leaks_of
from omnitui.model import Running, RunState
from omnitui.places import output_at
from omnitui.plan import PlannedStep
from omnitui.runbook.schema import Command, Runbook
from omnitui.runbook.variables import expand
from omnitui.store import RunFolder
from omnitui.values import of_scope

_TAIL_BYTES = 1 << 16
_WINDOW_S = 60.0
_CLOCKS_S = 2.0
"""How far a file's time may lie before the step's own, which another clock may have told."""
_MOST_FILES = 200_000
_SHARE = 200
"""Counting takes at most one second of so many."""


class Progress(Struct, frozen=True):
    """How many of how many; `total`, `per_s` and `left_s` are None where they are not known."""

    done: float
    total: float | None = None
    per_s: float | None = None
    left_s: float | None = None
    label: str = ""

    @property
    def share(self) -> float | None:
        """Between 0 and 1."""
        return min(1.0, self.done / self.total) if self.total else None


class Meter:
    """Reads the progress of one run's running step, again and again."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._about: tuple[str, int] = ("", 0)
        self._counts: deque[tuple[float, int]] = deque()
        self._again_at = self._blind_until = 0.0
        self._log: tuple[tuple[int, int], Progress | None] | None = None

    def read(self, runbook: Runbook, state: RunState, planned: PlannedStep, now: float) -> Progress | None:
        """The progress at `now`, in seconds since the epoch; None when nothing tells it."""
        status = state.step(planned.id).status
        if not isinstance(status, Running):
            return None
        if self._about != (planned.id, status.attempt):
            self._about = (planned.id, status.attempt)
            self._counts.clear()
            self._log = None
            self._again_at = self._blind_until = 0.0
        began = datetime.fromisoformat(status.since).timestamp()
        counted = self._counted(runbook, state, planned, began, now)
        # A bar tells more than no file at all: the step may still be loading.
        return counted if counted and counted.done else self._drawn(planned, status.attempt) or counted

    def _counted(
        self, runbook: Runbook, state: RunState, planned: PlannedStep, began: float, now: float
    ) -> Progress | None:
        step = planned.step
        if not isinstance(step, Command) or step.progress is None:
            return None
        if now < self._blind_until:
            return None
        try:
            values = of_scope(runbook, state, planned.scope, self._run.path)
            out = output_at(runbook, state, planned.scope, self._run).host
            pattern, expected = expand(step.progress.files, values), expand(step.progress.expect, values)
        except OmniError:
            # The engine that was asked where the folder lies may say no: that costs it a process each time.
            self._blind_until = now + _WINDOW_S
            return None
        total = float(expected) if expected.isdecimal() and int(expected) else None
        if not self._counts or now >= self._again_at:
            begun = time.monotonic()
            self._counts.append((now, count_files(out, pattern, began - _CLOCKS_S)))
            # Many files, or a slow disk: the pass is measured while they are counted.
            self._again_at = now + _SHARE * (time.monotonic() - begun)
        now, done = self._counts[-1]
        while now - self._counts[0][0] > _WINDOW_S:
            self._counts.popleft()
        return paced(done, total, self._counts[0], now)

    def _drawn(self, planned: PlannedStep, attempt: int) -> Progress | None:
        log = JobFolder(self._run.job(planned.id, attempt)).log
        try:
            fd = os.open(log, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            status = os.fstat(fd)
            print_ = (status.st_size, status.st_mtime_ns)
            if self._log is None or self._log[0] != print_:
                start = max(0, status.st_size - _TAIL_BYTES)
                data = blanked(os.pread(fd, _TAIL_BYTES, start), start, leaks_of(log))
                self._log = (print_, _of_log(data, whole=not start))
        except OSError:
            return None
        finally:
            os.close(fd)
        return self._log[1]


def _of_log(data: bytes, *, whole: bool) -> Progress | None:
    text = data.decode(errors="replace")
    if not whole:
        # What stands before the first end of a line began where nobody read.
        text = text[min((at for at in (text.find("\r"), text.find("\n")) if at >= 0), default=len(text)) :]
    bar = last_bar(text)
    return Progress(bar.done, bar.total, bar.per_s, bar.left_s, bar.label) if bar else None


def paced(done: int, total: float | None, since: tuple[float, int], now: float) -> Progress:
    """A count with its rate since an earlier one, and with the time left at that rate."""
    span, gained = now - since[0], done - since[1]
    per_s = gained / span if span > 0 and gained > 0 else None
    left = (total - done) / per_s if per_s and total is not None and total >= done else None
    return Progress(float(done), total, per_s, left)


def count_files(folder: Path, pattern: str, newer_than: float) -> int:
    """How many files below `folder` match a glob and are younger; what cannot be read is not counted."""
    found = 0
    try:
        for path in folder.glob(pattern):
            try:
                found += path.stat().st_mtime >= newer_than
            except OSError:
                continue
            if found >= _MOST_FILES:
                break
    except (OSError, ValueError, NotImplementedError):
        return found
    return found


def told(progress: Progress) -> str:
    """One line: `640/1088 (59 %) · 15.6/s · 28 s left`."""
    parts = [_figure(progress.done) + (f"/{_figure(progress.total)}" if progress.total else "")]
    if progress.share is not None:
        parts[0] += f" ({100 * progress.share:.0f} %)"
    if progress.per_s:
        parts.append(rate_of(progress.per_s))
    if progress.left_s:
        parts.append(f"{left_of(progress.left_s)} left")
    return " · ".join(parts)


def rate_of(per_s: float) -> str:
    """`15.6/s`, or `4.2 s each` where one takes longer than a second."""
    return f"{per_s:.3g}/s" if per_s >= 1 else f"{1 / per_s:.3g} s each"


def left_of(seconds: float) -> str:
    """A time that is only about right: `28 s`, `6 min`, `2 h 10 min`."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _figure(number: float) -> str:
    return f"{number:.0f}" if number < 1e6 else f"{number:.3g}"
