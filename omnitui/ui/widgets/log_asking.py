"""The part of a log pane that asks the operator for a line of text, and says what came of it."""

from collections.abc import Mapping
from typing import ClassVar

from omnitui.sanitise import plain
from omnitui.ui.widgets.log_moving import LogMoving
from omnitui.ui.widgets.log_prompt import LogPrompt


class LogAsking(LogMoving):
    """Has a line to type in over its last row while something is asked."""

    ASKS: ClassVar[frozenset[str]] = frozenset()
    """Actions that ask for something; subclasses add theirs. Their keys have priority.

    So the line has the focus before the next key is looked at: what is typed ahead over a slow line is the line's.
    """
    ASKS_ANYWHERE: ClassVar[Mapping[str, str]] = {"slash": "search", "ampersand": "filter", "colon": "go_to"}
    """Keys of them that mean nothing else on a screen with logs."""

    _said = ""

    @property
    def asks(self) -> bool:
        """Whether the operator is typing something into it now."""
        return any(prompt.asks for prompt in self.query(LogPrompt))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Within the line a key that asks is a letter like the others."""
        return None if action in self.ASKS and self.asks else True

    async def ask(self, about: str, label: str, text: str, placeholder: str) -> None:
        """Ask for a line; `given` gets it."""
        if not self.query(LogPrompt):
            # Most logs are never asked anything, and an input costs time at the first paint.
            await self.mount(LogPrompt(self._taken))
        self.query_one(LogPrompt).ask(about, label, text, placeholder)

    def given(self, about: str, text: str) -> None:
        """Do what was asked for. Subclasses add what they ask."""

    def _taken(self, about: str, text: str | None, keep_focus: bool) -> None:
        """Take the line, and the keys back."""
        if text is not None:
            self.given(about, text)
        self.query_one(LogPrompt).display = False
        if keep_focus:
            # At once, so that all of it is one paint.
            self.screen.set_focus(self)

    def say(self, text: str) -> None:
        """Tell something in the last row, until something else is done."""
        self._said = plain(text)
        self._paint()
