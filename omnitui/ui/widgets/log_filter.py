"""Only the lines that match: found where somebody looks, not in the whole file first."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from omnitui.logs.filtered import Matches
from omnitui.logs.pages import Ask, Page
from omnitui.logs.scan import Scanned
from omnitui.logs.scanning import Refused, Request, Scanning
from omnitui.ui.widgets.log_finding import LogFinding, percent
from omnitui.ui.widgets.log_moving import LOG_KEYS
from omnitui.ui.widgets.log_rows import Place

_GAP_BYTES = 16 * 1024 * 1024
"""So far behind its end, a followed log's matches are looked for from the end instead."""


class LogFilter(LogFinding):
    """Shows the lines that match an expression and leaves out the others."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ampersand",
            "filter",
            "filter",
            priority=True,
            key_display="&",
            group=LOG_KEYS,
            tooltip="Log: only lines that match",
        ),
    ]

    @dataclass
    class Filtered(Message, bubble=False):
        """What a search for lines to show has come to."""

        request: Request
        answer: Scanned | Refused

    ASKS: ClassVar[frozenset[str]] = LogFinding.ASKS | {"filter"}

    _matches: Matches | None = None
    _filter_said = ""

    def on_mount(self) -> None:
        """Have a second search process at hand: a search goes through filtered lines."""
        self._sieve = Scanning(lambda request, answer: self.post_message(self.Filtered(request, answer)))

    def on_unmount(self) -> None:
        """End it."""
        self._sieve.cancel()

    def _start_over(self) -> None:
        super()._start_over()
        self._sieve.cancel()
        self._matches = Matches(0) if self._filter else None
        if self._filter:
            # The page at hand was read without it.
            self.call_later(self._show)

    def _opened(self) -> None:
        self._filter = self._matches = None
        super()._opened()

    async def action_filter(self) -> None:
        """Ask for an expression."""
        text = self._filter.text if self._filter else ""
        await self.ask("filter", "&", text, "show only lines that match a regular expression; empty shows all")

    def given(self, about: str, text: str) -> None:
        """Filter by it."""
        if about != "filter":
            super().given(about, text)
        elif text and (pattern := self._pattern(text)):
            self._filter = pattern
            self._anchor()
        elif not text:
            self._unfilter()

    def _anchor(self) -> None:
        """Begin to look for matches around what is in view."""
        page = self._page
        self._sieve.cancel()
        self._filter_said = ""
        # A place that is the start of a line, also while the last line grows.
        start = page.last if page is not None and self.following else self._top.offset
        self._matches = Matches(start)
        self.refresh_bindings()
        self._show()

    def _unfilter(self) -> None:
        self._sieve.cancel()
        self._filter = self._matches = None
        self.refresh_bindings()
        self._show()

    def _clearable(self) -> bool:
        return super()._clearable() or self._filter is not None

    def action_clear(self) -> None:
        """End the search, then the filter."""
        if super()._clearable():
            super().action_clear()
        else:
            self._unfilter()

    # -- which lines -------------------------------------------------------------------------------------------

    def _ask(self, place: Place | None, before: int, after: int, *, if_changed: bool = False) -> Ask:
        ask = super()._ask(place, before, after, if_changed=if_changed)
        page, matches = self._page, self._matches
        if matches is None or page is None:
            return ask
        anchor = place.offset if place else None
        low, high = matches.stretch
        far = anchor is None and page.size - high > _GAP_BYTES
        if far or (anchor is not None and not low <= anchor <= max(high, page.last)):
            self._sieve.cancel()
            self._matches = matches = Matches(page.last if anchor is None else anchor)
        self._look_for(page, anchor, before, after)
        starts, at = matches.window(anchor, before, after)
        return Ask(anchor, before, after, self._count, starts, at, if_changed)

    def _look_for(self, page: Page, anchor: int | None, before: int, after: int) -> None:
        matches, pattern = self._matches, self._filter
        if matches is None or pattern is None or self._sieve.request is not None or self._filter_said:
            return
        wanted = matches.wanted(anchor, before, after, page.size)
        if wanted is not None and self.path is not None and page.identity is not None:
            request = Request(
                str(self.path), page.identity, (pattern.text,), wanted.start, wanted.forward, wanted.most
            )
            try:
                self._sieve.ask(request)
            except OSError as error:
                self._filter_said = error.strerror or str(error)

    def on_log_filter_filtered(self, message: Filtered) -> None:
        """Show what was found."""
        request, answer, matches = message.request, message.answer, self._matches
        if request is not self._sieve.request or matches is None:
            return
        if isinstance(answer, Refused):
            self._sieve.answered(request)
            self._filter_said = answer.why
            self._paint()
            return
        matches.take(answer, forward=request.forward)
        self._sought_at = answer.at
        if answer.done:
            self._sieve.answered(request)
        self._show()

    _sought_at = 0

    def _looked(self, place: Place, page: Page) -> None:
        super()._looked(place, page)
        # What grew is known only now.
        if self._matches is not None and page.change.value != "unchanged":
            self._show()

    def _words(self, page: Page) -> Iterator[str]:
        yield from super()._words(page)
        if self._filter is None or self._matches is None:
            return
        yield f"&{self._filter.text}"
        if self._filter_said:
            yield self._filter_said
        elif (request := self._sieve.request) is not None and not self._fills():
            yield f"looking {'on' if request.forward else 'back'} · {percent(self._sought_at, page.size)}"

    def _fills(self) -> bool:
        return len(self._rows) >= self._height
