"""The two sides of a comparison, chosen in the list of all passes, and where that leads."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from omnitui.results.catalog import Row as Known
from omnitui.ui.browsing.messages import SeriesRead
from omnitui.ui.browsing.pass_rows import Marked
from omnitui.ui.browsing.reading import series_of
from omnitui.ui.messages import ComparisonChosen, TrendsChosen
from omnitui.ui.screens.exporting import Exporting

_PASS, _SERIES = Binding.Group("pass to A, B"), Binding.Group("series to A, B")


class MarkKeys(Exporting):
    """Puts passes on sides. Subclasses show them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "mark('a')", "to A", tooltip="Put the pass on side A, or take it off", group=_PASS),
        Binding("b", "mark('b')", "to B", tooltip="Put the pass on side B, or take it off", group=_PASS),
        Binding("A", "mark_series('a')", "series to A", tooltip="Put its whole series on side A", group=_SERIES),
        Binding("B", "mark_series('b')", "series to B", tooltip="Put its whole series on side B", group=_SERIES),
        Binding("c", "compare", "compare", tooltip="Compare side B with side A"),
        Binding("e", "export", "export", tooltip="Write the results of its run as md, csv, json or html"),
        Binding("m", "trends", "trends", tooltip="A metric over the commits, of this runbook on this GPU"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.marked = Marked()

    @property
    def selected(self) -> Known | None:
        """The pass under the cursor."""
        raise NotImplementedError

    def show_marks(self) -> None:
        """Show the letters of the sides."""
        raise NotImplementedError

    def why_not(self, action: str) -> str:
        """A mark needs a pass, and a comparison two sides."""
        if action in ("mark", "mark_series", "export", "trends"):
            return "" if self.is_mounted and self.selected is not None else "The cursor is on no pass."
        if action == "compare":
            empty = [side for side, there in (("A", self.marked.a), ("B", self.marked.b)) if not there]
            lacks = f"No pass is on side {' or '.join(empty)}: {' and '.join(map(str.lower, empty))}"
            return f"{lacks} put{'s' * (len(empty) == 1)} the one under the cursor there." if empty else ""
        return super().why_not(action)

    def action_mark(self, side: str) -> None:
        """Put the pass under the cursor on a side."""
        if self.selected is not None:
            self._mark(side, frozenset({self.selected.folder}))

    def action_mark_series(self, side: str) -> None:
        """Put its whole series there: which passes it has is read."""
        one = self.selected
        if one is None:
            return
        self.in_thread(lambda: SeriesRead(side, series_of(one)), "series")

    def on_series_read(self, message: SeriesRead) -> None:
        """Put them there."""
        self._mark(message.side, message.folders)

    def _mark(self, side: str, folders: frozenset[str]) -> None:
        self.marked = self.marked.toggled(side, folders)
        self.show_marks()
        self.refresh_bindings()

    def action_compare(self) -> None:
        """B against A."""
        self.post_message(ComparisonChosen(self.marked.a, self.marked.b))

    def action_trends(self) -> None:
        """Of what the pass under the cursor is one point."""
        if (one := self.selected) is not None:
            self.post_message(TrendsChosen(one.runbook, one.gpu))

    def action_export(self) -> None:
        """The results of its run."""
        if self.selected is not None:
            self.export_run(self.selected.run)
