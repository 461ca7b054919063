"""The key that offers what helps when a step is red, and gives the terminal to the remedy that is taken."""

import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, OptionList, Static

from omnitui.model import Crashed, Failed, Stopped
from omnitui.runbook.gates import Remedy
from omnitui.runbook.remedies import remedies_of
from omnitui.sanitise import plain
from omnitui.ui.lending import lend_terminal
from omnitui.ui.screens.dialogs import Choice, ChoiceScreen, Question
from omnitui.ui.screens.run_keys import AT_WORK, RunKeys
from omnitui.ui.step_texts import cleaned

_RED = Failed | Crashed | Stopped


class RemedyScreen(Question[int]):
    """Lists remedies; gives the number of the one that is chosen (from 1), or 0."""

    AUTO_FOCUS = "OptionList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", tooltip="Change nothing"),
        *(Binding(str(number), f"take({number})", show=False) for number in range(1, 10)),
    ]

    def __init__(self, title: str, remedies: tuple[Remedy, ...]) -> None:
        super().__init__()
        self._title_text = title
        self._remedies = remedies

    def compose(self) -> ComposeResult:
        """What the page says, each with its command."""
        with Vertical(classes="dialog"):
            yield Static(Content(plain(self._title_text)), classes="dialog-title", markup=False)
            yield OptionList(*self._options(), compact=True, markup=False)
            with Horizontal(classes="dialog-buttons"):
                yield Button("Take it (enter)", variant="primary", id="take")
                yield Button("Back (esc)", id="back")

    def _options(self) -> Iterator[Content]:
        for number, remedy in enumerate(self._remedies, 1):
            lines = [Content.assemble((f"{number}. ", "bold"), cleaned(remedy.say))]
            lines += [
                Content.styled(f"   {line}", "$text-accent") for line in cleaned(remedy.run).strip().split("\n")
            ]
            yield Content("\n").join(lines if remedy.run.strip() else lines[:1])

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give its number."""
        self.dismiss(event.option_index + 1)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give the one under the cursor, or none."""
        self.dismiss((self.query_one(OptionList).highlighted or 0) + 1 if event.button.id == "take" else 0)

    def action_take(self, number: int) -> None:
        """Give the one with this number."""
        if number <= len(self._remedies):
            self.dismiss(number)

    def action_leave(self) -> None:
        """Give none."""
        self.dismiss(0)


class RemedyKeys(RunKeys):
    """What a red step's remedies are offered by."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "remedies", "mend", tooltip="Show what helps when the step is red, and do it"),
    ]

    def _remedies(self) -> tuple[Remedy, ...]:
        step, now = self.selected_step(), self.snapshot
        if step is None or now is None or now.holder is not None:
            return ()
        red = isinstance(now.record(step).status, _RED)
        return remedies_of(now.runbook, step.step) if red else ()

    def why_not(self, action: str) -> str:
        """Only a red step that has remedies can be mended."""
        if action != "remedies" or self._remedies():
            return super().why_not(action)
        step, now = self.selected_step(), self.snapshot
        red = step and now and isinstance(now.record(step).status, _RED)
        if now and now.holder is not None:
            return AT_WORK
        return "The page says nothing that helps here." if red else "The step is not red."

    def action_remedies(self) -> None:
        """List them."""
        step, found = self.selected_step(), self._remedies()
        if step is not None and found:
            screen = RemedyScreen(f"What helps when “{step.step.title}” is red", found)
            self.app.push_screen(screen, partial(self._chosen, step.id, found))

    def _chosen(self, step_id: str, found: tuple[Remedy, ...], number: int | None) -> None:
        if not number:
            return
        remedy = found[number - 1]
        if not remedy.run.strip():
            self.notify("It has no command: do what it says, then r or a goes on.", markup=False)
            return
        where = "on the host" if remedy.place else "where the step runs, in its environment"
        lines = (remedy.say, *(f"    {line}" for line in remedy.run.strip().splitlines()))
        run = Choice("run", "Run it", variant="warning")
        self.app.push_screen(
            ChoiceScreen(f"Run this {where}?", lines, (run,)), partial(self._agreed, step_id, number)
        )

    def _agreed(self, step_id: str, number: int, answer: str | None) -> None:
        if not answer:
            return
        argv = [sys.executable, "-m", "omnitui", "remedy", str(self.run.path), step_id, str(number)]
        try:
            status = lend_terminal(self.app, argv, {**os.environ, **self.secrets}, until_read=True)
        except SuspendNotSupported:
            self.notify("This terminal cannot be given to a command.", severity="error", markup=False)
        else:
            said = (
                "The remedy has ended well; r or a goes on." if status == 0 else "The remedy has not ended well."
            )
            self.notify(said, severity="information" if status == 0 else "error", markup=False)
