"""Which panes of the Run screen are shown in which room, and which tabs lead to the others. Pure."""

from msgspec import Struct

NARROW, BROAD = 100, 160
"""Columns below which panes become tabs, and from which all of them fit beside each other."""
TALL, ROOMY = 32, 46
"""Lines from which logs and readings fit below the step, and from which all of them do."""
PARTS = (("command", "Command"), ("output", "Output"), ("notes", "Notes"), ("attempts", "Attempts"))
"""The parts of a step, with the words on their tabs."""
PANES = (
    ("logs", "Log"),
    ("gpu", "GPU"),
    ("host", "Host"),
    ("server", "Server"),
    ("gate-pane", "Gates"),
    ("timeline", "Time"),
)
"""The panes beside the checklist and the step, with the words on their tabs."""
_ACROSS = frozenset(("gate-pane", "timeline"))
"""What needs the whole width when it has no place of its own."""


class Room(Struct, frozen=True):
    """What there is to show, and how much of it fits. `logs` and `gpu`: the run has a server, names a GPU."""

    width: int
    height: int
    logs: bool = False
    gpu: bool = False


class Arrangement(Struct, frozen=True):
    """What is shown: the panes; the tabs, over everything or in the step's pane; and the open one."""

    shown: frozenset[str]
    tabs: tuple[tuple[str, str], ...]
    tabs_over: bool
    opened: str


def pane_of(name: str) -> str:
    """The pane that a tab's name leads to: parts lie in the step's."""
    return "step" if name in dict(PARTS) else name


def arranged(room: Room, at: str, part: str, *, maximised: bool) -> Arrangement:
    """The arrangement when the operator is `at` a pane or part, and `part` is the step's open one."""
    panes = tuple((name, word) for name, word in PANES if name != "logs" or room.logs)
    at = at if at in {"checklist", *dict(PARTS), *dict(panes)} else "checklist"
    every = (("checklist", "Steps"), *PARTS, *panes)
    if maximised or room.width < NARROW:
        return Arrangement(frozenset((pane_of(at),)), every, tabs_over=True, opened=at)
    resident = _resident(room)
    if pane_of(at) in resident:
        tabs = (*PARTS, *((name, word) for name, word in panes if name not in resident))
        return Arrangement(resident, tabs, tabs_over=False, opened=at if at in dict(PARTS) else part)
    shown = frozenset((at,)) if at in _ACROSS else frozenset(("checklist", at))
    return Arrangement(shown, every, tabs_over=True, opened=at)


def _resident(room: Room) -> frozenset[str]:
    """The panes that are always in view."""
    shown = {"checklist", "step"}
    if room.height >= TALL:
        shown |= {"host", *["logs"] * room.logs, *["gpu"] * room.gpu}
    if room.height >= ROOMY and room.width >= BROAD:
        shown |= {"server", "gate-pane"}
    elif room.height >= TALL and not room.gpu:
        shown |= {"server"}
    return frozenset(shown)
