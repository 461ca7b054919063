"""Questions to the operator. Escape answers nothing and changes nothing."""

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import ClassVar, Literal, TypeVar

from msgspec import Struct
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Label, Static, TextArea

from omnitui.sanitise import plain
from omnitui.ui.widgets.line import TAB_KEYS, Line

Answer = TypeVar("Answer")


class Dialog(ModalScreen[Answer]):
    """Is answered once."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*TAB_KEYS]

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Give an answer. A second press may be on its way already, and would close the screen below."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


class Question(Dialog[Answer]):
    """Is not answered by what was typed before it was there: the app sees to that."""

    def __init__(self) -> None:
        super().__init__()
        self.asked_at_s = monotonic()
        self.missed = False
        """Whether something was typed before there was anything to take it."""


class Choice(Struct, frozen=True):
    """One answer: what it is called on its button, and what it does, line by line."""

    key: str
    label: str
    lines: tuple[str, ...] = ()
    variant: Literal["default", "primary", "warning", "error"] = "default"


class ChoiceScreen(Question[str]):
    """Asks a question; gives the key of the choice, or an empty string. What does harm has to be gone to."""

    AUTO_FOCUS = "Button"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", tooltip="Change nothing"),
        Binding("left,up", "app.focus_previous", "previous", show=False),
        Binding("right,down", "app.focus_next", "next", show=False),
    ]

    def __init__(self, title: str, lines: tuple[str, ...], choices: tuple[Choice, ...]) -> None:
        super().__init__()
        self._title_text = title
        self._lines = lines
        self._choices = choices

    def on_mount(self) -> None:
        """Begin at the answer that changes nothing, where another one stops or moves something."""
        if self._choices[0].variant in ("warning", "error"):
            self.set_focus(self.query_one("#choice-", Button))

    def compose(self) -> ComposeResult:
        """The question, what each answer does, and a button for each."""
        with Vertical(classes="dialog"):
            yield Static(Content(plain(self._title_text)), classes="dialog-title", markup=False)
            with VerticalScroll(classes="dialog-body", can_focus=False):
                yield Static(Content("\n").join(self._body()), markup=False)
            with Horizontal(classes="dialog-buttons"):
                for choice in self._choices:
                    yield Button(Content(plain(choice.label)), variant=choice.variant, id=f"choice-{choice.key}")
                yield Button("Back (esc)", id="choice-")

    def _body(self) -> Iterator[Content]:
        yield from (Content(plain(line)) for line in self._lines)
        for choice in self._choices:
            if choice.lines:
                yield Content.styled(plain(choice.label), "bold")
                yield from (Content(f"  · {plain(line)}") for line in choice.lines)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Give the answer."""
        self.dismiss((event.button.id or "").removeprefix("choice-"))

    def action_leave(self) -> None:
        """Give no answer."""
        self.dismiss("")


class Field(Struct, frozen=True):
    """One thing to type in."""

    name: str
    help: str
    secret: bool = False


class PromptScreen(Question[Mapping[str, str]]):
    """Asks for one line each; gives them by name, or nothing at all."""

    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", tooltip="Change nothing")]

    def __init__(self, title: str, lines: tuple[str, ...], fields: tuple[Field, ...], accept: str) -> None:
        super().__init__()
        self._title_text = title
        self._lines = lines
        self._fields = fields
        self._accept = accept

    def compose(self) -> ComposeResult:
        """A labelled line for each field."""
        with Vertical(classes="dialog"):
            yield Static(Content(plain(self._title_text)), classes="dialog-title", markup=False)
            with VerticalScroll(classes="dialog-body", can_focus=False):
                yield from (Static(Content(plain(line)), markup=False) for line in self._lines)
                for number, field in enumerate(self._fields):
                    yield Label(Content(plain(field.help)), markup=False)
                    yield Line(password=field.secret, id=f"field-{number}")
            with Horizontal(classes="dialog-buttons"):
                yield Button(self._accept, variant="primary", id="accept")
                yield Button("Back (esc)", id="back")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next line, or accept after the last."""
        if event.input.id == f"field-{len(self._fields) - 1}":
            self._done()
        else:
            self.app.action_focus_next()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Accept, or go back."""
        if event.button.id == "accept":
            self._done()
        else:
            self.action_leave()

    def _done(self) -> None:
        given = {field.name: self.query_one(f"#field-{n}", Input).value for n, field in enumerate(self._fields)}
        missing = [n for n, field in enumerate(self._fields) if not given[field.name].strip()]
        if missing:
            self.set_focus(self.query_one(f"#field-{missing[0]}", Input))
        else:
            self.dismiss(given)

    def action_leave(self) -> None:
        """Give nothing."""
        self.dismiss({})


class EditScreen(Dialog[str]):
    """A command to edit; gives the new one, or an empty string."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "save", priority=True, tooltip="Use this command for the next attempt"),
        Binding("escape", "leave", "back", priority=True, tooltip="Change nothing"),
    ]

    def __init__(self, title: str, warning: str, command: str) -> None:
        super().__init__()
        self._title_text = title
        self._warning = warning
        self._command = command

    def compose(self) -> ComposeResult:
        """An editor and two buttons."""
        with Vertical(classes="dialog -large"):
            yield Static(Content(plain(self._title_text)), classes="dialog-title", markup=False)
            yield Static(Content(plain(self._warning)), classes="dialog-warning", markup=False)
            editor = TextArea(self._command, show_line_numbers=True, soft_wrap=False)
            editor.cursor_blink = False
            yield editor
            with Horizontal(classes="dialog-buttons"):
                yield Button("Save (ctrl+s)", variant="primary", id="accept")
                yield Button("Back (esc)", id="back")

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Save, or go back."""
        if event.button.id == "accept":
            self.action_save()
        else:
            self.action_leave()

    def action_save(self) -> None:
        """Give the command when it is another one."""
        text = self.query_one(TextArea).text
        self.dismiss(text if text.strip() and text != self._command else "")

    def action_leave(self) -> None:
        """Give nothing."""
        self.dismiss("")
