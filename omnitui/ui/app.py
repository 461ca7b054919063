"""The app: themes, screens and what leads from one to the other. What is done on a screen lives there."""

import gc
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol

from rich.console import RenderableType
from textual import events, on
from textual.actions import parse
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widgets import Input

from omnitui import config
from omnitui.config import Config
from omnitui.ui import terminal_voice
from omnitui.ui.drawing import tight
from omnitui.ui.layouts import NARROW
from omnitui.ui.leaving import asked_of_one_that_is_left, leave_on_signals
from omnitui.ui.messages import (
    AssetsChosen,
    ComparisonChosen,
    NoticeHeard,
    PassChosen,
    ResultsChosen,
    RunbookChosen,
    RunChosen,
    RunMade,
    SamplesChosen,
    TitleChanged,
    TrendsChosen,
)
from omnitui.ui.screens.dialogs import Question
from omnitui.ui.screens.explaining import Explaining
from omnitui.ui.screens.home import HomeScreen
from omnitui.ui.themes import DARK, LIGHT
from omnitui.ui.widgets.line import Line

# The full look for garbage takes 15 to 35 ms, and by Python's own rule comes once in 25 screens of a long table.
_GARBAGE = (700, 10, 100)


class HasPath(Protocol):
    """A run's folder; importing its own type would delay the first paint."""

    @property
    def path(self) -> Path:
        """Where the run lies."""
        ...


class OmniApp(App[int]):
    """Home at the bottom; New run, Assets and Run screens above it."""

    TITLE = "OmniTUI"
    CSS_PATH = ["app.tcss", "widgets/cursor_rows.tcss", "screens/home.tcss"]  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "toggle_theme", "theme", tooltip="Change between the dark and the light theme"),
        Binding("question_mark", "help", "help", key_display="?", tooltip="Explain every key of this screen"),
        Binding("q", "quit", "quit", tooltip="Leave the app; runs go on without it"),
    ]

    def __init__(
        self, run: HasPath | None = None, runbook: str | None = None, config: Config | None = None
    ) -> None:
        super().__init__()
        self._config = config or Config()
        self._window_title = ""
        # Log output is the only thing that moves.
        self.animation_level = "none"
        self._run_first = run
        self._runbook_first = runbook
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self.theme = {"dark": DARK, "light": LIGHT}[self._config.theme].name

    def _handle_exception(self, error: Exception) -> None:
        # A screen that is left loses its widgets one by one, while its threads and timers still tell it things.
        if not (isinstance(error, NoMatches) and asked_of_one_that_is_left(error)):
            super()._handle_exception(error)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, tight(renderable))

    def get_default_screen(self) -> Screen[None]:
        """Home lies below everything."""
        return HomeScreen()

    def on_mount(self) -> None:
        """Open what was asked for on the command line."""
        if self._run_first:
            self.post_message(RunChosen(self._run_first.path))
        elif self._runbook_first:
            self.post_message(RunbookChosen(self._runbook_first))

    def _open(self, screen: Screen[None]) -> None:
        if type(screen) is type(self.screen):
            # A key that was pressed twice before its screen was there: no screen leads to another of its kind.
            return
        # Were its rules new to Textual, it would parse those of all screens again: 15 ms.
        for path in screen.css_path:
            if not self.stylesheet.has_source(str(path)):
                self.stylesheet.read(path)
        self.push_screen(screen)

    def on_runbook_chosen(self, message: RunbookChosen) -> None:
        """Open the New run screen."""
        from omnitui.ui.screens.new_run import NewRunScreen  # noqa: PLC0415 - not needed for the first paint

        self._open(NewRunScreen(message.runbook))

    def on_assets_chosen(self, message: AssetsChosen) -> None:
        """Open the Assets screen."""
        from omnitui.ui.screens.assets import AssetsScreen  # noqa: PLC0415 - not needed for the first paint

        self._open(AssetsScreen(message.runbook, dict(message.values)))

    def on_results_chosen(self, message: ResultsChosen) -> None:
        """Open the list of all passes."""
        from omnitui.ui.screens.passes import PassesScreen  # noqa: PLC0415 - not needed for the first paint

        self._open(PassesScreen(message.text))

    def on_pass_chosen(self, message: PassChosen) -> None:
        """Open the screen of one pass."""
        from omnitui.ui.screens.one_pass import OnePassScreen  # noqa: PLC0415 - not needed for the first paint

        self._open(OnePassScreen(message.folder))

    def on_comparison_chosen(self, message: ComparisonChosen) -> None:
        """Open the comparison of two sides."""
        from omnitui.ui.screens.comparing import CompareScreen  # noqa: PLC0415 - not needed for the first paint

        self._open(CompareScreen(message.a, message.b))

    def on_samples_chosen(self, message: SamplesChosen) -> None:
        """Open the samples of a pass."""
        from omnitui.ui.screens.samples import SamplesScreen  # noqa: PLC0415 - not needed for the first paint

        self._open(SamplesScreen(message.folder))

    def on_trends_chosen(self, message: TrendsChosen) -> None:
        """Open the trends of a runbook."""
        from omnitui.ui.screens.trends import TrendsScreen  # noqa: PLC0415 - not needed for the first paint

        self._open(TrendsScreen(message.runbook, message.gpu))

    def on_run_chosen(self, message: RunChosen) -> None:
        """Open the Run screen."""
        self._open(_run_screen(message))

    def on_run_made(self, message: RunMade) -> None:
        """Put the Run screen in the place of the New run screen."""
        self.switch_screen(_run_screen(message))

    def on_key(self, event: events.Key) -> None:
        """A key presses nothing in a question that was not there yet when it was typed."""
        if isinstance(self.screen, Question) and event.time < self.screen.asked_at_s:
            self.screen.missed = True
            event.prevent_default()

    @on(Input.Submitted)
    def _line_is_heard(self, event: Input.Submitted) -> None:
        """All others have been told before."""
        if isinstance(event.input, Line):
            event.input.heard()

    # -- the terminal itself -----------------------------------------------------------------------------------

    def write_to_terminal(self, text: str) -> None:
        """Write control strings behind what is being drawn."""
        if self._driver is not None:
            self._driver.write(text)

    def on_notice_heard(self, message: NoticeHeard) -> None:
        """Ring, and show it on the desktop, as the config says."""
        told = terminal_voice.BELL if self._config.bell else ""
        if self._config.osc and terminal_voice.understands(os.environ):
            told += terminal_voice.notification(message.text, os.environ)
        if told:
            self.write_to_terminal(told)

    def on_title_changed(self, message: TitleChanged) -> None:
        """Set the window's title."""
        if message.title != self._window_title and self._config.osc and terminal_voice.understands(os.environ):
            self._window_title = message.title
            self.write_to_terminal(terminal_voice.title(message.title))

    async def run_action(
        self,
        action: str | tuple[str, str, tuple[Any, ...]],
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Do what a key says; where it can do nothing now, tell why."""
        done = await super().run_action(action, default_namespace, namespaces)
        if not done and isinstance(default_namespace, Explaining):
            name = (parse(action) if isinstance(action, str) else action)[1]
            if why := default_namespace.why_not(name):
                self.notify(why, markup=False)
        return done

    def action_toggle_theme(self) -> None:
        """Dark or light."""
        self.theme = LIGHT.name if self.theme == DARK.name else DARK.name

    def action_help(self) -> None:
        """Explain the keys of the screen."""
        from omnitui.ui.screens.help import HelpScreen  # noqa: PLC0415 - not needed for the first paint

        self.push_screen(HelpScreen(self.screen.active_bindings.values()))

    def action_help_quit(self) -> None:
        """Ctrl-C stops nothing: it tells how to leave."""
        self.notify("q leaves the app; runs go on without it. x on a run's screen stops the run.", markup=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every key of the screen by its name."""
        for active in screen.active_bindings.values():
            if active.enabled and active.binding.show and active.binding.action != "app.command_palette":
                run = self._pressing(active.binding.key)
                yield SystemCommand(active.binding.description, active.binding.tooltip, run)

    def _pressing(self, key: str) -> Callable[[], None]:
        def press() -> None:
            self.simulate_key(key)

        return press


def _run_screen(message: RunChosen) -> Screen[None]:
    from omnitui.store import RunFolder  # noqa: PLC0415 - not needed for the first paint
    from omnitui.ui.screens.run import RunScreen  # noqa: PLC0415

    return RunScreen(RunFolder(message.run), dict(message.secrets))


def open_app(run: HasPath | None = None, runbook: str | None = None) -> int:
    """Open the app, on the Run screen of `run` or the New run screen of `runbook`. The exit code."""
    # They would fix the size that Textual sees.
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
    gc.set_threshold(*_GARBAGE)
    chosen = config.read()
    titled = chosen.osc and terminal_voice.understands(os.environ) and sys.stderr.isatty()
    leave_on_signals(terminal_voice.POP_TITLE if titled else "")
    app = OmniApp(run, runbook, chosen)
    _write_title(terminal_voice.PUSH_TITLE * titled)
    try:
        app.run()
    finally:
        _write_title(terminal_voice.POP_TITLE * titled)
    return app.return_code or 0


def _write_title(text: str) -> None:
    # Textual writes to stderr as well.
    sys.stderr.write(text)
    sys.stderr.flush()
