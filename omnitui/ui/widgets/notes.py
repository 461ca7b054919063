"""The notes of a step, wrapped to the room that there is."""

from collections.abc import Iterator

from textual.containers import VerticalScroll
from textual.widgets import Static

from omnitui.plan import PlannedStep
from omnitui.runbook.schema import Runbook
from omnitui.ui.step_notes import notes_text

_SCROLLBAR = 1


class Notes(VerticalScroll):
    """Is wrapped anew when its width changes; while it is hidden nothing is done."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._about: tuple[Runbook, PlannedStep] | None = None
        self._shown: object = None

    def compose(self) -> Iterator[Static]:
        """One text."""
        yield Static(id="notes-text", markup=False)

    def show(self, runbook: Runbook, planned: PlannedStep) -> None:
        """Show the notes of a step."""
        self._about = (runbook, planned)
        self._wrap()

    def on_resize(self) -> None:
        """The room has changed, or the notes are to be seen now."""
        self._wrap()

    def _wrap(self) -> None:
        width = self.size.width - _SCROLLBAR
        if self._about is None or width <= 0:
            return
        runbook, planned = self._about
        if self._shown != (planned.id, width):
            self._shown = (planned.id, width)
            self.query_one("#notes-text", Static).update(notes_text(runbook, planned, width))
            self.scroll_home(animate=False)
