"""The notes of a step as a text to read: what the page says, when it is green, what helps, and what differs."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from omnitui.plan import PlannedStep
from omnitui.rendering import told
from omnitui.runbook.gates import Remedy
from omnitui.runbook.remedies import remedies_of
from omnitui.runbook.schema import Deviation, Runbook, Serve, Step
from omnitui.sanitise import plain

_NARROWEST = 20
_CODE = "$text-accent"


def notes_text(runbook: Runbook, planned: PlannedStep, width: int) -> Content:
    """All of it, wrapped to `width` cells, so that what is indented stays so."""
    step = planned.step
    phase = next(phase for phase in runbook.phases if phase.id == planned.phase)
    parts = [
        _paragraph(step.note, width),
        _section("It is green when", (_item("· ", plain(gate), width) for gate in _gates(runbook, step))),
        _section("When it is red", _remedies(remedies_of(runbook, step), width)),
        _section("Safer than the page", (line for one in step.deviations for line in _deviation(one, width))),
        [Content.styled("It deletes or rebuilds something: you are asked first.", "$text-warning")]
        * step.destructive,
        _section(plain(phase.title), [_paragraph(phase.note, width, "  ")] if phase.note.strip() else []),
    ]
    lines = [Content("\n").join(part) for part in parts if part]
    return (
        Content("\n\n").join(lines) if lines else Content.styled("The runbook says nothing more.", "$text-muted")
    )


def _gates(runbook: Runbook, step: Step) -> Iterator[str]:
    yield from map(told, step.gates)
    if isinstance(step, Serve):
        server = runbook.servers[step.server]
        yield f"{server.word}: our process listens on port {server.port} and {server.health} answers 200"


def _section(title: str, blocks: Iterator[list[Content]] | Sequence[list[Content]]) -> list[Content]:
    lines = [line for block in blocks for line in block]
    return [Content.styled(title, "bold"), *lines] if lines else []


def _remedies(remedies: tuple[Remedy, ...], width: int) -> Iterator[list[Content]]:
    for number, remedy in enumerate(remedies, 1):
        yield _item(f"{number}. ", " ".join(plain(remedy.say).split()), width)
        yield _lines(remedy.run, width, "     ", _CODE)


def _deviation(one: Deviation, width: int) -> Iterator[list[Content]]:
    yield _lines(one.page, width, "  page     ", _CODE)
    yield _lines(" ".join(one.does.split()), width, "  instead  ")
    yield _lines(" ".join(one.why.split()), width, "  because  ", "$text-muted")


def _item(mark: str, text: str, width: int) -> list[Content]:
    return _lines(text, width, f"  {mark}")


def _paragraph(text: str, width: int, indent: str = "") -> list[Content]:
    """A note keeps its own line breaks."""
    return _lines(text, width, indent)


def _lines(text: str, width: int, head: str, style: str = "") -> list[Content]:
    """Lines behind `head`, wrapped; all but the first begin with as many blanks."""
    room = max(_NARROWEST, width - len(head))
    found = [
        line
        for raw in text.strip("\n").split("\n")
        for line in Content.styled(plain(raw).rstrip(), style).wrap(room)
    ]
    if not text.strip():
        return []
    return [
        Content.assemble((head if not number else " " * len(head), "$text-muted"), line)
        for number, line in enumerate(found)
    ]
