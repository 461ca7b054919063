"""Which of all passes are listed, in which order and groups: the keys that change the list's view."""

from typing import ClassVar

from msgspec.structs import replace
from textual import on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from omnitui.ui.browsing.view import Found, View
from omnitui.ui.screens.browsing import Browsing, filter_key
from omnitui.ui.widgets.table import Table


class ViewKeys(Browsing):
    """Changes the view. Subclasses have the table and the line for the text, and read what is shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        filter_key("Show the passes that have a text anywhere"),
        Binding("less_than_sign", "sort_by(-1)", "sort back", show=False),
        Binding("greater_than_sign", "sort_by(1)", "sort", key_display="< >", tooltip="Sort by another column"),
        Binding("o", "order", "order", tooltip="The other way round"),
        Binding("u", "group", "group", tooltip="Group by commit, runbook, GPU, series, run, or not at all"),
        Binding("w", "runbook", "runbook", tooltip="One runbook, with its primary metrics; again for the next"),
    ]
    view = View()
    found: Found | None = None

    @property
    def sorting(self) -> tuple[str, ...]:
        """The columns that are shown and sort."""
        raise NotImplementedError

    def change(self, view: View) -> None:
        """Read another view."""
        raise NotImplementedError

    def action_filter(self) -> None:
        """Ask for a text."""
        prompt = self.query_one(Input)
        prompt.display = True
        prompt.value = self.view.text
        self.set_focus(prompt)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if event.input.has_focus:
            self.change(replace(self.view, text=event.value))

    @on(Input.Submitted)
    def _leave_filter(self) -> None:
        self.query_one(Table).focus()
        self.query_one(Input).display = False

    def action_sort_by(self, by: int) -> None:
        """By the next column that is shown, or the one before."""
        keys = self.sorting
        if keys:
            now = keys.index(self.view.sort) if self.view.sort in keys else -by
            self.change(self.view.sorted_by(keys[(now + by) % len(keys)]))

    def action_order(self) -> None:
        """The other way round."""
        self.change(replace(self.view, descending=not self.view.descending))

    def action_group(self) -> None:
        """By the next of the columns that make groups."""
        self.change(self.view.grouped_by_next())

    def action_runbook(self) -> None:
        """The passes of the next runbook; after the last, of all."""
        names = ["", *(name for name, _, _ in (self.found.runbooks if self.found else ()) if name)]
        now = names.index(self.view.runbook) if self.view.runbook in names else 0
        self.change(replace(self.view, runbook=names[(now + 1) % len(names)], sort="collected", descending=True))

    def action_back(self) -> None:
        """Out of the filter, to all passes, or back."""
        if self.query_one(Input).has_focus:
            self._leave_filter()
        elif self.view.text or self.view.runbook:
            self.change(replace(self.view, text="", runbook=""))
        else:
            self.app.pop_screen()
