"""From a snapshot and the gates' history to the lines of the Gates pane. Pure."""

from collections.abc import Iterator, Set
from datetime import UTC, datetime
from textwrap import wrap

from msgspec import Struct

from omnitui.model import Waiting
from omnitui.plan import PlannedStep, is_done
from omnitui.snapshot import Snapshot, is_stale, stays_fresh
from omnitui.ui.showing import gate_words, kind_unread, short_word
from omnitui.ui.signs import GATES, Sign, ago
from omnitui.ui.widgets.rows import Cell, Row
from omnitui.verdicts import Change, Gates

_WORD_CELLS, _VERDICT_CELLS, _AGE_CELLS = 14, 9, 12
_TITLE_FROM = 100
"""From this width on a gate's line also names its step."""
_LEAST = 20


class GateLine(Struct, frozen=True):
    """One gate: its last reading, when that was (None: never), and how its verdict changed."""

    key: str
    word: str
    title: str
    sign: Sign
    reason: str = ""
    at: float | None = None
    live: bool = False
    changes: tuple[Change, ...] = ()


class Chapter(Struct, frozen=True):
    """Gates that are at work now, to come, or of earlier steps."""

    title: str
    gates: tuple[GateLine, ...]


def chapters_of(snapshot: Snapshot, history: Gates, now: float) -> tuple[Chapter, ...]:
    """The gates of the scope that the run is in, and of the servers that are up."""
    current = snapshot.current or (snapshot.plan[-1] if snapshot.plan else None)
    serving = {record.step for record in snapshot.state.servers.values()}
    at_work: list[GateLine] = []
    coming: list[GateLine] = []
    earlier: list[GateLine] = []
    for planned in snapshot.plan if current else ():
        if current and planned.scope != current.scope and planned.id not in serving:
            continue
        found = list(_gates(snapshot, planned, history, now))
        if planned.id in serving or planned == snapshot.current:
            at_work += found
        elif is_done(snapshot.record(planned).status):
            earlier[:0] = found
        else:
            coming += found
    named = (("Now", at_work), ("To come", coming), ("Earlier", earlier))
    return tuple(Chapter(title, tuple(gates)) for title, gates in named if gates)


def _gates(snapshot: Snapshot, planned: PlannedStep, history: Gates, now: float) -> Iterator[GateLine]:
    status = snapshot.record(planned).status
    title = planned.step.title
    # What was read of a step that begins again is of its past.
    again = isinstance(status, Waiting)
    live = {one.word: one for one in snapshot.gates if one.about == planned.id and not again}
    past = {word: changes for (step, word), changes in history.items() if step == planned.id}
    told: set[str] = set()
    for word in dict.fromkeys((*live, *past)):
        told.add(short_word(word))
        key, changes = f"{planned.id} {word}", past.get(word, ())
        if word in live:
            shown = live[word]
            sign = GATES["stale" if is_stale(planned, shown, now) else shown.kind]
            alive = snapshot.holder is not None and not stays_fresh(planned, shown)
            yield GateLine(key, short_word(word), title, sign, shown.reason, shown.at, alive, changes)
        elif again:
            yield GateLine(key, short_word(word), title, GATES["to come"], changes=changes)
        else:
            last = changes[-1]
            yield GateLine(key, short_word(word), title, GATES[last.kind], last.reason, last.at, changes=changes)
    for word in gate_words(snapshot.runbook, planned.step):
        if word not in told:
            yield GateLine(f"{planned.id} {word}", word, title, GATES[kind_unread(word, status)])


def gate_rows(chapters: tuple[Chapter, ...], opened: Set[str], now: float, width: int) -> tuple[Row, ...]:
    """The lines of the pane; what is known of a gate follows it when it is open."""
    rows: list[Row] = []
    for chapter in chapters:
        rows.append(Row("", (Cell(chapter.title, "muted"),)))
        for gate in chapter.gates:
            rows.append(_gate_row(gate, now, width, is_open=gate.key in opened))
            rows += _inside(gate, width) if gate.key in opened else ()
    return tuple(rows)


def _gate_row(gate: GateLine, now: float, width: int, *, is_open: bool) -> Row:
    word = gate.word if len(gate.word) < 2 * _WORD_CELLS else f"{gate.word[: 2 * _WORD_CELLS - 1]}…"
    left = (
        Cell("▾ " if is_open else "▸ ", "muted"),
        Cell(f"{gate.sign.symbol} ", gate.sign.tone),
        Cell(f"{word} ", "strong", _WORD_CELLS),
        Cell(f"{gate.sign.word} ", gate.sign.tone, _VERDICT_CELLS),
        Cell("" if gate.reason == gate.word else gate.reason, "muted"),
    )
    age = age_of(gate, now)
    title = (Cell(gate.title, "muted", yields=True),) if width >= _TITLE_FROM else ()
    return Row(gate.key, left, (*title, Cell(age, "warn" if gate.sign.word == "STALE" else "muted", _AGE_CELLS)))


def age_of(gate: GateLine, now: float) -> str:
    """How old the last reading is, coarse enough to cost a slow line little."""
    if gate.at is None:
        return ""
    age = max(0.0, now - gate.at)
    if gate.live and age < 10:
        return "now"
    return f"{age // 10 * 10:.0f}s" if age < 60 else ago(age)


def _inside(gate: GateLine, width: int) -> Iterator[Row]:
    room = max(_LEAST, width - 6)
    texts = [gate.title, *(wrap(gate.reason, room) if gate.reason else ())]
    for number, text in enumerate(texts):
        yield Row(f"{gate.key} ={number}", (Cell("    "), Cell(text, "strong" if not number else "")))
    for number, change in enumerate(reversed(gate.changes)):
        sign = GATES[change.kind]
        at = datetime.fromtimestamp(change.at, UTC).strftime("%H:%M:%S")
        attempt = f"#{change.attempt} "
        yield Row(
            f"{gate.key} #{number}",
            (
                Cell(f"    {at} ", "muted"),
                Cell(attempt, "muted"),
                Cell(f"{sign.symbol} {sign.word} ", sign.tone, _VERDICT_CELLS + 2),
                Cell(change.reason, "muted"),
            ),
        )
    if not gate.changes:
        yield Row(f"{gate.key} #", (Cell("    "), Cell("Its verdict has not been told yet.", "muted")))
