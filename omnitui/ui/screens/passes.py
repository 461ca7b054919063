"""Results: all passes of all runs and imports. What is on the screen is read from the catalog, block by block."""

import threading
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from omnitui.errors import OmniError
from omnitui.results import catalog
from omnitui.results.catalog import Row as Known
from omnitui.ui.browsing.columns import Column, at, head
from omnitui.ui.browsing.messages import IndexChanged, PassesRead
from omnitui.ui.browsing.pass_rows import GROUP, about, columns, group_row, pass_row, unknown
from omnitui.ui.browsing.reading import Passes, stamp
from omnitui.ui.browsing.view import Found, GroupHead, Lines, View
from omnitui.ui.messages import PassChosen, WorkFailed
from omnitui.ui.screens.mark_keys import MarkKeys
from omnitui.ui.screens.view_keys import ViewKeys
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.line import Line
from omnitui.ui.widgets.rows import Cell, Row, RowLine
from omnitui.ui.widgets.table import Table

_POLL_S = 1.0


class PassesScreen(ViewKeys, MarkKeys):
    """Filter, order and groups are one frozen `View`; a thread reads what is on the screen of it."""

    CSS_PATH = ["passes.tcss", "../widgets/table.tcss"]  # noqa: RUF012
    AUTO_FOCUS = "Table"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "look", "look again", tooltip="Bring the list up to date with the folders"),
        Binding("escape", "back", "back", tooltip="Show all again, or go back"),
    ]

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.view = View(text=text)
        self._passes = Passes()
        self._lines = Lines(0, (), frozenset())
        self._folded: frozenset[str] = frozenset()
        self._asked: set[int] = set()
        self._changes = 0
        self._columns: tuple[Column, ...] = ()
        self._end = threading.Event()
        self._none = True

    def compose(self) -> ComposeResult:
        """Lay the screen out; a thread reads what the index knows meanwhile."""
        self._read((0,))
        yield RowLine(id="title", classes="title")
        yield Table(id="passes", classes="pane")
        yield Line(id="filter", compact=True, placeholder="run, commit, GPU, reason ...")
        yield RowLine(id="about-first", classes="about")
        yield RowLine(id="about-second", classes="about")
        yield KeyBar()

    def on_mount(self) -> None:
        """Say whose list it is."""
        self._show_title()

    def on_screen_resume(self) -> None:
        """Follow the index, from now until another screen covers this one."""
        if self.found is not None:
            self._begin_following()

    def _begin_following(self) -> None:
        self._end = threading.Event()
        self.run_worker(partial(self._follow, self._end), thread=True, group="follow")

    def on_screen_suspend(self) -> None:
        """Follow no more."""
        self._end.set()

    def on_unmount(self) -> None:
        """Follow no more."""
        self._end.set()

    # -- threads -----------------------------------------------------------------------------------------------

    def _read(self, blocks: Iterable[int], known: Found | None = None) -> None:
        wanted = tuple(blocks)
        self._asked.update(wanted)
        work = partial(self._read_blocks, self.view, wanted, known, self._changes)
        self.run_worker(work, thread=True, group="read")

    def _read_blocks(self, view: View, blocks: tuple[int, ...], known: Found | None, changes: int) -> None:
        try:
            found = self._passes.read(view, blocks, known)
            self.post_message(PassesRead(found, changes))
            if learnt := self._passes.learn(found):
                self.post_message(PassesRead(learnt, changes))
        except OmniError as error:
            self.post_message(WorkFailed(error))

    def _follow(self, end: threading.Event) -> None:
        """Bring the index up to date once; then notice when a run adds a pass to it."""
        try:
            catalog.refresh()
        except OmniError as error:
            self.post_message(WorkFailed(error))
        seen = None
        while not end.is_set():
            if (now := stamp()) != seen:
                seen = now
                self.post_message(IndexChanged())
            end.wait(_POLL_S)

    def on_index_changed(self) -> None:
        """Read what is on the screen again; the rest when it is seen."""
        shown = self._blocks() or (0,)
        self._changes += 1
        if self.found is not None:
            self.found = replace(self.found, blocks={n: self.found.blocks.get(n, ()) for n in shown})
        self._asked.clear()
        self._read(shown)

    # -- what was read -----------------------------------------------------------------------------------------

    def on_passes_read(self, message: PassesRead) -> None:
        """Show it, unless another view is wanted by now or the index has changed; the cursor stays on its pass."""
        found, before, table = message.found, self.found, self.query_one(Table)
        if found.view != self.view or message.changes != self._changes:
            return
        new, key = before is None or before.view != found.view, table.key
        if before and (before.view, before.count, before.groups) == (found.view, found.count, found.groups):
            found = replace(found, blocks={**before.blocks, **found.blocks})
        else:
            self._asked = set(found.blocks)
        self.found = found
        # A key that was typed after the view was changed has moved the cursor from its beginning.
        at, last = table.cursor, 0 < table.cursor == table.total - 1
        self._lines = Lines(found.count, found.groups, self._folded)
        line = self._line_of(key) if not new else self._lines.total - 1 if last else at
        self._show(line, follow=new or table.cursor_is_seen)
        self._need()
        if before is None:
            # Not before: ten thousand folders would keep the first rows from the screen.
            self._begin_following()

    def _line_of(self, key: str) -> int | None:
        """Where the row with a key stands now, if what was read tells."""
        if key.startswith(GROUP):
            return self._lines.of_group(key.removeprefix(GROUP))
        offset = self.found.offset_of(key) if self.found else None
        return None if offset is None else self._lines.of_pass(offset)

    def on_resize(self) -> None:
        """Other columns fit."""
        self.call_after_refresh(self._show)

    @on(Table.Seen)
    def _seen(self) -> None:
        # A thread that reads delays what is being drawn.
        self.call_after_refresh(self._need)

    def _blocks(self, screens_ahead: int = 0) -> set[int]:
        """The blocks of the lines on the screen, of so many screens above and below, and of the cursor's line."""
        table = self.query_one(Table)
        first, end = table.seen
        ahead = screens_ahead * (end - first)
        around = self._lines.blocks(max(0, first - ahead), min(self._lines.total, end + ahead))
        return {*around, *self._lines.blocks(table.cursor, table.cursor)}

    def _need(self) -> None:
        """Read what is on the screen, and a screen of it above and below."""
        missing = sorted(self._blocks(1) - self._asked)
        if self.found is not None and missing:
            self._read(missing, self.found)

    # -- showing it --------------------------------------------------------------------------------------------

    def _show(self, cursor: int | None = None, *, follow: bool = True) -> None:
        found = self.found
        if found is None:
            return
        table = self.query_one(Table)
        several = len(found.runbooks) != 1 and not self.view.runbook
        name = self.view.runbook or (found.runbooks[0][0] if found.runbooks else "")
        empty = unknown((one for rows in found.blocks.values() for one in rows), self.view.sort)
        width = table.scrollable_content_region.width
        self._columns = columns(None if several else found.primary.get(name, ()), empty, width)
        top = head(self._columns, self.view.sort, descending=self.view.descending)
        table.show(self._lines.total, self._row, top, cursor, follow=follow)
        self._show_title()
        self._show_about()

    def _row(self, index: int) -> Row | None:
        if self.found is None:
            return None
        place = self._lines.at(index)
        if isinstance(place, GroupHead):
            return group_row(place, self.view.group)
        one = self.found.pass_at(place)
        if one is None:
            return None
        return pass_row(one, self._columns, self.found.primary.get(one.runbook, ()), self.marked.of(one.folder))

    def _show_title(self) -> None:
        view, found = self.view, self.found
        told = [Cell("Results", "strong")]
        if found is not None:
            told.append(Cell(f"  {found.count} pass{'es' * (found.count != 1)}"))
        narrowed = (("runbook", view.runbook), ("by", view.group), ("with", view.text))
        told += [Cell(f" · {name} {value}", "blue") for name, value in narrowed if value]
        a, b = len(self.marked.a), len(self.marked.b)
        sides = (Cell(f"A {a} · B {b}", "blue"),) if a or b else ()
        self.query_one("#title", RowLine).show(Row("", tuple(told), sides))

    def _show_about(self) -> None:
        first, second = about(self.selected)
        if self.found is not None and not self._lines.total:
            first = Row("", (Cell(self._why_none(), "muted"),))
        self.query_one("#about-first", RowLine).show(first)
        self.query_one("#about-second", RowLine).show(second)
        if (self.selected is None) != self._none:
            self._none = not self._none
            self.refresh_bindings()

    def _why_none(self) -> str:
        if not self._changes:
            return "Looking through the folders of all runs ..."
        return "Nothing has that: escape shows all." if self.view.text else "No passes yet: a run makes them."

    def show_marks(self) -> None:
        """Show the letters of the sides."""
        self._show()

    @property
    def selected(self) -> Known | None:
        """The pass under the cursor."""
        if self.found is None or not self._lines.total:
            return None
        place = self._lines.at(min(self.query_one(Table).cursor, self._lines.total - 1))
        return self.found.pass_at(place) if isinstance(place, int) else None

    def on_cursor_rows_highlighted(self) -> None:
        """Tell of the pass under the cursor."""
        self._show_about()

    @on(Table.Chosen)
    def _chosen(self, message: Table.Chosen) -> None:
        # Its key, not its place: another pass may stand there by now.
        if not message.key.startswith(GROUP):
            if message.key:
                self.post_message(PassChosen(Path(message.key)))
        else:
            self._folded ^= {message.key.removeprefix(GROUP)}
            if self.found is not None:
                self._lines = Lines(self.found.count, self.found.groups, self._folded)
                self._show()
                self._need()

    @on(Table.HeadClicked)
    def _head_clicked(self, message: Table.HeadClicked) -> None:
        column = at(self._columns, message.x)
        if column is not None and column.sorts:
            self.change(self.view.sorted_by(column.key))

    # -- keys --------------------------------------------------------------------------------------------------

    @property
    def sorting(self) -> tuple[str, ...]:
        """The columns that are shown and sort."""
        return tuple(column.key for column in self._columns if column.sorts)

    def change(self, view: View) -> None:
        """Read another view."""
        if view == self.view:
            return
        if view.group != self.view.group:
            self._folded = frozenset()
        self.view, self._asked = view, set()
        self.query_one(Table).go(0)
        self._read((0,))

    def action_look(self) -> None:
        """Bring the list up to date with the folders."""
        self._end.set()
        self._begin_following()
