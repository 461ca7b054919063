"""What the screens of the results browser share: the key of a filter, and copying."""

from textual.binding import Binding
from textual.widgets import Input

from omnitui.ui.clipboard import to_clipboard
from omnitui.ui.screens.working import Working


def filter_key(tooltip: str) -> Binding:
    """The key of a screen's filter. It has priority: what is typed ahead is for the filter, not for the screen."""
    return Binding("slash", "filter", "filter", key_display="/", priority=True, tooltip=tooltip)


class Browsing(Working):
    """Works in threads, and copies."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Within a filter's text its key is a letter like the others."""
        if action == "filter" and isinstance(self.focused, Input):
            return None
        return super().check_action(action, parameters)

    def copy(self, text: str) -> None:
        """Hand a text to the clipboard of the operator's terminal."""
        if text:
            to_clipboard(self.app, text, "e writes all to a file")
