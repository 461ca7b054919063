"""One variable of a runbook: its name, a line or choices, its help, and why its value is refused."""

import os
from collections.abc import Iterator

from textual import on
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Label, Select, SelectionList, Static

from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import items_of, refusal
from omnitui.sanitise import plain
from omnitui.ui.widgets.line import Line
from omnitui.ui.widgets.ticks import Ticks


class VariableField(Vertical):
    """Takes one value and says beside it what is wrong with it."""

    class Changed(Message):
        """The value is another one."""

    def __init__(self, runbook: Runbook, name: str) -> None:
        super().__init__()
        self.variable_name = name
        self._runbook = runbook
        self._variable = runbook.variables[name]
        self._entry = self._asked(self._variable.default or "")

    def _asked(self, value: str) -> Input | Select[str] | Ticks:
        variable = self._variable
        if variable.many:
            return Ticks(variable.choices, items_of(value))
        if variable.choices:
            choices = [(Content(plain(choice)), choice) for choice in variable.choices]
            return Select(choices, value=self._first(value), allow_blank=False, compact=True)
        there = variable.secret and bool(os.environ.get(self.variable_name))
        hint = "taken from the environment" if there else "not shown, not stored" if variable.secret else ""
        return Line(value, password=variable.secret, placeholder=hint, compact=True)

    def _first(self, value: str) -> str:
        return value if value in self._variable.choices else self._variable.choices[0]

    @property
    def value(self) -> str:
        """What is given now: a key that makes the run may come before a line has told that it was typed into."""
        entry = self._entry
        if isinstance(entry, Input):
            return entry.value
        if isinstance(entry, Select):
            # Before it is on the screen it says nothing.
            return self._first(self._variable.default or "") if entry.is_blank() else str(entry.value)
        return ",".join(choice for choice in self._variable.choices if choice in entry.selected)

    @property
    def secret(self) -> bool:
        """Whether the value must never reach the disk."""
        return self._variable.secret

    @property
    def refused(self) -> str:
        """Why the value must not be used, or an empty string."""
        if self.secret:
            given = self.value or os.environ.get(self.variable_name)
            return "" if given else "needed: it is not in the environment"
        if not self.value and self._variable.default is None:
            return "needs a value"
        reason = refusal(self._runbook, self.variable_name, self.value)
        return reason.removeprefix(f"{self.variable_name}={self.value}: ").removeprefix(f"{self.variable_name}: ")

    def compose(self) -> Iterator[Widget]:
        """Name and help above, the value below."""
        yield Label(
            Content.assemble(
                (plain(self.variable_name), "bold"), (f"  {plain(self._variable.help)}", "$text-muted")
            )
        )
        yield self._entry
        yield Static(classes="refused", markup=False)

    def on_mount(self) -> None:
        """Say what is missing."""
        self._judge()

    @on(Input.Changed)
    @on(Select.Changed)
    @on(SelectionList.SelectedChanged)
    def _given(self, event: Message) -> None:
        event.stop()
        self._judge()
        self.post_message(self.Changed())

    def focus_value(self) -> None:
        """Go to where the value is given."""
        # The field scrolls as a whole; the line alone would leave its name out of sight.
        self.screen.set_focus(self._entry, scroll_visible=False)

    def on_descendant_focus(self) -> None:
        """Show the name and the help too, and what is refused, not the line alone."""
        self.call_after_refresh(self.scroll_visible, animate=False)

    def _judge(self) -> None:
        reason = self.refused
        self.set_class(bool(reason), "-refused")
        self.query_one(".refused", Static).update(Content(f"✘ {plain(reason)}" if reason else ""))
