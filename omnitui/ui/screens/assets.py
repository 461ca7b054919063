"""Assets: the models and data sets of a runbook, whether they are there, and their downloads."""

import threading
from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from omnitui import downloads, stock
from omnitui.assets import Cached, Found, Wanted
from omnitui.downloads import Event, Progress
from omnitui.errors import OmniError
from omnitui.sanitise import plain
from omnitui.stock import Shelf, Stock
from omnitui.ui.asset_messages import DownloadsRead, ShelfRead, StockRead
from omnitui.ui.asset_texts import about, asset_row, summary_row, title_row, where_row
from omnitui.ui.messages import WorkFailed
from omnitui.ui.screens.explaining import Explaining
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.rows import Cell, Row, RowLine

_POLL_S = 0.3


class AssetsScreen(Explaining):
    """One thread looks; downloads are processes of their own, which go on when this screen is left."""

    CSS_PATH = "assets.tcss"
    AUTO_FOCUS = "RowList"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "download", "download", tooltip="Download what is under the cursor, at its revision"),
        Binding("D", "download_all", "all", tooltip="Download all that is not there"),
        Binding("x", "stop", "stop", tooltip="Stop the download under the cursor; whole files are kept"),
        Binding("r", "look", "look again", tooltip="Look at the cache again"),
        Binding("tab", "app.focus_next", "details", tooltip="Go to the details, to scroll them"),
        Binding("escape", "app.pop_screen", "back", tooltip="Go back; downloads go on"),
    ]

    @staticmethod
    def shelf_of(runbook: str, values: Mapping[str, str]) -> Shelf:
        """What the runbook wants with these values."""
        return stock.shelf_of(runbook, values, lenient=True)

    @staticmethod
    def take_stock(shelf: Shelf) -> Stock:
        """Look at the cache."""
        return stock.look(shelf)

    @staticmethod
    def last(shelf: Shelf, asset: Wanted) -> Event | None:
        """How far the download of an asset is, or how the last one ended."""
        return downloads.find(shelf.hub, asset).last()

    def __init__(self, runbook: str, values: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._wanted = runbook
        self._values = dict(values or {})
        self._shelf: Shelf | None = None
        self._stock: Stock | None = None
        self._events: Mapping[str, Event] = {}
        self._looking = True
        self._looks = 0
        self._again = threading.Event()
        self._end = threading.Event()

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        title = RowLine(classes="title")
        title.show(title_row(None, self._wanted))
        yield title
        yield RowLine(id="where")
        rows = RowList(id="assets", classes="pane")
        rows.border_title = "Models and data sets"
        yield rows
        with VerticalScroll(id="about", classes="pane") as pane:
            pane.border_title = "Details"
            yield Static(id="about-text", markup=False)
        yield RowLine(id="summary")
        yield KeyBar()

    def on_mount(self) -> None:
        """Begin to look."""
        self._show()
        self.run_worker(self._watch, thread=True)

    def on_unmount(self) -> None:
        """Look no more."""
        self._end.set()

    # -- the thread --------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._end.is_set():
            self._again.clear()
            try:
                shelf = self.shelf_of(self._wanted, self._values)
                self.post_message(ShelfRead(shelf))
                self._follow(shelf)
            except OmniError as error:
                self.post_message(WorkFailed(error))
                # Until the operator has put it right and asks again.
                while not self._end.is_set() and not self._again.wait(_POLL_S):
                    pass

    def _follow(self, shelf: Shelf) -> None:
        self._again.set()
        known: dict[str, Event] = {}
        while not self._end.is_set():
            told = {asset.id: self.last(shelf, asset) for asset in shelf.assets}
            events = {name: event for name, event in told.items() if event}
            if events != known:
                self.post_message(DownloadsRead(events))
            # What has ended, even while the cache was being looked at, may have brought something.
            if any(not isinstance(event, Progress) and known.get(name) != event for name, event in events.items()):
                self._again.set()
            known = events
            if self._again.is_set():
                self._again.clear()
                looks = self._looks
                self.post_message(StockRead(self.take_stock(shelf), looks))
            self._end.wait(_POLL_S)

    # -- what it found -----------------------------------------------------------------------------------------

    def on_shelf_read(self, message: ShelfRead) -> None:
        """Show what is wanted."""
        self._shelf = message.shelf
        self._show()

    def on_stock_read(self, message: StockRead) -> None:
        """Show what is there."""
        self._stock = message.stock
        # One that was asked for since is still to come.
        self._looking = message.looks != self._looks
        self._show()

    def on_downloads_read(self, message: DownloadsRead) -> None:
        """Show how far the downloads are."""
        self._events = message.events
        self._show()

    def on_work_failed(self, message: WorkFailed) -> None:
        """Say what cannot be done."""
        self._looking = False
        if self._shelf is None:
            # The details tell it whole; one line may cut it.
            told = f"✘ {message.error}"
            self.query_one("#about-text", Static).update(Content.styled(plain(told), "$text-error"))
            again = (Cell("r looks again", "muted"),)
            self.query_one("#summary", RowLine).show(Row("", (Cell(told, "red"),), again))
        else:
            self.notify(str(message.error), severity="error", timeout=12, markup=False)

    @property
    def looked(self) -> bool:
        """Whether the cache was looked at, and is not being looked at again."""
        return self._stock is not None and not self._looking

    def _show(self) -> None:
        shelf, rows = self._shelf, self.query_one("#assets", RowList)
        self.query_one(".title", RowLine).show(title_row(shelf, self._wanted))
        self.query_one("#where", RowLine).show(where_row(shelf))
        if shelf is None:
            self.query_one("#summary", RowLine).show(summary_row(None, looking=self._looking))
            return
        width = max(len(asset.id) for asset in shelf.assets) + 2
        found = self._found
        rows.show_rows([asset_row(a, found.get(a.id), self._events.get(a.id), width) for a in shelf.assets])
        self.query_one("#summary", RowLine).show(summary_row(self._stock, looking=self._looking))
        self._show_about()

    def _show_about(self) -> None:
        asset = self._selected
        if self._shelf and asset:
            text = about(self._shelf, asset, self._found.get(asset.id), self._events.get(asset.id))
            self.query_one("#about-text", Static).update(text)
        self.refresh_bindings()

    def on_cursor_rows_highlighted(self) -> None:
        """Show the details of that asset."""
        self._show_about()

    def on_cursor_rows_chosen(self) -> None:
        """Go to the details."""
        self.set_focus(self.query_one("#about"))

    @property
    def _found(self) -> dict[str, Found]:
        return {one.asset.id: one for one in self._stock.found} if self._stock else {}

    @property
    def _selected(self) -> Wanted | None:
        key = self.query_one("#assets", RowList).key if self.is_mounted else ""
        return next((asset for asset in self._shelf.assets if asset.id == key), None) if self._shelf else None

    # -- keys --------------------------------------------------------------------------------------------------

    def why_not(self, action: str) -> str:
        """A key does something only where there is something to do."""
        asset = self._selected
        if action == "download" and not (asset and self._fetchable(asset)):
            return "It is there, or on its way, or not looked at yet."
        if action == "download_all" and not any(map(self._fetchable, self._shelf.assets if self._shelf else ())):
            return "All are there, or on their way, or not looked at yet."
        if action == "stop" and not (asset and isinstance(self._events.get(asset.id), Progress)):
            return "No download of it is at work."
        return super().why_not(action)

    def _fetchable(self, asset: Wanted) -> bool:
        found = self._found.get(asset.id)
        at_work = isinstance(self._events.get(asset.id), Progress)
        return found is not None and not isinstance(found.state, Cached) and not at_work

    def action_download(self) -> None:
        """Download the one under the cursor."""
        if self._selected:
            self._begin((self._selected,))

    def action_download_all(self) -> None:
        """Download all that is not there."""
        if self._shelf:
            self._begin(tuple(filter(self._fetchable, self._shelf.assets)))

    def _begin(self, wanted: tuple[Wanted, ...]) -> None:
        shelf = self._shelf
        if shelf is None:
            return

        def begin() -> None:
            for asset in wanted:
                try:
                    stock.fetch(shelf, asset)
                except OmniError as error:
                    self.post_message(WorkFailed(error))

        self.run_worker(begin, thread=True)

    def action_stop(self) -> None:
        """Stop the download under the cursor."""
        if self._shelf and self._selected:
            downloads.find(self._shelf.hub, self._selected).stop()

    def action_look(self) -> None:
        """Look at the cache again."""
        self._looking = True
        self._looks += 1
        self._show()
        self._again.set()
