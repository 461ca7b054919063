"""The part of a log pane that asks the operator for a line of text, and says what came of it."""

from omnitui.sanitise import plain
from omnitui.ui.widgets.log_moving import LogMoving
from omnitui.ui.widgets.log_prompt import LogPrompt


class LogAsking(LogMoving):
    """Has a line to type in over its last row while something is asked."""

    _said = ""

    def ask(self, about: str, label: str, text: str, placeholder: str) -> None:
        """Ask for a line; `given` gets it."""
        prompt = next(iter(self.query(LogPrompt)), None)
        if prompt is None:
            # Most logs are never asked anything, and an input costs time at the first paint.
            prompt = LogPrompt()
            self.mount(prompt)
        prompt.call_after_refresh(prompt.ask, about, label, text, placeholder)

    def given(self, about: str, text: str) -> None:
        """Do what was asked for. Subclasses add what they ask."""

    def on_log_prompt_given(self, message: LogPrompt.Given) -> None:
        """Take the line, and the keys back."""
        message.stop()
        prompt = self.query_one(LogPrompt)
        if prompt.display:
            prompt.display = False
            if message.keep_focus:
                self.focus()
        if message.text is not None:
            self.given(message.about, message.text)

    def say(self, text: str) -> None:
        """Tell something in the last row, until something else is done."""
        self._said = plain(text)
        self._paint()
