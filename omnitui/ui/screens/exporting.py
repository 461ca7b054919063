"""Writing what a screen shows into a file: where it goes is said before, and nothing is written over unasked."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.widgets import Button, Input, Static

from omnitui.errors import UsageError
from omnitui.results import sources
from omnitui.results.telling import report
from omnitui.results.telling.writing import AlreadyThere, write
from omnitui.ui.browsing.messages import FileThere
from omnitui.ui.messages import WorkDone
from omnitui.ui.screens.browsing import Browsing
from omnitui.ui.screens.dialogs import Choice, ChoiceScreen, Question
from omnitui.ui.widgets.line import Line

FORMATS = ("md", "csv", "json", "html")
"""The formats, which are the endings of the files too."""


class ExportScreen(Question[str]):
    """Asks for a file; gives what was typed, or an empty string."""

    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", tooltip="Write nothing")]

    def __init__(self, file: str) -> None:
        super().__init__()
        self._file = file

    def compose(self) -> ComposeResult:
        """The file, its formats, and two buttons."""
        with Vertical(classes="dialog"):
            yield Static("Export", classes="dialog-title", markup=False)
            yield Static(Content("The ending is the format; html is one page with its plots."), markup=False)
            yield Line(self._file, select_on_focus=False)
            with Horizontal(classes="dialog-buttons"):
                yield from (Button(f".{form}", id=f"form-{form}") for form in FORMATS)
            with Horizontal(classes="dialog-buttons"):
                yield Button("Write (enter)", variant="primary", id="accept")
                yield Button("Back (esc)", id="back")

    def on_key(self, event: Key) -> None:
        """What is typed ahead has no line to go to yet, and comes here; the line lets no letter through."""
        self.missed = self.missed or self.focused is None or event.is_printable

    @on(Input.Submitted)
    def _submitted(self) -> None:
        if self.missed:
            # The end of a path is a path too, and leads elsewhere.
            self.missed = False
            lost = "What was typed before the line was there is lost: look at the name, then enter again."
            self.notify(lost, markup=False)
            return
        answer = self.query_one(Input).value.strip()
        if answer and answer.rpartition(".")[2] not in FORMATS:
            why = f"{answer}: its ending says no format; use .{', .'.join(FORMATS)}"
            self.notify(why, severity="error", markup=False)
            return
        self.dismiss(answer)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Change the ending, write, or go back."""
        line, pressed = self.query_one(Input), event.button.id or ""
        if pressed == "accept":
            self._submitted()
        elif pressed == "back":
            self.action_leave()
        else:
            stem, dot, form = line.value.rpartition(".")
            stem = stem if dot and form in FORMATS else line.value
            line.value = f"{stem}.{pressed.removeprefix('form-')}"
            self.set_focus(line)

    def action_leave(self) -> None:
        """Write nothing."""
        self.dismiss("")


class Exporting(Browsing):
    """Screens whose contents can be written into a file."""

    def export(self, name: str, tell: Callable[[str], str]) -> None:
        """Ask for a file, at first `name.md` in the folder that OmniTUI was started in; then write it.

        `tell` gives the text in a format. It is called in a thread.
        """
        self._ask(str(Path.cwd() / f"{name}.md"), tell)

    def export_run(self, run: str) -> None:
        """Ask for a file for the results of a run or import."""
        self.export(f"{run}-results", partial(_results, run))

    def _ask(self, file: str, tell: Callable[[str], str]) -> None:
        def chosen(answer: str | None) -> None:
            if answer:
                self.in_thread(partial(_written, answer, tell))

        self.app.push_screen(ExportScreen(file), chosen)

    def on_file_there(self, message: FileThere) -> None:
        """Ask whether it may be replaced; else for another name."""
        file, tell = message.file, message.tell
        choices = (Choice("other", "Another name"), Choice("over", "Replace it", variant="warning"))

        def chosen(answer: str | None) -> None:
            if answer == "over":
                self.in_thread(partial(_written, file, tell, over=True))
            elif answer == "other":
                self._ask(file, tell)

        self.app.push_screen(ChoiceScreen("The file is there already", (file,), choices), chosen)


def _written(answer: str, tell: Callable[[str], str], *, over: bool = False) -> Message:
    try:
        file = Path(answer).expanduser().absolute()
    except (RuntimeError, ValueError) as error:
        raise UsageError(f"{answer}: {error}") from error
    try:
        write(file, tell(answer.rpartition(".")[2]), over=over)
    except AlreadyThere:
        return FileThere(str(file), tell)
    return WorkDone(f"wrote {file}")


def _results(run: str, form: str) -> str:
    source = sources.find(run)
    if form == "html":
        return report.as_page(source)
    return report.as_table(source, "md" if form == "md" else "csv" if form == "csv" else "json")
