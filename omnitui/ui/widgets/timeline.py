"""The time line of a run: which time it shows, and the keys that change it. The screen reads what is wanted."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from omnitui.samples import Line
from omnitui.ui.timeline_texts import Stretch, Window, timeline_rows, whole
from omnitui.ui.widgets.readings import Readings

_LEAST_S = 10.0


class Timeline(Readings):
    """Shows a window of the telemetry; a window without an end follows the run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("plus,equals_sign", "zoom(0.5)", "closer", key_display="+", tooltip="Half as much time"),
        Binding("minus", "zoom(2.0)", "wider", key_display="-", tooltip="Twice as much time"),
        Binding("left", "pan(-0.25)", "earlier", tooltip="An earlier time"),
        Binding("right", "pan(0.25)", "later", tooltip="A later time"),
        Binding("0", "all", "whole run", tooltip="The whole run, to its end"),
    ]

    class Wanted(Message):
        """Another window is wanted."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.window = Window()
        self._run = Window()
        self._told: tuple[Sequence[Line], Mapping[str, str], Stretch | None] | None = None

    def show(
        self, lines: Sequence[Line], window: Window, titles: Mapping[str, str], running: Stretch | None
    ) -> None:
        """Show the lines that were read for a window."""
        if window == Window():
            self._run = whole(lines)
        self._told = (lines, titles, running)
        self._draw()

    def _draw(self) -> None:
        width = self.scrollable_content_region.width
        if width and self._told is not None:
            lines, titles, running = self._told
            self.show_rows(timeline_rows(lines, self.window, width, titles, running))

    def on_resize(self) -> None:
        """Draw for another width."""
        self._draw()

    def _edges(self) -> tuple[float, float]:
        return self.window.since or self._run.since, self.window.until or self._run.until

    def _go(self, since: float, until: float) -> None:
        first, last = self._run.since, self._run.until
        since = max(first, min(since, last - (until - since)))
        follows = until >= last
        self.window = Window() if since <= first and follows else Window(since, 0.0 if follows else until)
        self.post_message(self.Wanted())

    def action_zoom(self, factor: float) -> None:
        """Around the end while that is followed, else around the middle."""
        since, until = self._edges()
        long_s = max(_LEAST_S, (until - since) * factor)
        end = until if not self.window.until else min(self._run.until, (since + until + long_s) / 2)
        self._go(end - long_s, end)

    def action_pan(self, share: float) -> None:
        """By a share of what is shown."""
        since, until = self._edges()
        by = (until - since) * share
        if by > 0:
            by = min(by, self._run.until - until)
        self._go(since + by, until + by)

    def action_all(self) -> None:
        """The whole run."""
        self.window = Window()
        self.post_message(self.Wanted())
