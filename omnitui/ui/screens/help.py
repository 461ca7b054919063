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
        told = [one for one in self._keys if one.binding.tooltip and not one.binding.system]
        # Several keys that do the same are one line; the last is ours, the ones before are Textual's.
        own = {
            one.binding.action: (self.app.get_key_display(one.binding), one.binding.tooltip, one.enabled)
            for one in told
            if one.binding.action != "command_palette"
        }.values()
        yield from (_line(key, meaning) for key, meaning, now in own if now)
        taken = {key for key, _, now in own if now}
        yield from (_line(key, meaning) for key, meaning in EVERYWHERE if key not in taken)
        later = [_line(key, meaning) for key, meaning, now in own if not now]
        if later:
            yield Content("")
            yield Content.styled("Not now", "bold")
            yield from later
        yield Content("")
        yield Content.styled(SIGNS, "$text-muted")


def _line(key: str, meaning: str) -> Content:
    return Content.assemble((f"{key:>8}  ", "bold $text-primary"), meaning)
