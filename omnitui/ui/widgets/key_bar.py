"""The keys that work here and now, as the screen's own bindings name them; a click presses them."""

from itertools import groupby

from textual.binding import ActiveBinding
from textual.events import Mount

from omnitui.ui.widgets.flow import Chip, Flow
from omnitui.ui.widgets.rows import Cell

_NARROW = 100


def _is_shown(active: ActiveBinding) -> bool:
    return active.enabled and active.binding.show


class KeyBar(Flow):
    """The last lines of a screen. Where they are short, keys of one group share one word."""

    def on_mount(self, _event: Mount) -> None:
        """Follow the bindings."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.read_keys())
        self.read_keys()

    def on_resize(self) -> None:
        """Say more, or less."""
        self.read_keys()

    def read_keys(self) -> None:
        """Show the keys that do something now; the help tells the others too."""
        # A binding of several keys is one entry each; the last one is the shortest to name.
        bindings = {one.binding.action: one for one in self.screen.active_bindings.values() if _is_shown(one)}
        chips: list[Chip] = []
        for group, members in groupby(bindings.values(), key=self._group):
            *rest, last = members
            chips += [self._chip(one, "" if group else one.binding.description) for one in rest]
            chips.append(self._chip(last, group or last.binding.description))
        self.show(chips)

    def _chip(self, active: ActiveBinding, word: str) -> Chip:
        key = Cell(self._shown(active), "blue")
        return Chip((key, Cell(f" {word}", "muted")) if word else (key,), active.binding.key)

    def _shown(self, active: ActiveBinding) -> str:
        return self.app.get_key_display(active.binding)

    def _group(self, active: ActiveBinding) -> str:
        group = active.binding.group
        return group.description if group and self.size.width < _NARROW else ""

    def clicked(self, key: str) -> None:
        """Press the key."""
        self.app.simulate_key(key)
