"""What the screens of the results browser share: the key of a filter, and copying."""

from textual.binding import Binding
from textual.widgets import Input

from omnitui.ui.screens.working import Working

CLIPBOARD_BYTES = 64 * 1024
"""Terminals drop a longer OSC 52 sequence, or cut it."""


def filter_key(tooltip: str) -> Binding:
    """The key of a screen's filter. It has priority: what is typed ahead is for the filter, not for the screen."""
    return Binding("slash", "filter", "filter", key_display="/", priority=True, tooltip=tooltip)


class Browsing(Working):
    """Works in threads, and copies."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Within a filter's text its key is a letter like the others."""
        return not (action == "filter" and isinstance(self.focused, Input))

    def copy(self, text: str) -> None:
        """Hand a text to the clipboard of the operator's terminal."""
        if not text:
            return
        data = text.encode()
        cut = data[:CLIPBOARD_BYTES].decode(errors="ignore")
        self.app.copy_to_clipboard(cut)
        more = "" if cut == text else f"; only the first {CLIPBOARD_BYTES // 1024} KiB: e writes all to a file"
        self.notify(f"{cut.count(chr(10)) + 1:,} lines sent to the terminal's clipboard{more}", markup=False)
