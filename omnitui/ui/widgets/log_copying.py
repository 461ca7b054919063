"""Lines that the operator marks, chooses, copies and saves."""

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from omnitui.logs import LogFile
from omnitui.logs.files import Identity
from omnitui.logs.pages import Page
from omnitui.logs.saving import Part, lines_of, save, text_of
from omnitui.sanitise import plain
from omnitui.ui.clipboard import CLIPBOARD_BYTES, to_clipboard
from omnitui.ui.widgets.log_drawing import Signs
from omnitui.ui.widgets.log_filter import LogFilter
from omnitui.ui.widgets.log_rows import Place


class LogCopying(LogFilter):
    """Lets lines be marked and gone back to, and parts of the log be copied and saved as clean text."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "mark", "mark", show=False, tooltip="Log: mark the line that stands out, or the last one"),
        Binding("u", "to_mark(True)", "next mark", show=False, tooltip="Log: go to the next mark"),
        Binding("U", "to_mark(False)", "mark before", show=False, tooltip="Log: go to the mark before"),
        Binding("v", "choose", "choose", show=False, tooltip="Log: choose lines with the arrows, or by the mouse"),
        Binding(
            "Y",
            "copy",
            "copy",
            show=False,
            tooltip="Log: copy the chosen lines, the line, or all in view",
        ),
        Binding("S", "save", "save", show=False, priority=True, tooltip="Log: save the same to a file"),
    ]

    class Copied(Message, bubble=False):
        """The text for the clipboard, and whether that is not all."""

        def __init__(self, text: str, *, cut: bool) -> None:
            super().__init__()
            self.text = text
            self.cut = cut

    class Saved(Message, bubble=False):
        """What saving came to."""

        def __init__(self, said: str, *, failed: bool) -> None:
            super().__init__()
            self.said = said
            self.failed = failed

    ASKS: ClassVar[frozenset[str]] = LogFilter.ASKS | {"save"}

    _marks: tuple[int, ...] = ()
    _origin = -1
    """Where the line begins at which choosing began; -1 when nothing is chosen."""
    _wanted: tuple[Identity, Part] | None = None
    """What is saved once its file is named."""

    def _start_over(self) -> None:
        super()._start_over()
        self._marks, self._origin = (), -1

    # -- marks -------------------------------------------------------------------------------------------------

    def _current(self) -> int:
        """Return where the line begins that stands out, or the last one in view; -1 when there is none."""
        page = self._page
        if page is None or not self._rows:
            return -1
        seen = [page.lines[row.line].start for row in self._rows]
        return self.cursor if self.cursor in seen else seen[-1]

    def action_mark(self) -> None:
        """Mark the line, or take its mark away."""
        at = self._current()
        if at in self._marks:
            self._marks = tuple(mark for mark in self._marks if mark != at)
        elif at >= 0:
            self._marks = tuple(sorted((*self._marks, at)))
        self._paint()

    def action_to_mark(self, forward: bool) -> None:
        """Go to the next mark, or to the one before."""
        at = self._current() if self.cursor >= 0 or not forward else self._top.offset - 1
        index = bisect_right(self._marks, at) if forward else bisect_left(self._marks, at) - 1
        if 0 <= index < len(self._marks):
            self.point_at(self._marks[index])
        else:
            self.say("no mark further on" if forward else "no mark before")

    # -- choosing ----------------------------------------------------------------------------------------------

    def _chosen(self) -> range:
        if self._origin < 0 or self.cursor < 0:
            return range(0)
        return range(min(self._origin, self.cursor), max(self._origin, self.cursor) + 1)

    def _clearable(self) -> bool:
        return super()._clearable() or self._origin >= 0

    def action_clear(self) -> None:
        """End the choice first."""
        self._origin = -1
        super().action_clear()

    def action_choose(self) -> None:
        """Begin to choose at the line that stands out, or at the last one."""
        at = self._current()
        if at >= 0:
            self._origin = at
            self.point_at(at)

    def action_scroll_lines(self, lines: int) -> None:
        """Move the end of the choice, if there is one; otherwise scroll."""
        if self._origin < 0:
            super().action_scroll_lines(lines)
            return

        def moved(page: Page) -> None:
            if page.lines:
                self.point_at(page.lines[max(0, min(page.at + lines, len(page.lines) - 1))].start)

        self._read(self._ask(Place(self.cursor), max(0, -lines), max(0, lines) + 1), moved)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Let a line stand out; dragging chooses from there."""
        start = self._line_at(event)
        if start >= 0 and event.button == 1:
            self._origin = -1
            self._pause()
            self.point_at(start)
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Choose up to the line under the mouse."""
        start = self._line_at(event)
        if self.app.mouse_captured is self and start >= 0 and start != self.cursor:
            if self._origin < 0:
                self._origin = self.cursor
            self.point_at(start)

    def on_mouse_up(self) -> None:
        """Leave the choice as it is."""
        self.release_mouse()

    def _line_at(self, event: events.MouseEvent) -> int:
        offset, page = event.get_content_offset(self), self._page
        if offset is None or page is None or offset.y >= len(self._rows):
            return -1
        return page.lines[self._rows[offset.y].line].start

    # -- copying and saving ------------------------------------------------------------------------------------

    def _part(self) -> Part:
        """Return what is meant: the chosen lines, the line that stands out, or what is in view."""
        chosen, page = self._chosen(), self._page
        if chosen and self._matches is not None:
            return self._matches.between(chosen.start, chosen.stop)
        if chosen:
            return chosen
        if page is None or not self._rows:
            return ()
        seen = tuple(dict.fromkeys(page.lines[row.line].start for row in self._rows))
        return (self.cursor,) if self.cursor in seen else seen

    def action_copy(self) -> None:
        """Copy it to the clipboard of the operator's terminal."""
        path, part = self.path, self._part()
        if path is None or not part:
            return

        def read() -> None:
            log = LogFile(path)
            try:
                log.refresh()
                text, cut = _bounded(text_of(lines_of(log, part)))
            except OSError as error:
                self.post_message(self.Saved(f"cannot copy: {error.strerror or error}", failed=True))
            else:
                self.post_message(self.Copied(text, cut=cut))
            finally:
                log.close()

        threading.Thread(target=read, daemon=True, name="log-copy").start()

    def on_log_copying_copied(self, message: Copied) -> None:
        """Hand the text to the terminal."""
        to_clipboard(self.app, message.text, "S saves all to a file", cut=message.cut)

    async def action_save(self) -> None:
        """Ask for a file."""
        page, part = self._page, self._part()
        if self.path is not None and page is not None and page.identity is not None and part:
            # Not what will be in view when the name is typed: the log goes on meanwhile.
            self._wanted = page.identity, part
            name = f"{self.path.parent.name}-{self.path.name}-{datetime.now():%H%M%S}.txt"
            await self.ask("save", "save to", str(Path.cwd() / plain(name)), "a file that is not there yet")

    def given(self, about: str, text: str) -> None:
        """Save to that file."""
        path, wanted = self.path, self._wanted
        if about != "save" or path is None or wanted is None:
            super().given(about, text)
            return
        (identity, part), target = wanted, Path(text.strip()).expanduser()

        def written() -> None:
            try:
                count = save(path, identity, part, target)
            except OSError as error:
                self.post_message(self.Saved(f"{target}: {error.strerror or error}", failed=True))
            else:
                self.post_message(self.Saved(f"{count:,} characters saved to {target}", failed=False))

        threading.Thread(target=written, daemon=True, name="log-save").start()

    def on_log_copying_saved(self, message: Saved) -> None:
        """Tell what came of it."""
        self.notify(plain(message.said), severity="error" if message.failed else "information", markup=False)

    # -- drawing -----------------------------------------------------------------------------------------------

    def _signs(self) -> Signs:
        return super()._signs().with_marks(self._marks, self._chosen())

    def _words(self, page: Page) -> Iterator[str]:
        yield from super()._words(page)
        if self._origin >= 0:
            yield "choosing: Y copies, S saves"
        if self._marks:
            yield f"{len(self._marks)} marked"


def _bounded(texts: Iterator[str]) -> tuple[str, bool]:
    taken: list[str] = []
    left = CLIPBOARD_BYTES
    for text in texts:
        data = text.encode(errors="replace")
        if len(data) > left:
            return "".join([*taken, data[:left].decode(errors="ignore")]), True
        taken.append(text)
        left -= len(data)
    return "".join(taken), False
