"""The keys and the wheel that move through a log."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from omnitui.ui.widgets.log_pane import LogPane

LOG_KEYS = Binding.Group("log")
"""Where there is little room, these keys share one word."""

_SHIFT_CELLS = 8
_WHEEL_LINES = 3


class LogMoving(LogPane):
    """Follows the end of its file until the user scrolls up; scrolling down past the end follows again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_lines(-1)", "Up", show=False),
        Binding("down", "scroll_lines(1)", "Down", show=False),
        Binding("pageup", "scroll_pages(-1)", "Page up", show=False),
        Binding("pagedown,space", "scroll_pages(1)", "Page down", show=False),
        Binding("home,g", "show_start", "Start", show=False),
        Binding(
            "end,G,f",
            "show_tail",
            "follow",
            key_display="f",
            group=LOG_KEYS,
            tooltip="Log: follow; up pauses",
        ),
        Binding("left", "shift(-1)", "Left", show=False),
        Binding("right", "shift(1)", "Right", show=False),
        Binding("w", "wrap", "wrap", show=False, tooltip="Log: wrap long lines, or cut them"),
        Binding(
            "number_sign",
            "numbers",
            "numbers",
            show=False,
            key_display="#",
            tooltip="Log: show the lines' numbers",
        ),
    ]

    def action_show_tail(self) -> None:
        """Go to the end of the file and follow it."""
        self.show_tail()

    def action_show_start(self) -> None:
        """Go to the first line."""
        page = self._page
        if page is not None and self._rows and (self._top.offset > 0 or self._top.part > 0):
            self.show_from(0)

    def action_scroll_pages(self, pages: int) -> None:
        """Go down by `pages` screens, one line of overlap each, or up by as many when negative."""
        self.action_scroll_lines(pages * max(1, self._height - 1))

    def action_scroll_lines(self, lines: int) -> None:
        """Go down by `lines`, or up when negative; going down at the end follows."""
        if lines < 0 or not self.following:
            self._go(self._top, lines, may_follow=True)

    def action_shift(self, steps: int) -> None:
        """Move the view to the right by `steps` of eight cells, or to the left when negative."""
        page, right = self._page, self._shift_cells + self.size.width
        if page is None or self.wrap:
            return
        seen = [page.lines[row.line] for row in self._rows]
        more = self._shift_cells > 0 if steps < 0 else any(self._lines.reaches(line, right) for line in seen)
        if more:
            self._shift_cells = max(0, self._shift_cells + steps * _SHIFT_CELLS)
            self._paint()

    def action_wrap(self) -> None:
        """Wrap long lines, or cut them."""
        self.wrap = not self.wrap

    def action_numbers(self) -> None:
        """Show the lines' numbers, or hide them."""
        self.numbered = not self.numbered

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Go up."""
        event.stop()
        self.action_scroll_lines(-_WHEEL_LINES)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Go down."""
        event.stop()
        self.action_scroll_lines(_WHEEL_LINES)
