"""What the Run screen knows of the machine: read from the run's telemetry, or from a monitor of its own."""

import time
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial

from textual.reactive import var
from textual.worker import Worker

from omnitui import telemetry
from omnitui.machine import KEPT_S, Machine, seen
from omnitui.model import Running
from omnitui.samples import Line, Sample, Started, cpus_of
from omnitui.sampling import Watched, samples
from omnitui.snapshot import Snapshot
from omnitui.store import RunFolder
from omnitui.telemetry import Tail
from omnitui.ui.host_texts import AppCost
from omnitui.ui.keeping_off import keep_off
from omnitui.ui.run_messages import MachineRead, TimelineRead
from omnitui.ui.screens.remedy_keys import RemedyKeys
from omnitui.ui.signs import epoch
from omnitui.ui.timeline_texts import Stretch, Window
from omnitui.ui.widgets.reading_panes import ReadingPanes, View
from omnitui.ui.widgets.timeline import Timeline

_COST_TICKS = 30
_TIMELINE_EVERY_S = 5.0
_FRESH_ENOUGH_S = 1.2
"""What was drawn so lately for a new sample need not be drawn again because a second is over."""
_ALONE_TICKS = 2
"""So long no runner is at work before a monitor of one's own is started: a hand-over is shorter."""


class MachineWatch:
    """Reads what the run's telemetry and the servers' logs say; used by one thread."""

    def __init__(self, run: RunFolder, now: float) -> None:
        self._tail = Tail(run, now - KEPT_S)
        self._stamp: tuple[int, int, int] | None = None
        self._run = run

    def lines(self) -> tuple[Line, ...]:
        """What is new: a stat when nothing is."""
        try:
            found = self._run.telemetry.stat()
        except OSError:
            return ()
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if stamp == self._stamp:
            return ()
        self._stamp = stamp
        return tuple(self._tail.lines())


def log_times(snapshot: Snapshot) -> dict[str, float]:
    """When the servers' logs were last written."""
    times = {}
    for name, job in snapshot.server_logs().items():
        with suppress(OSError):
            times[name] = job.log.stat().st_mtime
    return times


class LivePanes(RemedyKeys):
    """Shows the machine and the servers. A monitor of its own runs only while no runner does and it is seen."""

    # Not a reactive: that would draw the whole screen again at each change.
    machine: var[Machine] = var(Machine(), init=False)
    """All that is known of the machine."""

    def __init__(self) -> None:
        super().__init__()
        self._watched = Watched()
        self._log_times: Mapping[str, float] = {}
        self._spent: deque[tuple[float, float]] = deque(maxlen=_COST_TICKS)
        self._where = ""
        self._monitor: Worker[None] | None = None
        self._alone = 0
        self._timeline_at = self._shown_at = 0.0

    @staticmethod
    def clock() -> float:
        """Seconds since the epoch."""
        return time.time()

    @staticmethod
    def own_samples(watched: Watched) -> AbstractAsyncContextManager[AsyncIterator[Started | Sample]]:
        """What a monitor of the app's own tells."""
        return samples(watched)

    def on_machine_read(self, message: MachineRead) -> None:
        """Take in what was read, and keep off the CPUs that the run names."""
        self._log_times = message.log_times
        if message.watched != self._watched:
            if message.watched.cpus != self._watched.cpus:
                self._where = keep_off(cpus_of(message.watched.cpus))
            self._watched = message.watched
            self.watched_changed()
        if message.lines:
            self.machine = seen(self.machine, message.lines)

    def watched_changed(self) -> None:
        """The run names other GPUs or CPUs than was known."""

    def watch_machine(self) -> None:
        """Show it."""
        self.show_readings()

    def on_unmount(self) -> None:
        """The app goes back to the operator's CPUs."""
        keep_off(frozenset())

    def show_readings(self) -> None:
        """Show the machine as it is now."""
        if self.snapshot is not None and self.is_mounted:
            self._shown_at = time.monotonic()
            app = AppCost(self.app_percent(), self._where)
            now = self.clock()
            view = View(self.snapshot, self.machine, self._watched, self._log_times, app, now)
            self.query_one(ReadingPanes).show(view)

    def app_percent(self) -> float | None:
        """What the app took of one core over the last half minute."""
        (first_s, first), (last_s, last) = (self._spent[0], self._spent[-1]) if self._spent else ((0.0, 0.0),) * 2
        return 100 * (last - first) / (last_s - first_s) if last_s > first_s else None

    def tick_machine(self) -> None:
        """Once a second: what grows old, what it costs, and whether somebody has to look."""
        self._spent.append((time.monotonic(), time.process_time()))
        if time.monotonic() - self._shown_at >= _FRESH_ENOUGH_S:
            self.show_readings()
        alone = self.snapshot is not None and self.snapshot.holder is None and self.is_current
        visible = any(self.query_one(f"#{name}").display for name in ("gpu", "host"))
        self._alone = self._alone + 1 if alone and visible else 0
        if self._alone >= _ALONE_TICKS and self._monitor is None:
            self._monitor = self.run_worker(partial(self._look, self._watched), group="monitor")
        elif not self._alone and self._monitor is not None:
            self._monitor.cancel()
            self._monitor = None
        if time.monotonic() - self._timeline_at >= _TIMELINE_EVERY_S:
            self.read_timeline(again=True)

    async def _look(self, watched: Watched) -> None:
        async with self.own_samples(watched) as lines:
            async for line in lines:
                self.machine = seen(self.machine, (line,))

    # -- the time line -----------------------------------------------------------------------------------------

    def read_timeline(self, *, again: bool = False) -> None:
        """Read what the time line shows, if it is to be seen; `again`, only where it may have grown."""
        pane = self.query_one(Timeline)
        if not pane.display or self.snapshot is None or (again and pane.window.until):
            return
        self._timeline_at = time.monotonic()
        work = partial(self._read_timeline, pane.window, 2 * pane.size.width)
        self.run_worker(work, thread=True, group="timeline", exclusive=True)

    def _read_timeline(self, window: Window, at_most: int) -> None:
        lines = telemetry.read(self.run, window.since, window.until or float("inf"), at_most)
        self.post_message(TimelineRead(tuple(lines), window))

    def on_timeline_wanted(self) -> None:
        """Another window."""
        self.read_timeline()

    def on_timeline_read(self, message: TimelineRead) -> None:
        """Show it, unless yet another window is wanted by now."""
        pane, snapshot = self.query_one(Timeline), self.snapshot
        if snapshot is not None and pane.window == message.window:
            titles = {planned.id: planned.step.title for planned in snapshot.plan}
            pane.show(message.lines, message.window, titles, _running(snapshot))


def _running(snapshot: Snapshot) -> Stretch | None:
    status = snapshot.record(snapshot.current).status if snapshot.current else None
    if snapshot.current is None or snapshot.holder is None or not isinstance(status, Running):
        return None
    return Stretch(snapshot.current.id, epoch(status.since), 0.0)
