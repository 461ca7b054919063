"""The gates of a run, each with its verdict, its last reading and its age; open, with its history."""

from typing import ClassVar

from textual.binding import Binding, BindingType

from omnitui.snapshot import Snapshot
from omnitui.ui.gate_texts import Chapter, chapters_of, gate_rows
from omnitui.ui.widgets.row_list import RowList
from omnitui.verdicts import Gates


class GatesPane(RowList):
    """Shows what `show` was last given. Enter opens and closes a gate."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "open", show=False, tooltip="Open or close the gate under the cursor"),
    ]

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._chapters: tuple[Chapter, ...] = ()
        self._opened: set[str] = set()
        self._now = 0.0

    def show(self, snapshot: Snapshot, history: Gates, now: float) -> None:
        """Show the gates of a run; `now` is in seconds since the epoch."""
        self._chapters, self._now = chapters_of(snapshot, history, now), now
        self._again()

    def _again(self) -> None:
        # Nobody looks: when it is shown it is given a size, and is laid out then.
        if width := self.scrollable_content_region.width:
            self.show_rows(gate_rows(self._chapters, self._opened, self._now, width))

    def on_resize(self) -> None:
        """Wrap anew."""
        self._again()

    def action_choose(self) -> None:
        """Open or close the gate that the cursor is on, or in: at once, as the next key may move it."""
        for gate in (gate for chapter in self._chapters for gate in chapter.gates):
            if self.key == gate.key or self.key.startswith((f"{gate.key} #", f"{gate.key} =")):
                self._opened ^= {gate.key}
                self._again()
                self.move_to(gate.key)
                return

    def on_cursor_rows_highlighted(self, message: RowList.Highlighted) -> None:
        """The cursor is the pane's own affair."""
        message.stop()
