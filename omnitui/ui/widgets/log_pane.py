"""The part of a log pane that knows where it is, and draws that: the lines on the screen and no others."""

from collections.abc import Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path
from time import monotonic
from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Region, Size
from textual.reactive import var
from textual.strip import Strip

from omnitui.logs.pages import RESTARTS, Ask, Page
from omnitui.sanitise import plain
from omnitui.ui.widgets.log_drawing import Signs, Tones, drawn
from omnitui.ui.widgets.log_reading import LogReading, Then
from omnitui.ui.widgets.log_rows import Place, Row, changed_until, cost, rows_of
from omnitui.ui.widgets.log_strips import LogStrips, Look
from omnitui.ui.widgets.paint_budget import PaintBudget


class LogPane(LogReading, can_focus=True):
    """Reads and draws the lines on the screen and no others, never waiting for the disk longer than a moment."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"log-view--{name}" for name in ("status", "paused", "mark", "hit", "chosen"))
    }

    poll_s: ClassVar[float] = 0.25
    """How often the file is looked at while the pane is on the screen."""
    unfocused_paint_s: ClassVar[float] = 1.0
    """How long a pane without the focus rests after it has drawn growth."""
    budget: ClassVar[PaintBudget] = PaintBudget(bytes_s=4.5 * 1024, burst=4 * 1024)
    """What followed logs may send to the terminal, all together."""

    wrap: var[bool] = var(False, init=False)
    """Whether a long line takes several rows."""
    numbered: var[bool] = var(False, init=False)
    """Whether every line shows its number."""

    def __init__(self, path: Path | None = None, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(path, id=id, classes=classes)
        self._rows: tuple[Row, ...] = ()
        self._top = Place(0)
        self._lines = LogStrips()
        self._drawn: list[Strip] = []
        self._drawn_at_s = 0.0
        self._drawn_size = Size(0, 0)
        self._discoloured = False
        self._shift_cells = 0
        self._tails = 0

    # Textual calls the handlers of all classes in turn, from the last one up: none of them calls `super`.
    def on_mount(self) -> None:
        """Begin to look at the file."""
        self.set_interval(self.poll_s, self._tick)

    def on_show(self) -> None:
        """Catch up with what came while the pane was hidden."""
        self._look()

    def on_resize(self) -> None:
        """Read more lines, or fewer."""
        self._show()

    def notify_style_update(self) -> None:
        """Draw in other colours."""
        super().notify_style_update()
        self._discoloured = True

    def _pause(self) -> None:
        """Cease to follow; who calls this draws."""
        if self.following:
            self.following = False
            self.post_message(self.FollowChanged(self, False))

    def watch_wrap(self) -> None:
        """Lay the lines out anew."""
        self._top, self._shift_cells = Place(self._top.offset), 0
        self._show()

    def watch_numbered(self) -> None:
        """Make room for the numbers, or take it back."""
        self._show()

    def _ask(self, place: Place | None, before: int, after: int, *, if_changed: bool = False) -> Ask:
        """Return what to read for rows around a place, or for the last ones."""
        anchor = place.offset if place else None
        return Ask(anchor, before, after, self._count, if_changed=if_changed)

    def _opened(self) -> None:
        self._shift_cells, self._rows, self._top = 0, (), Place(0)
        self._show()

    # -- where it is -------------------------------------------------------------------------------------------

    @property
    def _height(self) -> int:
        return max(1, self.size.height - 1)

    def _show(self) -> None:
        """Read the lines on the screen and draw what is not there yet."""
        self._go(self._top)

    def _go(self, place: Place, move: int = 0, *, may_follow: bool = False) -> None:
        """Bring a place to the top, then go down by `move` rows, or up; at the end `may_follow`."""
        height = self._height
        if self.following and not move:
            self._read(self._ask(None, height, 0), self._then(Place(0)), yields=True)
            return
        ask = self._ask(place, height + max(0, -move), height + max(0, move))
        self._read(ask, self._then(place, move, may_follow), yields=place is self._top and not move)

    def show_tail(self) -> None:
        """Go to the end of the file and follow it; what is still being read does not lead away from there."""
        self._tails += 1
        if not self.following:
            self.following = True
            self.post_message(self.FollowChanged(self, True))
        self._read(self._ask(None, self._height, 0), self._then(Place(0)))

    def _then(self, place: Place, move: int = 0, may_follow: bool = False) -> Then:
        tails = self._tails

        def lay(page: Page) -> None:
            if tails == self._tails:
                self._lay(place, move, may_follow, page)

        return lay

    def _lay(self, place: Place, move: int, may_follow: bool, page: Page) -> None:
        heights = self._heights(page)
        rows = rows_of(heights)
        last = max(0, len(rows) - self._height)
        before = sum(heights[: page.at])
        part = min(place.part, heights[page.at] - 1) if page.at < len(heights) else 0
        now = before + part
        if may_follow and move > 0 and now >= last:
            self.show_tail()
            return
        at_end = (self.following and not move) or page.change in RESTARTS
        start = last if at_end else max(0, min(now + move, last))
        if move < 0 and start < now:
            self._pause()
        self._page = page
        self._lines.keep(page.lines)
        self._rows = tuple(rows[start : start + self._height])
        if self._rows:
            first = self._rows[0]
            self._top = Place(page.lines[first.line].start, first.part)
        elif not self.following:
            # What belongs there is still looked for.
            self._top = place
        self._paint()

    def show_from(self, offset: int, above: int = 0) -> None:
        """Pause with the line that holds byte `offset` at the top, or `above` rows below it."""
        self._pause()
        self._go(Place(offset), -above)

    def _tick(self) -> None:
        if not (self.screen.is_current and self.is_on_screen):
            return
        busy_s = self._reader.busy_s if self._reader is not None else 0.0
        if busy_s >= self.stale_s:
            self._paint()
        elif not busy_s and self._may_look():
            self._look()
        self._count_on()

    def _may_look(self) -> bool:
        if not self.has_focus_within_reach and monotonic() - self._drawn_at_s < self.unfocused_paint_s:
            return False
        return not self.following or self.budget.ready()

    @property
    def has_focus_within_reach(self) -> bool:
        """Whether the operator is here, or is typing into the pane's own line."""
        return self.has_focus or self.has_pseudo_class("focus-within")

    def _look(self) -> None:
        """Show what has changed in the file since the last look."""
        ask = self._ask(None if self.following else self._top, self._height, self._height, if_changed=True)
        self._read(ask, partial(self._looked, self._top), yields=True)

    def _looked(self, place: Place, page: Page) -> None:
        if page.lines or page.change.value != "unchanged":
            self._lay(place, 0, False, page)

    # -- drawing -----------------------------------------------------------------------------------------------

    def _signs(self) -> Signs:
        """Return what stands beside the lines, and which of them stand out."""
        return Signs(digits=len(f"{self._count.lines:,}") if self.numbered else 0)

    def _look_now(self, signs: Signs) -> Look:
        mark = self.get_component_rich_style("log-view--mark")
        return Look(self._shift_cells, self.size.width - signs.width, self.rich_style, mark, self.wrap)

    def _heights(self, page: Page) -> list[int]:
        if not self.wrap:
            return [1] * len(page.lines)
        look = self._look_now(self._signs())
        return [len(self._lines.rows(line, look)) for line in page.lines]

    def _strips(self) -> list[Strip]:
        signs, page = self._signs(), self._page
        look = self._look_now(signs)
        tones = Tones(*(self.get_component_rich_style(f"log-view--{name}") for name in ("mark", "hit", "chosen")))
        strips = [] if page is None else list(drawn(self._lines, page, self._rows, signs, look, tones))
        blank = Strip.blank(self.size.width, self.rich_style)
        style = self.get_component_rich_style(f"log-view--{'status' if self.following else 'paused'}")
        status = Strip([Segment(self._status(), style)]).crop_extend(0, self.size.width, style)
        return [*strips[: self._height], *[blank] * (self._height - len(strips)), status]

    def _words(self, page: Page) -> Iterator[str]:
        """Yield what the last row tells."""
        number = page.numbers[self._rows[-1].line] if self._rows else None
        if number is not None:
            self._where = f"line {number:,} of {self._count.lines:,}"
        yield self._where if self._rows else "empty"
        yield "following" if self.following else "paused"
        if self._shift_cells:
            yield f"from column {self._shift_cells + 1}"

    def _status(self) -> str:
        path, page = self.path, self._page
        if path is None or self._reader is None:
            return ""
        if (busy_s := self._reader.busy_s) >= self.stale_s:
            return f"STALE: the disk has not answered for {busy_s:.0f} s"
        if self._problem:
            return f"{plain(path.name)}: {self._problem}"
        if page is None or page.identity is None:
            return f"waiting for {plain(path.name)}"
        return " · ".join(self._words(page))

    def _paint(self) -> None:
        """Draw the cells that differ from what is on the screen."""
        before, size = self._drawn, self._drawn_size
        self._drawn = self._strips()
        self._drawn_size = self.size
        if size != self.size:
            self.refresh()
            return
        spent = 0
        for y, (old, new) in enumerate(zip_longest(before, self._drawn)):
            if new is not None and (until := changed_until(old, new)):
                self.refresh(Region(0, y, until, 1))
                spent += cost(new, until)
        if spent:
            self._drawn_at_s = monotonic()
            if self.following:
                self.budget.spend(spent)

    def render_line(self, y: int) -> Strip:
        """Draw one row of the pane; `y` counts from the top of its content."""
        # The first paint comes before the Resize event.
        if self._drawn_size != self.size:
            self._drawn_size = self.size
            self._show()
            self._drawn = self._strips()
        elif self._discoloured:
            self._drawn = self._strips()
        self._discoloured = False
        return self._drawn[y] if y < len(self._drawn) else Strip.blank(self.size.width, self.rich_style)
