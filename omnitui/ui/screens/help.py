"""Every key of a screen, explained."""

from collections.abc import Iterable, Iterator

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

SIGNS = "✔ passed  ✘ failed  ▶ running  ○ to come  ◌ not yet, or lost  ? asks you  ■ stopped  – skipped, or moot"

EVERYWHERE = (
    ("↑ ↓", "Move; page up, page down, home and end too"),
    ("tab", "Go to the next pane; shift+tab goes to the one before"),
    ("^p", "Find any of these by its name"),
    ("^c", "Stops nothing: it tells how to leave"),
)


class HelpScreen(ModalScreen[None]):
    """Lists the keys that worked when it was opened; those that do nothing just now are said to."""

    CSS_PATH = "dialogs.tcss"
    BINDINGS = [Binding("escape,question_mark,q", "dismiss", "back")]  # noqa: RUF012

    def __init__(self, bindings: Iterable[ActiveBinding]) -> None:
        super().__init__()
        self._keys = tuple(bindings)

    def compose(self) -> ComposeResult:
        """One line a key."""
        with Vertical(classes="dialog"):
            yield Static("Keys", classes="dialog-title", markup=False)
            with VerticalScroll(classes="dialog-body"):
                yield Static(Content("\n").join(self._lines()), markup=False)

    def _lines(self) -> Iterator[Content]:
        for active in sorted(self._keys, key=lambda one: not one.enabled):
            binding = active.binding
            if binding.tooltip and not binding.system:
                key = self.app.get_key_display(binding)
                now = "" if active.enabled else "  (not now)"
                yield Content.assemble(
                    (f"{key:>8}  ", "bold $text-primary"), binding.tooltip, (now, "$text-muted")
                )
        for key, meaning in EVERYWHERE:
            yield Content.assemble((f"{key:>8}  ", "bold $text-primary"), meaning)
        yield Content("")
        yield Content.styled(SIGNS, "$text-muted")
