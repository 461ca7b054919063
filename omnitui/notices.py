"""What the operator is told wherever they are, from the events of a run. Pure.

The runner (for `on_event`) and the screen (for the terminal) read the same events, so both tell the same.
"""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from omnitui.model import PINNED

Kind: TypeAlias = Literal["red", "asks", "spoiled", "ended"]
WORDS: Mapping[str, str] = {
    "red": "a gate is red",
    "asks": "the run needs you",
    "spoiled": "the pass is spoiled",
    "ended": "the run has ended",
}
HEARD = frozenset(("step_started", "gate", "step_ended", "asking", "contaminated", "runner_ended"))
"""The events that may be notices."""
_ENDS_RED = ("failed", "crashed")
WITH_SERVER = "while the step ran"
"""Stands in the reason of a step that was cut short because its server was lost."""


class Notice(Struct, frozen=True):
    """One thing to tell. `step` is empty where it is about the whole run."""

    event: Kind
    step: str
    reason: str


class Listener:
    """Turns the events of one run into notices: a red gate and the red ends that come of it are one."""

    def __init__(self) -> None:
        self._red: set[str] = set()
        self._at = ""
        """The step at work."""

    def heard(self, event: str, facts: Mapping[str, Any], status: Mapping[str, Any]) -> Notice | None:
        """The notice of an event, if it is one; `status` is what its step's status is by now, as plain values."""
        step = str(facts.get("step", ""))
        match event:
            case "step_started":
                self._at = step
                self._red.discard(step)
            case "gate" if facts.get("word") == PINNED:
                # What comes of it is told: a server that is not started, a pass that is spoiled.
                return None
            case "gate":
                return self._gate(step, facts)
            case "step_ended" if status.get("is") in _ENDS_RED and step not in self._red:
                reason = str(status.get("reason", ""))
                # A server that is lost was told already, by its own gate, and ends the step that needs it.
                return None if self._red and WITH_SERVER in reason else Notice("red", step, reason)
            case "asking":
                return Notice("asks", step, str(status.get("question", facts.get("question", ""))))
            case "contaminated":
                return Notice("spoiled", step, str(facts.get("reason", "")))
            case "runner_ended" if facts.get("outcome") != "asking":
                return Notice("ended", "", str(facts.get("outcome", "")))
        return None

    def _gate(self, step: str, facts: Mapping[str, Any]) -> Notice | None:
        verdict = facts.get("verdict")
        if not isinstance(verdict, Mapping):
            return None
        if verdict.get("is") != "red":
            if verdict.get("is") == "green":
                self._red.discard(step)
            return None
        # With a server lost meanwhile, the end of the step tells whether that is why.
        if step in self._red or (step == self._at and self._red):
            return None
        self._red.add(step)
        return Notice("red", step, f"{facts.get('word', '')}: {verdict.get('reason', '')}")
