"""Pieces of text that follow each other and wrap as wholes: gates, keys and tabs."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import ClassVar, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from omnitui.sanitise import plain
from omnitui.ui.widgets.rows import Cell, Toned, cut


class Chip(NamedTuple):
    """One piece; it has a key when something happens on a click."""

    cells: tuple[Cell, ...]
    key: str = ""

    @property
    def width(self) -> int:
        """Its width in cells."""
        return sum(max(cell.width, cell_len(plain(cell.text))) for cell in self.cells)


class Flow(Toned):
    """Shows chips in one line, or two where `two_lines` allows it (class `-two`); counts what is left out."""

    GAP: ClassVar[int] = 2
    """Blank cells between two chips."""
    two_lines: ClassVar[bool] = True

    class Clicked(Message):
        """A chip with a key was clicked."""

        def __init__(self, flow: "Flow", key: str) -> None:
            super().__init__()
            self.flow = flow
            self.key = key

        @property
        def control(self) -> "Flow":
            """The widget."""
            return self.flow

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._chips: tuple[Chip, ...] = ()
        self._lines: list[list[Chip]] = []

    @property
    def chips(self) -> tuple[Chip, ...]:
        """What is shown."""
        return self._chips

    def show(self, chips: Sequence[Chip]) -> None:
        """Show other chips; the same ones are not drawn again."""
        if tuple(chips) != self._chips:
            before = self._lines
            self._chips = tuple(chips)
            self._lay()
            for y, (old, new) in enumerate(zip_longest(before, self._lines)):
                if old != new:
                    self.refresh(Region(0, y, self.size.width, 1))

    def on_resize(self) -> None:
        """Wrap anew: the first paint comes before the size is known."""
        self._lay()
        self.refresh()

    def _lay(self) -> None:
        width = self.size.width
        if not width:
            return
        most = 2 if self.two_lines else 1
        lines: list[list[Chip]] = [[]]
        used = 0
        for number, chip in enumerate(self._chips):
            last = len(lines) == most
            more = len(self._chips) - number - 1
            reserve = len(f"+{more}") + self.GAP if last and more else 0
            if lines[-1] and used + self.GAP + chip.width + reserve > width:
                if last:
                    lines[-1].append(Chip((Cell(f"+{more + 1}", "muted"),)))
                    break
                lines.append([])
                used = 0
            used += chip.width + self.GAP * bool(lines[-1])
            lines[-1].append(chip)
        self._lines = lines
        self.set_class(len(lines) > 1, "-two")

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        base, width = self.rich_style, self.size.width
        if y >= len(self._lines):
            return Strip.blank(width, base)
        segments: list[Segment] = []
        room = width
        for chip in self._lines[y]:
            gap = self.GAP * bool(segments)
            segments.append(Segment(" " * gap, base))
            room -= gap
            for cell in chip.cells:
                segments.append(cut(self.segment(cell, base), max(0, room)))
                room -= segments[-1].cell_length
        return Strip(segments).crop_extend(0, width, base)

    def on_click(self, event: events.Click) -> None:
        """Find the chip."""
        offset = event.get_content_offset(self)
        if offset is None or offset.y >= len(self._lines):
            return
        x = 0
        for chip in self._lines[offset.y]:
            if x <= offset.x < x + chip.width and chip.key:
                self.clicked(chip.key)
                return
            x += chip.width + self.GAP

    def clicked(self, key: str) -> None:
        """Tell that a chip was clicked."""
        self.post_message(self.Clicked(self, key))
