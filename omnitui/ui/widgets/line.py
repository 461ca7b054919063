"""One line of text to type into."""

from typing import ClassVar

from textual.binding import Binding
from textual.events import Key
from textual.reactive import reactive
from textual.widgets import Input


class Line(Input):
    """Edits in the order of the keys, also when a slow line brings many at once; its cursor does not blink.

    Input takes a letter at once, but leaves a backspace to the app, where it comes behind letters typed after it.
    """

    cursor_blink = reactive(False, init=False)
    # Enter stays with the app, which knows whether it was typed before the question was there.
    _EDITING: ClassVar[dict[str, str]] = {
        key: binding.action
        for binding in Input.BINDINGS
        if isinstance(binding, Binding) and binding.action != "submit"
        for key in binding.key.split(",")
    }

    async def on_key(self, event: Key) -> None:
        """Do what an editing key is for now."""
        action = self._EDITING.get(event.key)
        if action and await self.app.run_action(action, self):
            event.stop()
            event.prevent_default()
