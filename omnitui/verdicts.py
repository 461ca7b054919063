"""The history of the gates of a run: every change of a verdict, with its time, from the journal."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from omnitui import store
from omnitui.live import Kind
from omnitui.store import RunFolder

_KINDS: tuple[Kind, ...] = ("green", "red", "unknown", "moot")
_MOST = 200
"""Changes of one gate that are kept; a gate that flaps for a night must not fill the memory."""


class Change(Struct, frozen=True):
    """A verdict from `at` on, in seconds since the epoch; `reason` is the last that was told of it."""

    at: float
    attempt: int
    kind: Kind
    reason: str


Gates = Mapping[tuple[str, str], tuple[Change, ...]]
"""For each gate, by its step and word, in the order in which they were first read: its changes, oldest first."""


class History:
    """Reads the journal on, from where it stopped last."""

    def __init__(self) -> None:
        self._gates: dict[tuple[str, str], tuple[Change, ...]] = {}
        self._attempts: dict[str, int] = {}

    @property
    def gates(self) -> Gates:
        """All that was read so far; a value of its own."""
        return dict(self._gates)

    def take(self, events: list[dict[str, Any]]) -> bool:
        """Take in events; True when a gate has changed. What somebody edited into nonsense is left out."""
        changed = False
        for event in events:
            step = str(event.get("step", ""))
            if event["event"] == "step_started":
                self._attempts[step] = _number(event.get("attempt"))
            elif event["event"] == "gate":
                changed = self._gate(step, event) or changed
        return changed

    def _gate(self, step: str, event: Mapping[str, Any]) -> bool:
        verdict, word = event.get("verdict"), event.get("word")
        if not isinstance(verdict, Mapping) or not isinstance(word, str):
            return False
        kind = next((kind for kind in _KINDS if kind == verdict.get("is")), None)
        try:
            at = datetime.fromisoformat(str(event.get("t"))).timestamp()
        except ValueError:
            return False
        if kind is None:
            return False
        change = Change(at, self._attempts.get(step, 1), kind, str(verdict.get("reason", "")))
        before = self._gates.get((step, word), ())
        if before and (before[-1].kind, before[-1].attempt) == (kind, change.attempt):
            change = replace(before[-1], reason=change.reason)
            before = before[:-1]
        self._gates[step, word] = (*before, change)[-_MOST:]
        return True


def read(run: RunFolder) -> Gates:
    """The whole history of a run."""
    history = History()
    history.take(store.events(run)[0])
    return history.gates


def _number(value: object) -> int:
    return value if isinstance(value, int) else 1
