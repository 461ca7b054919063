"""From a snapshot to what the Run screen shows: rows, chips and lines. Pure."""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby

from msgspec import Struct

from omnitui.gates import word_of
from omnitui.live import Shown
from omnitui.model import (
    PINNED,
    RUN_WIDE,
    Asking,
    Crashed,
    Failed,
    Passed,
    Running,
    Skipped,
    Status,
    Stopped,
    Waiting,
)
from omnitui.plan import PlannedStep, is_done
from omnitui.runbook.gates import Output
from omnitui.runbook.schema import Collect, Runbook, Serve, Step
from omnitui.snapshot import Snapshot, is_stale, stays_fresh
from omnitui.ui.signs import GATES, OUTCOMES, Sign, ago, clock_span, epoch, span
from omnitui.ui.statuses import of_status
from omnitui.ui.widgets.flow import Chip
from omnitui.ui.widgets.rows import Cell, Row

_OLD_S = 10.0
_REASON_CELLS = 44
_DONE_SHOWN = 2
_WORD_CELLS = 16


class Group(Struct, frozen=True):
    """A chapter of the checklist: the steps of one phase in one scope."""

    key: str
    title: str
    steps: tuple[PlannedStep, ...]


def groups_of(snapshot: Snapshot) -> tuple[Group, ...]:
    """The chapters in the order in which they run."""
    titles = {phase.id: phase.title for phase in snapshot.runbook.phases}
    several = len({planned.series for planned in snapshot.plan} - {RUN_WIDE}) > 1
    found = []
    for (scope, phase), steps in groupby(snapshot.plan, key=lambda planned: (planned.scope, planned.phase)):
        series, _, label = scope.partition("/")
        where = [series] * (several and series != RUN_WIDE) + [label] * (label != RUN_WIDE)
        found.append(Group(f"{scope}:{phase}", " · ".join([titles[phase], *where]), tuple(steps)))
    return tuple(found)


def gate_words(runbook: Runbook, step: Step) -> tuple[str, ...]:
    """The words that a step has to earn."""
    if isinstance(step, Serve):
        return (runbook.servers[step.server].word,)
    if isinstance(step, Collect) and not step.gates:
        return ("RUN_COMPLETE",)
    return tuple(dict.fromkeys(short_word(word_of(gate)) for gate in step.gates if not _bare(gate)))


def _bare(gate: object) -> bool:
    return isinstance(gate, Output) and not gate.word and not gate.pattern


def short_word(word: str) -> str:
    """A gate's word; of a pattern, what stands before its first group or class."""
    return re.split(r"[\\(\[.*+?^$|{]", word, maxsplit=1)[0] or word


# -- the checklist ---------------------------------------------------------------------------------------------


def checklist_rows(
    snapshot: Snapshot,
    groups: tuple[Group, ...],
    opened: Mapping[str, bool],
    now: float,
    far: tuple[str, str] = ("", ""),
) -> tuple[Row, ...]:
    """The lines of the checklist; a group's steps follow it when it is open. `far`: a step, and how far it is."""
    rows: list[Row] = []
    marked: set[str] = set()
    for group in groups:
        rows.append(_group_row(snapshot, group, is_open=opened[group.key]))
        scope = group.steps[0].scope
        if scope not in marked:
            marked.add(scope)
            rows += _mark_rows(snapshot, scope)
        if opened[group.key]:
            rows += [_step_row(snapshot, planned, now, far) for planned in group.steps]
    return tuple(rows)


def _mark_rows(snapshot: Snapshot, scope: str) -> Iterator[Row]:
    """Why a pass will not be averaged, below its first chapter: also while that is closed."""
    for mark in marks_of(snapshot, scope):
        yield Row("", (Cell("  ! ", "warn"), Cell(f"not averaged: {mark}", "warn")))


def marks_of(snapshot: Snapshot, scope: str) -> tuple[str, ...]:
    """Why the numbers of a pass must not be averaged, if so."""
    record = snapshot.state.passes.get(scope)
    return record.marks if record else ()


def _group_row(snapshot: Snapshot, group: Group, *, is_open: bool) -> Row:
    done = sum(is_done(snapshot.record(planned).status) for planned in group.steps)
    sign = Sign("✔", "done", "green")
    if done < len(group.steps):
        current = snapshot.current
        status = snapshot.record(current).status if current in group.steps and current else Waiting()
        sign = of_status(status, alive=snapshot.holder is not None)
    left = (
        Cell("▾ " if is_open else "▸ ", "muted"),
        Cell(f"{sign.symbol} ", sign.tone),
        Cell(group.title, "strong"),
    )
    return Row(group.key, left, (Cell(f"{done}/{len(group.steps)}", "muted"),))


def _step_row(snapshot: Snapshot, planned: PlannedStep, now: float, far: tuple[str, str]) -> Row:
    status = snapshot.record(planned).status
    sign = of_status(status, alive=snapshot.holder is not None)
    word = _word_at_stake(snapshot, planned, status)
    shown = word if len(word) <= _WORD_CELLS else word[: _WORD_CELLS - 1] + "…"
    tone = sign.tone if isinstance(status, Passed | Failed) else "muted"
    if isinstance(status, Running) and far[0] == planned.id and far[1]:
        shown, tone = far[1], "blue"
    left = (Cell(f"  {sign.symbol} ", sign.tone), Cell(planned.step.title))
    return Row(
        planned.id,
        left,
        (Cell(shown, tone, yields=True), Cell(_time_word(snapshot, planned, sign, now), "muted", 8)),
    )


def _word_at_stake(snapshot: Snapshot, planned: PlannedStep, status: Status) -> str:
    """The word that a step is to earn; of several, at work or red, the first that is not earned yet."""
    words = gate_words(snapshot.runbook, planned.step)
    if len(words) > 1 and isinstance(status, Running | Failed):
        read = {short_word(one.word): one.kind for one in snapshot.gates if one.about == planned.id}
        return next((word for word in words if read.get(word) not in (None, "green", "moot")), words[0])
    return words[0] if words else ""


def _time_word(snapshot: Snapshot, planned: PlannedStep, sign: Sign, now: float) -> str:
    record = snapshot.record(planned)
    match record.status:
        case Passed(already=True):
            return "already"
        case Passed():
            return span(record.attempts[-1].seconds) if record.attempts else ""
        case Running(since=since):
            return span(now - epoch(since)) if snapshot.holder else " no runner"
        case Waiting():
            return ""
        case Failed() | Stopped() | Crashed() | Skipped() | Asking():
            return sign.word


# -- the title and the step's own line -------------------------------------------------------------------------


def title_row(snapshot: Snapshot, now: float, *, unread: bool = False) -> Row:
    """Which run this is, which pass it is in, and whether anybody is at work on it, and until when.

    `unread`: it cannot be read any more, and nothing of that is known.
    """
    left = [Cell("REHEARSAL · ", "warn")] if snapshot.state.rehearsal else []
    left.append(Cell(snapshot.state.runbook, "strong"))
    step = snapshot.current
    if step and step.in_pass:
        order = snapshot.state.schedule
        left.append(Cell(f" · pass {step.label} ({order.index(step.scope) + 1} of {len(order)})"))
    left.append(Cell(f" · {snapshot.state.title}", "muted"))
    sign = OUTCOMES["unreadable" if unread else snapshot.outcome]
    if unread:
        told = "shown as it was last read"
    elif snapshot.holder:
        who = "runner alive" if snapshot.holder.role == "runner" else f"{snapshot.holder.role} at work"
        ends = "stopping" if "stop" in snapshot.asked else "holds after this step" if snapshot.asked else ""
        told = " · ".join(filter(None, (f"{who} {clock_span(now - snapshot.since)}", ends)))
    else:
        told = f"no runner · last event {ago(now - snapshot.since)}" if snapshot.state.steps else "not begun"
    return Row("", tuple(left), (Cell(f"{sign.symbol} {sign.word}  ", sign.tone), Cell(told, "muted")))


def step_row(snapshot: Snapshot, planned: PlannedStep, attempt: int, now: float) -> Row:
    """The line above a step's command and output."""
    record = snapshot.record(planned)
    sign = of_status(record.status, alive=snapshot.holder is not None)
    left = (Cell(planned.step.title, "strong"), Cell(f" · {planned.step.id}", "muted"))
    took = ""
    if isinstance(record.status, Running) and snapshot.holder:
        took = f" {span(now - epoch(record.status.since))}"
    elif record.attempts and not isinstance(record.status, Waiting):
        took = f" in {span(record.attempts[-1].seconds)}" if record.attempts[-1].seconds else ""
    words = [f"attempt {attempt} · "] if attempt else []
    edited = (Cell("edited · ", "warn"),) if record.edited else ()
    return Row(
        "", left, (*edited, Cell("".join(words), "muted"), Cell(f"{sign.symbol} {sign.word}{took}", sign.tone))
    )


# -- the gate bar ----------------------------------------------------------------------------------------------


def gate_chips(snapshot: Snapshot, now: float) -> tuple[Chip, ...]:
    """The gates of the scope that the run is in: the last earned ones, those at work, those to come.

    Only what is polled has an age: an output gate is read when there is output, and silence is not staleness.
    """
    current = snapshot.current or (snapshot.plan[-1] if snapshot.plan else None)
    if current is None:
        return ()
    serving = {record.step for record in snapshot.state.servers.values()}
    done: list[Chip] = []
    rest: list[Chip] = []
    for planned in snapshot.plan:
        if planned.scope != current.scope and planned.id not in serving:
            continue
        status = snapshot.record(planned).status
        # What was read of a step that begins again is of its past.
        read = () if isinstance(status, Waiting) else snapshot.gates
        # Threads that keep to their CPUs leave the room to words that the page asks for.
        quiet = (PINNED, "green")
        shown = [one for one in read if one.about == planned.id and (one.word, one.kind) != quiet]
        over = is_done(status) and planned.id not in serving
        for gate in shown:
            stale = is_stale(planned, gate, now)
            age_s = 0.0 if stays_fresh(planned, gate) else now - gate.at
            chip = _chip(gate, age_s, stale=stale, alive=snapshot.holder is not None)
            (done if over else rest).append(chip)
        if not shown:
            words = gate_words(snapshot.runbook, planned.step)
            (done if over else rest).extend(_unread(words, status if over else Waiting()))
    return (*done[-_DONE_SHOWN:], *rest)


def _unread(words: tuple[str, ...], status: Status) -> Iterator[Chip]:
    for word in words:
        sign = GATES[kind_unread(word, status)]
        yield Chip((Cell(f"{sign.symbol} ", sign.tone), Cell(word[:24], "muted")))


def kind_unread(word: str, status: Status) -> str:
    """Of a gate without a reading: green only with evidence; what a step was done without is moot."""
    if not isinstance(status, Passed):
        return "moot" if is_done(status) else "to come"
    told = {short_word(one.partition(": ")[0]) for one in status.evidence}
    return "green" if status.already or word in told else "moot"


def _chip(gate: Shown, age: float, *, stale: bool, alive: bool) -> Chip:
    sign = GATES["stale" if stale else gate.kind]
    cells = [Cell(f"{sign.symbol} ", sign.tone), Cell(short_word(gate.word)[:24], "strong")]
    if stale:
        cells.append(Cell(f" STALE {span(age)}", "warn"))
    if gate.reason and gate.reason != gate.word and not (gate.ends and gate.kind == "green"):
        reason = gate.reason if len(gate.reason) <= _REASON_CELLS else gate.reason[: _REASON_CELLS - 1] + "…"
        cells.append(Cell(f" {reason}", "muted"))
    if not gate.ends and not stale and age >= _OLD_S:
        cells.append(Cell(f" {span(age)}" if alive else f" {ago(age)}", "muted"))
    return Chip(tuple(cells))
