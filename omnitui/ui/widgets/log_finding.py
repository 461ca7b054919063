"""What is sought in a log, and where the view goes then. Everything that searches is a process of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from omnitui import config
from omnitui.errors import UsageError
from omnitui.logs.pages import Page
from omnitui.logs.patterns import Pattern
from omnitui.logs.scan import Scanned
from omnitui.logs.scanning import Refused, Request, Scanning
from omnitui.ui.widgets.log_asking import LogAsking
from omnitui.ui.widgets.log_drawing import Signs
from omnitui.ui.widgets.log_moving import LOG_KEYS

_EXPRESSION = "a regular expression; small letters match capitals too"
_PLACES = "a line number, 50%, a time such as 12:30:05, or -10m before the end"


class LogFinding(LogAsking):
    """Searches forward and back for lines, one at a time, and goes to places that are named."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash",
            "search",
            "search",
            key_display="/",
            priority=True,
            group=LOG_KEYS,
            tooltip="Log: search forward or back",
        ),
        Binding("n", "find(True)", "next match", show=False, tooltip="Log: the next match, while one is sought"),
        Binding("N", "find(False)", "match before", show=False, tooltip="Log: the match before"),
        Binding("E", "first_error", "error", group=LOG_KEYS, tooltip="Log: the first error; n goes to the next"),
        Binding(
            "colon",
            "go_to",
            "go to",
            show=False,
            key_display=":",
            priority=True,
            tooltip="Log: go to a line, 50%, or a time",
        ),
        Binding("escape", "clear", "clear", tooltip="Log: end the search, the filter, the selection"),
    ]

    @dataclass
    class Told(Message, bubble=False):
        """What a search has come to."""

        request: Request
        answer: Scanned | Refused

    ASKS: ClassVar[frozenset[str]] = LogAsking.ASKS | {"search", "go_to"}

    cursor = -1
    """Where the line begins that was found, or that was clicked on; -1 for none."""
    _sought: Pattern | None = None
    _filter: Pattern | None = None

    @staticmethod
    def errors() -> str:
        """Return the expression that errors match, as the config file has it."""
        try:
            return config.read().log_errors
        except UsageError:
            return config.Config().log_errors

    def on_mount(self) -> None:
        """Have a search process at hand; it starts when it is first needed."""
        self._search = Scanning(lambda request, answer: self.post_message(self.Told(request, answer)))

    def on_unmount(self) -> None:
        """End it."""
        self._search.cancel()

    def _start_over(self) -> None:
        super()._start_over()
        self._search.cancel()
        self._said, self.cursor = "", -1

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Some keys are the screen's own until something is sought here."""
        if action == "find":
            return self._sought is not None
        return self._clearable() if action == "clear" else super().check_action(action, parameters)

    def _clearable(self) -> bool:
        return bool(self._sought or self._said or self.cursor >= 0)

    def action_clear(self) -> None:
        """End the search."""
        self._search.cancel()
        self._sought, self._said, self.cursor = None, "", -1
        self.refresh_bindings()
        self._paint()

    # -- searching ---------------------------------------------------------------------------------------------

    async def action_search(self) -> None:
        """Ask for an expression."""
        await self.ask("search", "/", self._sought.text if self._sought else "", _EXPRESSION)

    def action_first_error(self) -> None:
        """Look for errors, from the beginning on."""
        if self._seek(self.errors()):
            self._find(0, forward=True)

    def action_find(self, forward: bool) -> None:
        """Look for the next match, or for the one before."""
        if forward:
            self._find(self.cursor + 1 if self.cursor >= 0 else self._top.offset, forward=True)
        else:
            self._find(self.cursor if self.cursor >= 0 else self._bottom(), forward=False)

    def _bottom(self) -> int:
        page = self._page
        if page is None or not self._rows:
            return 0
        return page.size if self.following else page.lines[self._rows[-1].line].end

    def given(self, about: str, text: str) -> None:
        """Search for it, or go there."""
        if about == "search" and text:
            if self._seek(text):
                # Of what is followed, the latest match is wanted: there is nothing further on.
                self.action_find(not self.following)
        elif about == "go" and text.strip():
            self._go_to(text.strip())
        else:
            super().given(about, text)

    def _seek(self, text: str) -> bool:
        pattern = self._pattern(text)
        if pattern is None:
            return False
        self._sought, self.cursor = pattern, -1
        self.refresh_bindings()
        return True

    def _pattern(self, text: str) -> Pattern | None:
        try:
            return Pattern(text)
        except UsageError as error:
            self.say(str(error))
            return None

    def _lacks_log(self) -> bool:
        """Whether there is nothing to look through; that is told where the operator looks, below an empty pane."""
        if self.path is not None and self._page is not None and self._page.identity is not None:
            return False
        there = (
            f"{self.path.name} is not there, or not read yet."
            if self.path
            else "There is no log here to look through."
        )
        self.notify(there, markup=False)
        return True

    def _find(self, start: int, *, forward: bool) -> None:
        page, sought = self._page, self._sought
        if sought is None or self._lacks_log():
            return
        assert self.path is not None and page is not None and page.identity is not None
        patterns = tuple(one.text for one in (sought, self._filter) if one is not None)
        request = Request(str(self.path), page.identity, patterns, start, forward)
        try:
            self._search.ask(request)
        except OSError as error:
            self.say(f"cannot search: {error.strerror or error}")
        else:
            self.say(f"/{sought.text}: looking {'on' if forward else 'back'}")

    def on_log_finding_told(self, message: Told) -> None:
        """Go to what was found, or tell how far the search is."""
        request, answer, page = message.request, message.answer, self._page
        if request is not self._search.request or page is None or self._sought is None:
            return
        words = f"/{self._sought.text}"
        if isinstance(answer, Refused):
            self._search.answered(request)
            self.say(f"{words}: {answer.why}")
        elif not answer.done:
            self.say(f"{words}: looking {'on' if request.forward else 'back'} · {percent(answer.at, page.size)}")
        else:
            self._search.answered(request)
            found = answer.starts[0] if answer.starts else answer.unfinished
            if found < 0:
                self.say(
                    f"{words}: none {'further on; N looks back' if request.forward else 'before; n looks on'}"
                )
            else:
                self._said = words
                self.point_at(found)

    def point_at(self, start: int) -> None:
        """Make a line stand out, and bring it into view."""
        self.cursor = start
        self.refresh_bindings()
        page = self._page
        if page is not None and any(page.lines[row.line].start == start for row in self._rows):
            self._pause()
            self._paint()
        else:
            self.show_from(start, above=self._height // 3)

    # -- places ------------------------------------------------------------------------------------------------

    async def action_go_to(self) -> None:
        """Ask for a place."""
        await self.ask("go", ":", "", _PLACES)

    def _go_to(self, text: str) -> None:
        page, count = self._page, self._count
        if self._lacks_log() or page is None or self._reader is None:
            return
        bare = text.replace(",", "")
        if bare.endswith("%") and bare[:-1].isdecimal():
            offset = page.size * min(100, int(bare[:-1])) // 100
            self._work(lambda pages: pages.start_of(offset), self._arrived)
        elif bare.isdecimal():
            number = int(bare[:18])
            self._missing = f"line {number:,} is not there, or not counted yet"
            self._work(lambda pages: pages.offset_of_line(count, number), self._arrived)
        else:
            self._missing = ""
            self._work(lambda pages: pages.offset_of_time(text), self._arrived)

    _missing = ""

    def _arrived(self, place: object) -> None:
        """Go to the line that begins there; or say why that cannot be."""
        if isinstance(place, int):
            self._said = ""
            self.point_at(place)
        else:
            self.say(place if isinstance(place, str) else self._missing)

    # -- drawing -----------------------------------------------------------------------------------------------

    def _words(self, page: Page) -> Iterator[str]:
        at = next((index for index, line in enumerate(page.lines) if line.start == self.cursor), None)
        if self._said:
            yield self._said
        if at is not None and page.numbers[at] is not None:
            yield f"▶ {page.numbers[at]:,}"
        yield from super()._words(page)

    def _signs(self) -> Signs:
        signs = super()._signs()
        if self.cursor < 0:
            return signs
        return signs.with_hit(self.cursor)


def percent(part: int, whole: int) -> str:
    """Return how far a search is."""
    return f"{100 * part // max(1, whole)} %"
