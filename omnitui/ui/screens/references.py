"""Published results of a runbook's page, each with the setup that it came from."""

from collections.abc import Iterator
from itertools import groupby
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from omnitui.runbook.measured import Reference
from omnitui.sanitise import plain


class ReferencesScreen(ModalScreen[None]):
    """A table that also fits a small screen: a block for each workload."""

    CSS_PATH = "dialogs.tcss"
    AUTO_FOCUS = ".dialog-body"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+r,q", "dismiss", "back")]

    def __init__(self, references: tuple[Reference, ...]) -> None:
        super().__init__()
        self._references = references

    def compose(self) -> ComposeResult:
        """A title and the blocks."""
        with Vertical(classes="dialog"):
            yield Static("Reference results", classes="dialog-title", markup=False)
            about = "From other setups: to compare with by eye, never mixed with what a run measured."
            yield Static(Content.styled(about, "$text-muted"), markup=False)
            with VerticalScroll(classes="dialog-body"):
                for workload, found in groupby(self._references, key=lambda one: one.workload):
                    yield Static(Content(plain(workload)), classes="reference-workload", markup=False)
                    for one in found:
                        yield Static(Content("\n").join(_block(one)), classes="reference", markup=False)


def _block(one: Reference) -> Iterator[Content]:
    yield Content.styled(plain(one.results), "bold")
    for word, text in (("setup", one.setup), ("source", one.source)):
        yield Content.assemble((f"{word}: ", "$text-muted"), plain(text))
