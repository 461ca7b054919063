"""From a run's telemetry to its time line: figures over time, the steps, and what marked a pass. Pure."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from omnitui.samples import Boundary, Contaminated, Gpu, Line, Notice, Sample
from omnitui.ui.gpu_texts import gib
from omnitui.ui.plots import columns, plot
from omnitui.ui.signs import Tone, span
from omnitui.ui.widgets.rows import Cell, Row

_LABEL, _RIGHT = 13, 18
_HOLDS_S = 2.0
"""A sample is taken each second; on a busy machine it comes late, and that is no gap."""
_SIGNS: Mapping[str, tuple[str, Tone]] = {
    "passed": ("✔", "green"),
    "failed": ("✘", "red"),
    "crashed": ("✘", "red"),
    "stopped": ("■", "warn"),
    "asking": ("?", "warn"),
    "skipped": ("–", "muted"),
    "": ("▶", "blue"),
}


class Window(Struct, frozen=True):
    """The time that is shown, in seconds since the epoch; `until` 0 follows the run."""

    since: float = 0.0
    until: float = 0.0


class Stretch(Struct, frozen=True):
    """One attempt of a step, as far as it lies in the window."""

    step: str
    began: float
    ended: float
    outcome: str = ""
    """Empty while it runs."""


class Curve(Struct, frozen=True):
    """One figure over time, and how it is drawn."""

    name: str
    value: Callable[[Sample], float | None]
    unit: str
    top: float = 0.0
    """0: as high as the greatest value."""
    tone: Tone = ""


def whole(lines: Sequence[Line]) -> Window:
    """The window of all lines."""
    return Window(lines[0].at, lines[-1].at) if lines else Window()


def timeline_rows(
    lines: Sequence[Line], shown: Window, width: int, titles: Mapping[str, str], running: Stretch | None = None
) -> tuple[Row, ...]:
    """All lines of the pane; `running` is the step at work, which may have begun before the window."""
    if not lines:
        return (Row("", (Cell("No telemetry: it is written while a runner is at work.", "muted"),)),)
    since, until = shown.since or lines[0].at, shown.until or lines[-1].at
    long_s = max(1.0, until - since)
    room = max(8, width - _LABEL - _RIGHT - 2)
    samples = [line for line in lines if isinstance(line, Sample) and not line.trouble]
    stretches = stretches_of(lines, since, until, running)
    rows = [_head(since, until, long_s / room)]
    rows += [_drawn(curve, samples, room, since, long_s) for curve in curves_of(samples)]
    rows.append(_steps_row(stretches, titles, room, since, long_s))
    rows += _marks_row(lines, room, since, long_s)
    rows.append(Row("", ()))
    rows += [row for _, row in sorted(_events(lines, stretches, titles), key=lambda one: one[0])]
    return tuple(rows)


def stretches_of(
    lines: Sequence[Line], since: float, until: float, running: Stretch | None = None
) -> tuple[Stretch, ...]:
    """The attempts in a window, in order. One whose beginning is not in it began at its left edge."""
    found: list[Stretch] = []
    begun: dict[str, float] = {}
    for line in lines:
        if not isinstance(line, Boundary):
            continue
        if line.event == "began":
            begun[line.step] = line.at
        elif line.event in ("ended", "asks"):
            found.append(Stretch(line.step, begun.pop(line.step, since), line.at, line.outcome or "asking"))
    if running and running.step not in begun:
        begun[running.step] = max(since, running.began)
    # What began and never ended is at work, or its runner was killed.
    at_work = running.step if running else ""
    found += [Stretch(step, at, until, "" if step == at_work else "?") for step, at in begun.items()]
    return tuple(sorted(found, key=lambda one: (one.began, one.ended)))


def curves_of(samples: Sequence[Sample]) -> list[Curve]:
    """The figures that were told at all, of each card and of the host."""
    cards = {card.uuid: card for one in samples for card in one.gpu.cards}
    named = any(one.host.bench_load is not None for one in samples)
    curves = [curve for uuid, card in cards.items() for curve in _of_card(uuid, card)]
    curves += [
        Curve("bench CPUs", lambda one: one.host.bench_load, "%", 100.0, "blue"),
        Curve("other CPUs" if named else "all CPUs", lambda one: one.host.other_load, "%", 100.0),
        Curve("memory", lambda one: one.host.memory_used_mib, "GiB"),
    ]
    return [curve for curve in curves if any(curve.value(one) is not None for one in samples)]


def _of_card(uuid: str, card: Gpu) -> Iterator[Curve]:
    def told(figure: str) -> Callable[[Sample], float | None]:
        def value(sample: Sample) -> float | None:
            found = [] if sample.gpu_stale else [one for one in sample.gpu.cards if one.uuid == uuid]
            number: float | None = getattr(found[0], figure) if found else None
            return number

        return value

    yield Curve(f"{card.label} mem", told("used_mib"), "GiB", card.total_mib or 0.0)
    yield Curve(f"{card.label} use", told("utilisation"), "%", 100.0, "blue")
    yield Curve(f"{card.label} power", told("power_w"), "W", card.power_limit_w or 0.0)
    yield Curve(f"{card.label} temp", told("temperature_c"), "°C", 100.0)


def _head(since: float, until: float, column_s: float) -> Row:
    each = span(column_s) if column_s >= 60 else f"{column_s:.1f} s" if column_s >= 0.1 else f"{column_s:.2g} s"
    left = (Cell(f"{_clock(since)} – {_clock(until)}", "strong"), Cell(f" · {span(until - since)}"))
    return Row("", left, (Cell(f"a column is {each}", "muted"),))


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))


def _drawn(curve: Curve, samples: Sequence[Sample], room: int, since: float, long_s: float) -> Row:
    past = [(one.at, curve.value(one)) for one in samples]
    told = [value for _, value in past if value is not None]
    most = max(told)
    (line,) = plot(_placed(past, room, since, long_s), curve.top or most or 1.0, 1, 0.0, curve.tone)
    shown = f"{gib(most)} GiB" if curve.unit == "GiB" else f"{most:.0f} {curve.unit}"
    return Row("", (Cell(curve.name, "muted", _LABEL), *line), (Cell(f"at most {shown}", "", _RIGHT),))


def _placed(
    past: Sequence[tuple[float, float | None]], room: int, since: float, long_s: float
) -> list[float | None]:
    """The greatest value in each column of the window; columns between two samples are of the earlier one."""
    moved = [(_column(at, room, since, long_s), value) for at, value in past]
    placed = columns(moved, room, 1.0, room - 1.0)
    sampled, reach = {column for column, _ in moved}, int(_HOLDS_S / long_s * room)
    last = -room
    for column in range(room):
        if column in sampled:
            last = column
        elif column - last <= reach:
            placed[column] = placed[last]
    return placed


def _column(at: float, room: int, since: float, long_s: float) -> int:
    return max(0, min(int((at - since) / long_s * room), room - 1))


def _steps_row(
    stretches: Sequence[Stretch], titles: Mapping[str, str], room: int, since: float, long_s: float
) -> Row:
    """A bar where each step began, with as much of its title as fits before the next one."""
    marks = [" "] * room
    places = [_column(one.began, room, since, long_s) for one in stretches]
    for number, (one, place) in enumerate(zip(stretches, places, strict=True)):
        end = next((later for later in places[number + 1 :] if later > place), room)
        text = f"│{titles.get(one.step, one.step)}"[: end - place]
        marks[place : place + len(text)] = text
    return Row("", (Cell("steps", "muted", _LABEL), Cell("".join(marks))))


def _marks_row(lines: Sequence[Line], room: int, since: float, long_s: float) -> Iterator[Row]:
    spoiled = [line for line in lines if isinstance(line, Contaminated)]
    if spoiled:
        marks = [" "] * room
        for line in spoiled:
            marks[_column(line.at, room, since, long_s)] = "!"
        yield Row("", (Cell("marks", "red", _LABEL), Cell("".join(marks), "red")))


def _events(
    lines: Sequence[Line], stretches: Sequence[Stretch], titles: Mapping[str, str]
) -> Iterator[tuple[float, Row]]:
    for one in stretches:
        sign, tone = _SIGNS.get(one.outcome, ("◌", "warn"))
        title, at = titles.get(one.step, one.step), Cell(f"{_clock(one.began)} ", "muted")
        left = (at, Cell(f"{sign} ", tone), Cell(title), Cell(f" · {one.step}", "muted"))
        yield one.began, Row("", left, (Cell(span(one.ended - one.began)),))
    for line in lines:
        if isinstance(line, Contaminated):
            yield line.at, Row("", (Cell(f"{_clock(line.at)} ", "muted"), Cell(f"! {line.reason}", "red")))
        elif isinstance(line, Notice):
            yield line.at, Row("", (Cell(f"{_clock(line.at)} {line.said}", "muted"),))
