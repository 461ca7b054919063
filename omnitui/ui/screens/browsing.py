"""What the screens of the results browser share: the key of a filter, and copying."""

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from omnitui.ui.clipboard import to_clipboard
from omnitui.ui.screens.working import Working
from omnitui.ui.widgets.line import TAB_KEYS
from omnitui.ui.widgets.table import Table


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


class Filtering(Browsing):
    """Has a table, and a line for the text to filter it by.

    The line is asked, not what it has told so far: the next key comes before its message.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*TAB_KEYS]

    @property
    def text(self) -> str:
        """What the rows are filtered by."""
        raise NotImplementedError

    def find(self, text: str) -> None:
        """Show the rows that have a text."""
        raise NotImplementedError

    def action_filter(self) -> None:
        """Ask for a text."""
        prompt = self.query_one(Input)
        prompt.display = True
        prompt.value = self.text
        self.set_focus(prompt)

    @on(Input.Changed)
    def _typed(self) -> None:
        self.find(self.query_one(Input).value)

    @on(Input.Submitted)
    def leave_filter(self) -> None:
        """Take what was typed, and go back to the table."""
        prompt = self.query_one(Input)
        self.find(prompt.value)
        self.set_focus(self.query_one(Table))
        prompt.display = False

    def show_all(self) -> None:
        """Show all rows again."""
        self.query_one(Input).value = ""
        self.find("")

    def action_back(self) -> None:
        """Out of the filter, to all rows, or back."""
        if self.focused is self.query_one(Input):
            self.leave_filter()
        elif self.text:
            self.show_all()
        else:
            self.app.pop_screen()
