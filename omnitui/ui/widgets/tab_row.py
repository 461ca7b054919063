"""A line of tabs. It only shows which one is open: the screen decides."""

from collections.abc import Collection, Sequence

from omnitui.ui.widgets.flow import Chip, Flow
from omnitui.ui.widgets.rows import Cell


class TabRow(Flow):
    """Shows tabs, the open one marked by colour and by brackets that take the place of blanks."""

    GAP = 0
    two_lines = False

    def show_tabs(self, tabs: Sequence[tuple[str, str]], open_tab: str | Collection[str]) -> None:
        """Show tabs, each with a key and a word; several may be open."""
        opened = (open_tab,) if isinstance(open_tab, str) else open_tab
        self.show([_chip(key, word, opened=key in opened) for key, word in tabs])


def _chip(key: str, word: str, *, opened: bool) -> Chip:
    return Chip((Cell(f"[{word}]", "blue") if opened else Cell(f" {word} ", "muted"),), key)
