"""The part of a log pane that reads: it never waits for the disk longer than a moment."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual.message import Message
from textual.reactive import var
from textual.widget import Widget

from omnitui.logs import LineCount
from omnitui.logs.counting import Counter
from omnitui.logs.pages import RESTARTS, Ask, Page, Pages
from omnitui.logs.reader import Late, Reader
from omnitui.sanitise import plain

Then = Callable[[Page], None]


class LogReading(Widget):
    """Has one log file read and counted by threads. Subclasses show it."""

    patience_s: ClassVar[float] = 0.02
    """How long a key waits for the disk; what comes later is shown when it comes."""
    stale_s: ClassVar[float] = 2.0
    """After so long without an answer of the disk, what is shown is called STALE."""
    path: var[Path | None] = var[Path | None](None, init=False)
    """The file shown; another one opens at its end. It need not exist yet."""

    @dataclass
    class FollowChanged(Message):
        """The view began or ceased to follow the end of its file."""

        log_view: "LogReading"
        following: bool

    @dataclass
    class Answered(Message, bubble=False):
        """The disk has answered, late."""

        reader: Reader[Pages]
        late: Late

    @dataclass
    class LinesCounted(Message, bubble=False):
        """What a counting thread ends in."""

        since: LineCount
        count: LineCount

    def __init__(self, path: Path | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.set_reactive(LogReading.path, path)
        self.following = True
        """Whether the end of the file is kept in view."""
        self._reader: Reader[Pages] | None = None
        self._counter = Counter(self._counted)
        self._count = LineCount()
        self._page: Page | None = None
        self._problem = self._where = ""

    def on_mount(self) -> None:
        """Open the file."""
        self._open()

    def on_unmount(self) -> None:
        """Let go of the file."""
        self._close()

    def watch_path(self) -> None:
        """Open another file at its end."""
        if self.is_mounted:
            self._open()

    def _opened(self) -> None:
        """Show another file."""
        raise NotImplementedError

    def _show(self) -> None:
        """Read the lines on the screen and draw what is not there yet."""
        raise NotImplementedError

    def _paint(self) -> None:
        """Draw what differs from what is on the screen."""
        raise NotImplementedError

    def _open(self) -> None:
        self._close()
        if self.path is not None:
            self._reader = Reader(Pages(self.path), self._late)
        self._problem, self._page = "", None
        self._start_over()
        self._opened()

    def _close(self) -> None:
        self._counter.cancel()
        if self._reader is not None:
            self._reader.close(Pages.close)
        self._reader = None

    def _late(self, late: Late) -> None:
        reader = self._reader
        if reader is not None:
            self.post_message(self.Answered(reader, late))

    def on_log_reading_answered(self, message: Answered) -> None:
        """Show what came late, unless it is of a file that is no longer shown."""
        if message.reader is self._reader:
            self._take(message.late)

    def _start_over(self) -> None:
        """Forget what was known of a file that is another one by now."""
        self._counter.cancel()
        self._count = LineCount()
        self._where = "counting lines"
        self.following = True

    def _read(self, ask: Ask, then: Then, *, yields: bool = False) -> None:
        if self._reader is None:
            self._paint()
            return
        answer = self._reader.ask(then, lambda pages: pages.page(ask), self.patience_s, yields=yields)
        if answer is not None:
            self._take(answer)

    def _work(self, do: Callable[[Pages], object], then: Callable[[object], None]) -> None:
        """Have something else found out; `then` gets it."""
        if self._reader is not None:
            answer = self._reader.ask(then, do, self.patience_s)
            if answer is not None:
                self._take(answer)

    def _take(self, late: Late) -> None:
        if late.error is not None:
            problem = plain(late.error.strerror or str(late.error))
            if problem != self._problem:
                self._problem = problem
                self._paint()
            return
        page = late.value
        if isinstance(page, Page):
            told, self._problem = bool(self._problem), ""
            if page.change in RESTARTS:
                was = self.following
                self._start_over()
                if not was:
                    self.post_message(self.FollowChanged(self, True))
            self._count = page.count
            if callable(late.token):
                late.token(page)
            if told:
                self._paint()
        elif callable(late.token):
            late.token(late.value)

    def _count_on(self) -> None:
        page = self._page
        if self.path is not None and page is not None and page.identity is not None:
            self._counter.count(self.path, page.identity, self._count, page.size)

    def _counted(self, since: LineCount, count: LineCount) -> None:
        self.post_message(self.LinesCounted(since, count))

    def on_log_reading_lines_counted(self, message: LinesCounted) -> None:
        """Show the number of lines."""
        # A count that began before the file was cut or replaced starts from another object.
        if message.since is self._count:
            self._count = message.count
            self._show()
