"""The keys that work here and now, as the screen's own bindings name them; a click presses them."""

from textual.binding import ActiveBinding
from textual.events import Mount

from omnitui.ui.widgets.flow import Chip, Flow
from omnitui.ui.widgets.rows import Cell


class KeyBar(Flow):
    """The last lines of a screen."""

    def on_mount(self, _event: Mount) -> None:
        """Follow the bindings."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _screen: self.read_keys())
        self.read_keys()

    def read_keys(self) -> None:
        """Show the keys that do something now; the help tells the others too."""
        bindings = [one for one in self.screen.active_bindings.values() if one.enabled and one.binding.show]
        self.show([_chip(self.app.get_key_display(one.binding), one) for one in bindings])

    def clicked(self, key: str) -> None:
        """Press the key."""
        self.app.simulate_key(key)


def _chip(shown: str, active: ActiveBinding) -> Chip:
    return Chip((Cell(shown, "blue"), Cell(f" {active.binding.description}", "muted")), active.binding.key)
