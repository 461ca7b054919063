"""The part of a log pane that asks the operator for a line of text, and says what came of it."""

from typing import ClassVar

from textual import events

from omnitui.sanitise import plain
from omnitui.ui.widgets.log_moving import LogMoving
from omnitui.ui.widgets.log_prompt import LogPrompt


class LogAsking(LogMoving):
    """Has a line to type in over its last row while something is asked."""

    ASKS: ClassVar[dict[str, str]] = {}
    """Keys that ask for something, with their actions. Subclasses add theirs."""
    ASKS_ANYWHERE: ClassVar[frozenset[str]] = frozenset(("slash", "ampersand", "colon"))
    """Those of them that mean nothing else on a screen with logs."""

    _said = ""

    @property
    def asks(self) -> bool:
        """Whether the operator is typing something into it now."""
        return any(prompt.asks for prompt in self.query(LogPrompt))

    async def on_key(self, event: events.Key) -> None:
        """Ask at once: what is typed ahead over a slow line is meant for the prompt, not for the screen's keys."""
        prompt = next(iter(self.query(LogPrompt)), None)
        if prompt is not None and prompt.asks:
            if prompt.passed is not event:
                event.stop()
                prompt.type(event)
        elif event.key in self.ASKS:
            event.stop()
            await self.run_action(self.ASKS[event.key])

    async def ask(self, about: str, label: str, text: str, placeholder: str) -> None:
        """Ask for a line; `given` gets it."""
        if not self.query(LogPrompt):
            # Most logs are never asked anything, and an input costs time at the first paint.
            await self.mount(LogPrompt())
        self.query_one(LogPrompt).ask(about, label, text, placeholder)

    def given(self, about: str, text: str) -> None:
        """Do what was asked for. Subclasses add what they ask."""

    def on_log_prompt_given(self, message: LogPrompt.Given) -> None:
        """Take the line, and the keys back. The screen is told as well."""
        if message.text is not None:
            self.given(message.about, message.text)
        self.query_one(LogPrompt).display = False
        if message.keep_focus:
            # At once, so that all of it is one paint.
            self.screen.set_focus(self)

    def say(self, text: str) -> None:
        """Tell something in the last row, until something else is done."""
        self._said = plain(text)
        self._paint()
