"""The gates' last readings, for whoever watches: a small file that is replaced when a verdict or figure changes.

It is not the truth and not durable. The file's own time is the age of the newest reading.
"""

import time
from typing import Literal

import msgspec
from msgspec import Struct

from omnitui import store
from omnitui.errors import StoreError
from omnitui.gates import Green, Moot, Red, Unknown, Verdict
from omnitui.store import RunFolder

Kind = Literal["green", "red", "unknown", "moot"]
_AT_MOST_EVERY_S = 1.0


class Shown(Struct, frozen=True):
    """One gate as it was last read. `at` is seconds since the epoch."""

    word: str
    about: str
    kind: Kind
    reason: str
    at: float
    ends: bool = False
    """The gate belongs to a step or server that has ended: it does not grow stale."""


def kind_of(verdict: Verdict) -> Kind:
    """The verdict's name."""
    match verdict:
        case Green():
            return "green"
        case Red():
            return "red"
        case Moot():
            return "moot"
        case Unknown():
            return "unknown"


class Board:
    """What the runner shows. Verdicts that change are written at once, mere figures once a second at most."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._shown: dict[tuple[str, str], Shown] = {}
        self._written = 0.0
        self._dirty = False

    def show(self, about: str, word: str, verdict: Verdict, *, by_reason: bool = False) -> bool:
        """Show a gate; True when its verdict is another than before (or, `by_reason`, when its reason is)."""
        before = self._shown.get((about, word))
        shown = Shown(word, about, kind_of(verdict), verdict.reason, time.time())
        self._shown[about, word] = shown
        changed = before is None or before.kind != shown.kind or (by_reason and before.reason != shown.reason)
        self._dirty = True
        self.flush(force=changed)
        return changed

    def end(self, about: str) -> None:
        """The step or server is over: its gates keep their last reading."""
        for key, shown in self._shown.items():
            if key[0] == about:
                self._shown[key] = msgspec.structs.replace(shown, ends=True)
        self._dirty = True

    def begin(self, about: str, scope: str) -> None:
        """A step begins: its old gates go, and those of ended steps of other scopes."""
        self.forget(about)
        keep = {key: one for key, one in self._shown.items() if not one.ends or key[0].startswith(f"{scope}/")}
        self._shown = keep

    def forget(self, about: str) -> None:
        """The gates of a step that begins again, or of a server that is stopped."""
        self._shown = {key: shown for key, shown in self._shown.items() if key[0] != about}
        self._dirty = True

    def flush(self, *, force: bool = False) -> None:
        """Write what is shown, if it is time. Losing this file loses nothing, so a full disk is not told here."""
        if not self._dirty or (not force and time.monotonic() - self._written < _AT_MOST_EVERY_S):
            return
        try:
            store.replace_file(self._run.live, msgspec.json.encode(list(self._shown.values())), durable=False)
        except StoreError:
            return
        self._written = time.monotonic()
        self._dirty = False


def read(run: RunFolder) -> tuple[Shown, ...]:
    """The gates as last shown; nothing when there is no such file or it is not whole."""
    try:
        return msgspec.json.decode(run.live.read_bytes(), type=tuple[Shown, ...])
    except (OSError, msgspec.MsgspecError):
        return ()
