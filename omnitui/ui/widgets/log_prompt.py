"""The line at the bottom of a log in which is typed what to look for, where to go and where to save."""

from collections.abc import Callable, Iterator
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from omnitui.ui.widgets.line import Line


class LogPrompt(Horizontal):
    """One line to type in, seen only while something is asked."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", tooltip="Change nothing")]

    class Given(Message):
        """Nothing is typed any more."""

    def __init__(self, take: Callable[[str, str | None, bool], None]) -> None:
        """`take` is called at once with what it is about, what was typed, and whether the focus was still here.

        What was typed is None when the operator left instead.
        """
        super().__init__()
        self._take = take
        self._about = ""

    def compose(self) -> Iterator[Widget]:
        """A label and an input."""
        yield Static(id="log-asked", markup=False)
        yield Line(compact=True, id="log-given")

    def ask(self, about: str, label: str, text: str, placeholder: str) -> None:
        """Ask for something; `about` comes back with the answer."""
        self._about = about
        self.query_one(Static).update(Content(label))
        line = self.query_one(Input)
        line.value, line.placeholder = text, placeholder
        line.action_select_all()
        self.display = True
        # Now, not in a moment: the next key may be on its way.
        self.screen.set_focus(line)

    @property
    def asks(self) -> bool:
        """Whether something is asked now."""
        return bool(self._about)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give it."""
        self._give(event.value)

    def on_descendant_blur(self, _event: events.DescendantBlur) -> None:
        """Who goes elsewhere has left; who has asked again meanwhile has not."""
        if self.screen.focused is not self.query_one(Input):
            self._give(None, keep_focus=False)

    def action_leave(self) -> None:
        """Give nothing."""
        self._give(None)

    def _give(self, text: str | None, *, keep_focus: bool = True) -> None:
        if self._about:
            about, self._about = self._about, ""
            # Not by a message: by then the log may be another one, or something else be asked.
            self._take(about, text, keep_focus)
            self.post_message(self.Given())
