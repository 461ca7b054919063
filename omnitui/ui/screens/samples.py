"""The samples of a pass: worst first, reference and hypothesis aligned, latency, tokens, and the sound."""

from functools import partial
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.timer import Timer

from omnitui.results.alignment import align
from omnitui.results.samples import Sample, SampleSet
from omnitui.results.waveform import waveform
from omnitui.ui.browsing.columns import Column, at, fitting, head
from omnitui.ui.browsing.messages import SampleSeen, SampleSetsRead
from omnitui.ui.browsing.one_pass import samples_of
from omnitui.ui.browsing.sample_rows import (
    COLUMNS,
    Order,
    aligned_rows,
    field_rows,
    ordered,
    sample_row,
    sound_rows,
)
from omnitui.ui.messages import WorkFailed
from omnitui.ui.screens.browsing import Filtering, filter_key
from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.key_bar import KeyBar
from omnitui.ui.widgets.line import Line
from omnitui.ui.widgets.passage import Passage
from omnitui.ui.widgets.rows import Cell, Row, RowLine
from omnitui.ui.widgets.tab_row import TabRow
from omnitui.ui.widgets.table import Table

_REST_S = 0.08


class SamplesScreen(Filtering):
    """A tab for each folder of results; jiwer and soundfile are loaded by the thread that needs them."""

    CSS_PATH = ["samples.tcss", "../widgets/table.tcss"]  # noqa: RUF012
    AUTO_FOCUS = "Table"
    BINDINGS: ClassVar[list[BindingType]] = [
        filter_key("Show the samples that have a text"),
        Binding("greater_than_sign", "sort_by", "sort", key_display=">", tooltip="Sort by the next column"),
        Binding("o", "order", "order", tooltip="The other way round"),
        Binding("w", "next_set", "workload", tooltip="The samples of the next workload"),
        Binding("tab", "app.focus_next", "sample", priority=True, tooltip="Go to the sample, to scroll it"),
        Binding("Y", "copy", "copy", tooltip="Copy the sample to the terminal's clipboard"),
        Binding("escape", "back", "back", tooltip="Out of the filter, or back"),
    ]

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.sets: tuple[SampleSet, ...] = ()
        self._none = ""
        self.order = Order()
        self.shown: tuple[Sample, ...] = ()
        self._set = 0
        self._columns: tuple[Column, ...] = ()
        self._resting: Timer | None = None
        self._seen: SampleSeen | None = None

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield RowLine(id="title", classes="title")
        yield TabRow(id="tabs")
        yield Table(id="samples", classes="pane")
        yield Line(id="filter", compact=True, placeholder="id, words, error ...")
        sample = Passage(id="sample", classes="pane")
        sample.border_title = "Sample"
        yield sample
        yield KeyBar()

    def on_mount(self) -> None:
        """Read them."""
        name = "/".join(self.folder.parts[-2:])
        told = (Cell("Samples", "strong"), Cell(f"  {self.folder.parents[2].name} {name}", "muted"))
        self.query_one("#title", RowLine).show(Row("", told))
        self.in_thread(lambda: SampleSetsRead(samples_of(self.folder)))

    def on_sample_sets_read(self, message: SampleSetsRead) -> None:
        """Show the first workload."""
        self.sets, self._none = message.sets, "No samples are stored one by one."
        # Those with a WER are what one looks at sample by sample.
        scored = [n for n, one in enumerate(self.sets) if any(s.rate is not None for s in one.samples)]
        self._set = scored[0] if scored else 0
        self._show(0)
        self.refresh_bindings()

    def on_work_failed(self, message: WorkFailed) -> None:
        """Say in the place of the samples why there are none."""
        if not self.sets:
            message.prevent_default()
            self._none = f"✘ {message.error}"
            self._show_sample()

    def on_resize(self) -> None:
        """Other columns fit."""
        self.call_after_refresh(self._show)

    # -- showing -----------------------------------------------------------------------------------------------

    def _show(self, cursor: int | None = None) -> None:
        table = self.query_one(Table)
        tabs = [(str(n), f"{one.name} {len(one.samples)}") for n, one in enumerate(self.sets)]
        self.query_one(TabRow).show_tabs(tabs, str(self._set))
        self.shown = ordered(self.sets[self._set].samples, self.order) if self.sets else ()
        self._columns = fitting(COLUMNS, table.scrollable_content_region.width)
        top = head(self._columns, self.order.key, descending=self.order.descending)
        table.show(len(self.shown), self._row, top, cursor)
        self._look()

    def _row(self, index: int) -> Row | None:
        return sample_row(self.shown[index], self._columns) if index < len(self.shown) else None

    @property
    def selected(self) -> Sample | None:
        """The sample under the cursor."""
        index = self.query_one(Table).cursor
        return self.shown[index] if index < len(self.shown) else None

    def _look(self) -> None:
        """Show what is known of the sample; a thread aligns it and reads its sound."""
        one = self.selected
        self._show_sample()
        if self._resting is not None:
            self._resting.stop()
        if one is not None and not self._is_of(one, self._seen):
            # Whoever holds a key down looks at none of those on the way.
            self._resting = self.set_timer(_REST_S, partial(self._align, one))

    def _align(self, one: Sample) -> None:
        workload, columns = self._set, max(8, self.query_one("#sample").size.width - 4)

        def work() -> SampleSeen:
            # A score without words means that nothing was heard.
            both = one.reference and (one.hypothesis or one.rate is not None)
            aligned = align(one.reference, one.hypothesis) if both else None
            sound = waveform(Path(one.wav), columns) if one.there else None
            return SampleSeen(workload, one.id, aligned, sound)

        self.in_thread(work, "sample", exclusive=True)

    def on_sample_seen(self, message: SampleSeen) -> None:
        """Show it, if the cursor is still there: what comes late must not take the place of what is shown."""
        if (one := self.selected) is not None and self._is_of(one, message):
            self._seen = message
            self._show_sample()

    def _is_of(self, one: Sample, seen: SampleSeen | None) -> bool:
        return seen is not None and (seen.workload, seen.id) == (self._set, one.id)

    def _show_sample(self) -> None:
        pane, one = self.query_one("#sample", Passage), self.selected
        if one is None:
            unread = self.sets[self._set].unread if self.sets else ()
            told = [*unread] or ["No sample has that." if self.sets and self.order.text else self._none]
            pane.show_rows([Row("", (Cell(text, "muted"),)) for text in told])
            return
        seen = self._seen if self._is_of(one, self._seen) else None
        aligned, sound = (seen.aligned, seen.sound) if seen else (None, None)
        rows = [Row("", (Cell(one.id, "strong"),))]
        rows += aligned_rows(aligned, pane.scrollable_content_region.width) if aligned else _texts(one)
        rows += sound_rows(one, sound)
        pane.show_rows([*rows, *field_rows(one)])

    @on(Table.Highlighted)
    def _highlighted(self) -> None:
        self._look()

    @on(Table.Chosen)
    def _chosen(self) -> None:
        self.set_focus(self.query_one("#sample"))

    @on(Table.HeadClicked)
    def _head_clicked(self, message: Table.HeadClicked) -> None:
        column = at(self._columns, message.x)
        if column is not None and column.sorts:
            self._sort(column.key)

    @on(Flow.Clicked, "#tabs")
    def _tab_clicked(self, message: Flow.Clicked) -> None:
        self._set = int(message.key)
        self._show(0)

    # -- keys --------------------------------------------------------------------------------------------------

    def _sort(self, key: str) -> None:
        descending = not self.order.descending if key == self.order.key else key != "id"
        self.order = replace(self.order, key=key, descending=descending)
        self._show(0)

    def action_sort_by(self) -> None:
        """By the next column that is shown."""
        keys = [column.key for column in self._columns if column.sorts]
        if keys:
            now = keys.index(self.order.key) if self.order.key in keys else -1
            self._sort(keys[(now + 1) % len(keys)])

    def action_order(self) -> None:
        """The other way round."""
        self.order = replace(self.order, descending=not self.order.descending)
        self._show(0)

    def action_next_set(self) -> None:
        """The samples of the next workload."""
        if self.sets:
            self._set = (self._set + 1) % len(self.sets)
            self._show(0)

    @property
    def text(self) -> str:
        """What the samples have."""
        return self.order.text

    def find(self, text: str) -> None:
        """Show those that have it."""
        if text != self.order.text:
            self.order = replace(self.order, text=text)
            self._show(0)

    def action_copy(self) -> None:
        """The sample as it is shown."""
        self.copy(self.query_one("#sample", Passage).text)


def _texts(one: Sample) -> list[Row]:
    told = (("ref  ", one.reference), ("hyp  ", one.hypothesis))
    return [Row("", (Cell(word, "muted"), Cell(text))) for word, text in told if text]
