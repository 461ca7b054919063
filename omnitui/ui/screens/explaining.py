"""Screens that tell why a key of theirs can do nothing now."""

from textual.screen import Screen


class Explaining(Screen[None]):
    """A key that cannot act is shown as one; the app tells why when it is pressed all the same."""

    def why_not(self, action: str) -> str:
        """Why an action can do nothing now; empty when it can. Subclasses know."""
        del action
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key does anything now; None shows it as one that does not."""
        del parameters
        return None if self.why_not(action) else True
