"""One line of text to type into."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key
from textual.reactive import reactive
from textual.widgets import Input

# At once, as the letters behind it are for the next line: a screen with several things to go to has both.
TAB_KEYS: tuple[BindingType, ...] = (
    Binding("tab", "app.focus_next", show=False, priority=True),
    Binding("shift+tab", "app.focus_previous", show=False, priority=True),
)


class Line(Input):
    """Edits in the order of the keys, also when a slow line brings many at once; its cursor does not blink.

    Input takes a letter at once, but leaves a backspace or an enter to the app, where it comes behind letters
    typed after it.
    """

    cursor_blink = reactive(False, init=False)
    _EDITING: ClassVar[dict[str, str]] = {
        key: binding.action
        for binding in Input.BINDINGS
        if isinstance(binding, Binding)
        for key in binding.key.split(",")
    }
    _ended = False

    async def on_key(self, event: Key) -> None:
        """Do what an editing key is for now; what is typed behind an enter or an escape is not for the line."""
        action, ends = self._EDITING.get(event.key), event.key in ("enter", "escape")
        if ends and event.time < getattr(self.screen, "asked_at_s", 0.0):
            # The app knows what to do with one that was typed before its question was there.
            return
        if self._ended:
            taken = action is not None or event.is_printable
        else:
            taken = action is not None and await self.app.run_action(action, self)
        if taken:
            event.stop()
            event.prevent_default()
        self._ended = self._ended or ends

    def on_focus(self) -> None:
        """Something is asked for anew."""
        self._ended = False

    def heard(self) -> None:
        """Take keys again, as the line may still have the focus: whoever is told of an enter has been told."""
        self._ended = False
