"""The lock on provenance: what differs between two groups of passes, and whether that forbids comparing. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from omnitui.errors import UsageError
from omnitui.results.keys import UNKNOWN
from omnitui.runbook.part import Role

Keys = Mapping[str, str | None]
Kind = Literal["blocks", "despite", "subject", "told"]
ON_BOTH = "passes"
"""The key under which measurements that stand on both sides are told."""
NEVER = frozenset({"runbook", "rehearsal", ON_BOTH})
"""What no operator can wave through: stand-ins measure nothing, other runbooks measure something else, and what is
compared with itself shows nothing."""
ANY_UNKNOWN = "unknown"
"""Given to `--despite`: all keys that are not known on a side."""


class Difference(Struct, frozen=True):
    """One key that is not the same for all passes of both sides. A value of None is not known."""

    key: str
    kind: Kind
    a: tuple[str | None, ...]
    b: tuple[str | None, ...]
    why: str

    @property
    def blocks(self) -> bool:
        """Whether there is no verdict because of it."""
        return self.kind == "blocks"

    @property
    def final(self) -> bool:
        """Whether no operator can wave it through. Numbers of CI, of another setup, stand beside no others."""
        seen = {*self.a, *self.b}
        return self.key in NEVER or (self.key == "origin" and "ci" in seen and len(seen) > 1)


def differences(
    a: Sequence[Keys], b: Sequence[Keys], roles: Mapping[str, Role], despite: Iterable[str] = ()
) -> tuple[Difference, ...]:
    """All that differs between or within the sides, what blocks first. `UsageError` for a wrong `despite`."""
    waved = frozenset(despite)
    # What no side tells is not known either: it is there by its role.
    names = sorted({key for one in (*a, *b) for key in one} | roles.keys())
    for key in sorted(waved & NEVER):
        raise UsageError(f"--despite {key}: never; such a comparison says nothing")
    if unknown := sorted(waved - {ANY_UNKNOWN} - set(names)):
        raise UsageError(f"--despite {unknown[0]}: no such key; those that differ are listed by the comparison")
    found = []
    for key in names:
        one, other = _values(key, a), _values(key, b)
        role = roles.get(key, "equal")
        if why := _why(role, one, other):
            found.append(Difference(key, _kind(key, role, one, other, waved), one, other, why))
            if key in waved and found[-1].final:
                raise UsageError(f"--despite {key}: never; numbers of CI stand beside no others")
    order: tuple[Kind, ...] = ("blocks", "despite", "subject", "told")
    return tuple(sorted(found, key=lambda one: (order.index(one.kind), one.key)))


def unlike(passes: Sequence[Keys], roles: Mapping[str, Role]) -> tuple[Difference, ...]:
    """What is not the same for all of these passes and so forbids one average over them.

    What none of them tells is no difference that was seen: only comparing them with others needs it.
    """
    return tuple(one for one in differences(passes, passes, roles) if one.blocks and len(one.a) > 1)


def _values(key: str, side: Sequence[Keys]) -> tuple[str | None, ...]:
    seen = {one.get(key, UNKNOWN) for one in side}
    return tuple(sorted(seen, key=lambda value: (value is None, value or "")))


def _why(role: Role, a: tuple[str | None, ...], b: tuple[str | None, ...]) -> str:
    if UNKNOWN in (*a, *b):
        # Two that are not known are not equal either.
        return "not known" if role != "told" or {*a, *b} != {UNKNOWN} else ""
    if role == "subject":
        if len(a) > 1 or len(b) > 1:
            return "differs within a side"
        return "what is compared" if a != b else ""
    if len(a) > 1 or len(b) > 1:
        return "differs within a side"
    return "differs" if a != b else ""


def _kind(
    key: str, role: Role, a: tuple[str | None, ...], b: tuple[str | None, ...], waved: frozenset[str]
) -> Kind:
    if role == "told":
        return "told"
    unknown = UNKNOWN in (*a, *b)
    if role == "subject" and not unknown and len(a) == len(b) == 1:
        return "subject"
    if key in NEVER:
        return "blocks"
    return "despite" if key in waved or (unknown and ANY_UNKNOWN in waved) else "blocks"
