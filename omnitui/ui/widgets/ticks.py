"""Several choices out of a few: each is ticked or not, by space, enter or a click."""

from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.strip import Strip
from textual.widgets import SelectionList

from omnitui.sanitise import plain


class Ticks(SelectionList[str]):
    """A list whose marks can be told apart without colours."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "select", "tick", tooltip="Take the choice under the cursor, or leave it out")
    ]

    def __init__(self, choices: tuple[str, ...], ticked: list[str]) -> None:
        super().__init__(*((Content(plain(one)), one, one in ticked) for one in choices), compact=True)

    def render_line(self, y: int) -> Strip:
        """Draw a mark only where there is one."""
        strip = super().render_line(y)
        index = self.scroll_offset.y + y
        if index >= self.option_count:
            return strip
        left, mark, *rest = strip
        ticked = self.get_option_at_index(index).value in self.selected
        return Strip([left, Segment("✔" if ticked else " ", mark.style), *rest])
