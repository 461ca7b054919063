"""Which of all passes are listed, in which order and groups: the keys that change the list's view."""

from typing import ClassVar

from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.widgets import Input

from omnitui.ui.browsing.view import Found, View
from omnitui.ui.screens.browsing import Filtering, filter_key


class ViewKeys(Filtering):
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

    @property
    def text(self) -> str:
        """What the passes have."""
        return self.view.text

    def find(self, text: str) -> None:
        """Show those that have it."""
        self.change(replace(self.view, text=text))

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
        if self.view.runbook and self.focused is not self.query_one(Input):
            self.change(replace(self.view, runbook=""))
            self.show_all()
        else:
            super().action_back()
