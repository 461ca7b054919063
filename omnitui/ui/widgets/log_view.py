"""A pane that shows one log file of any size: it reads the lines on the screen and no others."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import get_current_worker

from omnitui.logs import MARK_BYTES, Change, Identity, LineCount, LogFile, LogLine, count_lines
from omnitui.sanitise import plain
from omnitui.ui.widgets.log_strips import LogStrips, Look, changed_rows

_SHIFT_CELLS = 8
_WHEEL_LINES = 3


class LogView(Widget, can_focus=True):
    """Shows the file at `path` and follows its end until the user scrolls up.

    Scrolling down past the end follows again, as `end`, `G` and `f` do. The last row of the pane says where it is.
    """

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"log-view--status", "log-view--paused", "log-view--mark"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_lines(-1)", "Up", show=False),
        Binding("down", "scroll_lines(1)", "Down", show=False),
        Binding("pageup", "scroll_pages(-1)", "Page up", show=False),
        Binding("pagedown,space", "scroll_pages(1)", "Page down", show=False),
        Binding("home,g", "show_start", "Start", show=False),
        Binding("end,G,f", "show_tail", "Follow", key_display="f"),
        Binding("left", "shift(-1)", "Left", show=False),
        Binding("right", "shift(1)", "Right", show=False),
    ]

    poll_s: ClassVar[float] = 0.25
    """How often the file is looked at while the pane is on the screen."""
    unfocused_paint_s: ClassVar[float] = 1.0
    """How long a pane without the focus rests after it has drawn growth."""

    path: var[Path | None] = var[Path | None](None, init=False)
    """The file shown; another one opens at its end. It need not exist yet."""
    following: var[bool] = var(True, init=False)
    """Whether the end of the file is kept in view."""

    @dataclass
    class FollowChanged(Message):
        """The view began or ceased to follow the end of its file."""

        log_view: "LogView"
        following: bool

    @dataclass
    class LinesCounted(Message, bubble=False):
        """What a counting worker ends in."""

        since: LineCount
        count: LineCount

    def __init__(self, path: Path | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.set_reactive(LogView.path, path)
        self._log: LogFile | None = None
        self._problem = self._where = self._status_text = ""
        self._top = self._shift_cells = 0
        self._rows: tuple[LogLine, ...] = ()
        self._rows_size = Size(0, 0)
        self._strips = LogStrips()
        self._count = LineCount()
        self._counting = False
        self._drawn_at_s = 0.0

    def on_mount(self) -> None:
        """Open the file and begin to look at it."""
        self._open()
        self.set_interval(self.poll_s, self._tick)

    def on_unmount(self) -> None:
        """Let go of the file."""
        if self._log is not None:
            self._log.close()

    def on_show(self) -> None:
        """Catch up with what came while the pane was hidden."""
        self._look()

    def on_resize(self) -> None:
        """Read more lines, or fewer."""
        self._show()

    def watch_path(self) -> None:
        """Open another file at its end."""
        if self.is_mounted:
            self._open()

    def watch_following(self, following: bool) -> None:
        """Tell the parent, and go to the end when following."""
        if self.is_mounted:
            self.post_message(self.FollowChanged(self, following))
            self._show()

    def show_tail(self) -> None:
        """Go to the end of the file and follow it."""
        self.following = True

    action_show_tail = show_tail

    def show_from(self, offset: int) -> None:
        """Pause with the line that holds byte `offset` at the top, or as near as the end of the file allows."""
        if self._log is None:
            return
        self._top = self._log.start_of(offset)
        if self.following:
            self.following = False
        else:
            self._show()

    def action_show_start(self) -> None:
        """Go to the first line."""
        if self._rows and self._rows[0].start > 0:
            self.show_from(0)

    def action_scroll_pages(self, pages: int) -> None:
        """Go down by `pages` screens, one line of overlap each, or up by as many when negative."""
        self.action_scroll_lines(pages * max(1, self._height - 1))

    def action_scroll_lines(self, lines: int) -> None:
        """Go down by `lines`, or up when negative; going down at the end follows."""
        if self._log is None:
            return
        if lines < 0:
            if before := self._log.lines_before(self._top, -lines):
                self.show_from(before[0].start)
        elif not self.following:
            below = self._log.lines_after(self._top, self._height + lines)
            if len(below) <= self._height:
                self.following = True
            else:
                self.show_from(below[min(lines, len(below) - self._height)].start)

    def action_shift(self, steps: int) -> None:
        """Move the view to the right by `steps` of eight cells, or to the left when negative."""
        right = self._shift_cells + self.size.width
        more = self._shift_cells > 0 if steps < 0 else any(self._strips.reaches(row, right) for row in self._rows)
        if more:
            self._shift_cells = max(0, self._shift_cells + steps * _SHIFT_CELLS)
            self._show()
            self.refresh()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Go up."""
        event.stop()
        self.action_scroll_lines(-_WHEEL_LINES)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Go down."""
        event.stop()
        self.action_scroll_lines(_WHEEL_LINES)

    @property
    def _height(self) -> int:
        return max(1, self.size.height - 1)

    def _open(self) -> None:
        if self._log is not None:
            self._log.close()
        self._log = None if self.path is None else LogFile(self.path)
        self._shift_cells, self._problem = 0, ""
        self._start_over()
        self._look()
        self._show()

    def _start_over(self) -> None:
        self.workers.cancel_group(self, "line-count")
        self._counting = False
        self._count = LineCount()
        self._where = "counting lines"
        self.following = True

    def _tick(self) -> None:
        if self.screen.is_current and self.is_on_screen:
            if self.has_focus or monotonic() - self._drawn_at_s >= self.unfocused_paint_s:
                self._look()
            self._count_in_thread()

    def _look(self) -> None:
        """Show what has changed in the file since the last look."""
        if self._log is None:
            return
        change, problem = Change.UNCHANGED, ""
        try:
            change = self._log.refresh()
        except OSError as error:
            problem = plain(error.strerror or str(error))
        if change is Change.UNCHANGED and problem == self._problem:
            return
        self._problem = problem
        if change in (Change.APPEARED, Change.TRUNCATED, Change.ROTATED):
            self._start_over()
        self._show()

    def _show(self) -> None:
        """Read the lines on the screen and draw those that are not there yet."""
        width, height = self.size
        rows, status = self._rows, self._status_text
        self._read_rows()
        if dirty := changed_rows(rows, self._rows):
            self.refresh(Region(0, dirty[0], width, dirty[1] - dirty[0] + 1))
        if status != self._status_text:
            self.refresh(Region(0, height - 1, width, 1))
        if dirty or status != self._status_text:
            self._drawn_at_s = monotonic()

    def _read_rows(self) -> None:
        self._rows_size = self.size
        self._rows, self._status_text = (), ""
        try:
            if self._log is not None:
                self._rows = self._lines_on_screen(self._log)
                self._count_at_once(self._log)
                self._status_text = self._status(self._log)
        except OSError as error:
            self._status_text = plain(error.strerror or str(error))
        self._strips.keep(self._rows)

    def _lines_on_screen(self, log: LogFile) -> tuple[LogLine, ...]:
        rows = () if self.following else log.lines_after(self._top, self._height)
        if len(rows) < self._height:
            rows = log.tail(self._height)
        self._top = rows[0].start if rows else 0
        return rows

    def _status(self, log: LogFile) -> str:
        if self._problem:
            return f"{plain(log.path.name)}: {self._problem}"
        if log.identity is None:
            return f"waiting for {plain(log.path.name)}"
        number = log.line_number(self._count, self._rows[-1].start) if self._rows else None
        if number is not None:
            self._where = f"line {number:,} of {self._count.lines:,}"
        words = [self._where if self._rows else "empty", "following" if self.following else "paused"]
        if self._shift_cells:
            words.append(f"from column {self._shift_cells + 1}")
        return " · ".join(words)

    def _count_at_once(self, log: LogFile) -> None:
        behind = log.size - self._count.counted_bytes
        if log.identity is not None and not self._counting and 0 < behind <= MARK_BYTES:
            self._count = count_lines(log.path, log.identity, self._count, log.size)

    def _count_in_thread(self) -> None:
        log = self._log
        if log is None or log.identity is None or self._counting:
            return
        if log.size - self._count.counted_bytes > MARK_BYTES:
            self._counting = True
            work = partial(self._count_lines, log.path, log.identity, self._count, log.size)
            self.run_worker(work, thread=True, group="line-count")

    def _count_lines(self, path: Path, identity: Identity, since: LineCount, until: int) -> None:
        worker = get_current_worker()
        try:
            count = count_lines(path, identity, since, until, lambda: worker.is_cancelled)
        except OSError:
            count = since
        self.post_message(self.LinesCounted(since, count))

    def on_log_view_lines_counted(self, message: LinesCounted) -> None:
        """Show the number of lines."""
        # A count that began before the file was cut or replaced starts from another object.
        if message.since is self._count:
            self._counting = False
            self._count = message.count
            self._show()

    def render_line(self, y: int) -> Strip:
        """Draw one row of the pane; `y` counts from the top of its content."""
        # The first paint comes before the Resize event.
        if self._rows_size != self.size:
            self._read_rows()
        width = self.size.width
        if y == self.size.height - 1:
            state = "status" if self.following else "paused"
            style = self.get_component_rich_style(f"log-view--{state}")
            return Strip([Segment(self._status_text, style)]).crop_extend(0, width, style)
        if y >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        mark = self.get_component_rich_style("log-view--mark")
        return self._strips.strip(self._rows[y], Look(self._shift_cells, width, self.rich_style, mark))
