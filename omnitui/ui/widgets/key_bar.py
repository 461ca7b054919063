"""The keys that work here and now, as the screen's own bindings name them; a click presses them."""

from itertools import groupby

from textual.binding import ActiveBinding
from textual.events import Mount

from omnitui.ui.widgets.flow import Chip, Flow
from omnitui.ui.widgets.rows import Cell

_NARROW = 100


class KeyBar(Flow):
    """The last lines of a screen. Where they are short, keys of one group share one word."""

    def on_mount(self, _event: Mount) -> None:
        """Follow the bindings."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.read_keys())
        self.read_keys()

    def on_resize(self) -> None:
        """Say more, or less."""
        self.read_keys()
        super().on_resize()

    def read_keys(self) -> None:
        """Show the keys that do something now; the help tells the others too."""
        bindings = [one for one in self.screen.active_bindings.values() if one.enabled and one.binding.show]
        chips: list[Chip] = []
        for group, members in groupby(bindings, key=self._group):
            if group:
                keys = [Chip((Cell(self._shown(one), "blue"),), one.binding.key) for one in members]
                chips += [*keys[:-1], Chip((*keys[-1].cells, Cell(f" {group}", "muted")), keys[-1].key)]
            else:
                chips += [
                    Chip(
                        (Cell(self._shown(one), "blue"), Cell(f" {one.binding.description}", "muted")),
                        one.binding.key,
                    )
                    for one in members
                ]
        self.show(chips)

    def _shown(self, active: ActiveBinding) -> str:
        return self.app.get_key_display(active.binding)

    def _group(self, active: ActiveBinding) -> str:
        group = active.binding.group
        return group.description if group and self.size.width < _NARROW else ""

    def clicked(self, key: str) -> None:
        """Press the key."""
        self.app.simulate_key(key)
