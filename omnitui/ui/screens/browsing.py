"""What the screens of the results browser share: reading in threads, telling what came of it, and copying."""

from collections.abc import Callable

from textual.binding import Binding
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input

from omnitui.errors import OmniError
from omnitui.ui.messages import WorkDone, WorkFailed

CLIPBOARD_BYTES = 64 * 1024
"""Terminals drop a longer OSC 52 sequence, or cut it."""


def filter_key(tooltip: str) -> Binding:
    """The key of a screen's filter. It has priority: what is typed ahead is for the filter, not for the screen."""
    return Binding("slash", "filter", "filter", key_display="/", priority=True, tooltip=tooltip)


class Browsing(Screen[None]):
    """Reads in threads, each of which ends in one message."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Within a filter's text its key is a letter like the others."""
        return not (action == "filter" and isinstance(self.focused, Input))

    def in_thread(self, work: Callable[[], Message], group: str = "read", *, exclusive: bool = False) -> None:
        """Do something that takes time."""

        def worked() -> None:
            try:
                self.post_message(work())
            except OmniError as error:
                self.post_message(WorkFailed(error))

        self.run_worker(worked, thread=True, group=group, exclusive=exclusive)

    def on_work_done(self, message: WorkDone) -> None:
        """Tell what was done."""
        self.notify(message.said, markup=False)

    def on_work_failed(self, message: WorkFailed) -> None:
        """Tell what could not be done, and why."""
        self.notify(str(message.error), severity="error", timeout=12, markup=False)

    def copy(self, text: str) -> None:
        """Hand a text to the clipboard of the operator's terminal."""
        if not text:
            return
        data = text.encode()
        cut = data[:CLIPBOARD_BYTES].decode(errors="ignore")
        self.app.copy_to_clipboard(cut)
        more = "" if cut == text else f"; only the first {CLIPBOARD_BYTES // 1024} KiB: e writes all to a file"
        self.notify(f"{cut.count(chr(10)) + 1:,} lines sent to the terminal's clipboard{more}", markup=False)
