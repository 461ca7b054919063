"""From the newest sample to what the GPU pane shows. Pure.

There are three ways to tell a card; the fullest that fits is taken. What a card does not tell is said so.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from omnitui.contamination import HARMFUL
from omnitui.machine import CardPoint, Machine
from omnitui.samples import Gpu, GpuProcess
from omnitui.ui.plots import columns, plot
from omnitui.ui.process_texts import who
from omnitui.ui.signs import GATES, span
from omnitui.ui.widgets.rows import Cell, Row

SPAN_S = 5.0
"""Seconds in one column of a plot."""
_USUAL = frozenset(("idle", "software power cap", "application clocks"))
_LEAST_PLOT, _MOST_PLOT = 3, 10
_LABEL = 4
_WIDE = 44


class Frame(Struct, frozen=True):
    """What a pane is drawn for: its room in cells, the time, and the limit of the gate that calls a GPU free."""

    width: int
    height: int
    now: float
    limit_mib: int | None = None
    word: str = "GPU_FREE"
    marks: tuple[str, ...] = ()
    """Why the pass at work is left out of the averages."""


def gpu_rows(machine: Machine, frame: Frame) -> tuple[Row, ...]:
    """All lines of the pane."""
    head = [*marked(frame.marks), *_troubles(machine, frame.now)]
    look = machine.sample.gpu if machine.sample else None
    if look is None:
        return tuple(head or [_line("No reading yet.", muted=True)])
    if look.absent or look.error:
        said = _line(f"– {look.absent}", muted=True) if look.absent else _line(f"✘ {look.error}", red=True)
        return (*head, said)
    head += [_line(f"✘ {one}", red=True) for one in look.unread]
    room = frame.height - len(head)
    body = [row for card in look.cards for row in _card(machine, card, frame)]
    full = [row for card in look.cards for row in _card(machine, card, frame, plot_lines=_LEAST_PLOT)]
    if len(full) <= room:
        more = (room - len(full)) // max(1, 2 * len(look.cards))
        lines = min(_LEAST_PLOT + more, _MOST_PLOT)
        body = [row for card in look.cards for row in _card(machine, card, frame, plot_lines=lines)]
    elif len(body) > room and len(look.cards) > 1:
        body = [*(_short(machine, card, frame) for card in look.cards)]
        body += [_process(one, frame.width, card) for card in look.cards for one in _holders(card)]
    return (*head, *(body or [_line("None of the run's GPUs is here.", red=True)]))


def marked(marks: Sequence[str]) -> list[Row]:
    """Why the pass at work will not count."""
    return [_line(f"! this pass is marked: {mark}", red=True) for mark in marks]


def stale_row(age_s: float | None, *, trouble: str) -> Row:
    """A reading that is too old to be true now, and why there is no newer one."""
    sign = GATES["stale"]
    age = f"{sign.word} {span(age_s)}" if age_s is not None else "not read yet"
    return Row("", (Cell(f"{sign.symbol} {age}", "warn"), Cell(f"  {trouble}" if trouble else "", "muted")))


def _troubles(machine: Machine, now: float) -> Iterator[Row]:
    if machine.sample and not machine.sample.gpu.absent and machine.gpu_stale(now):
        yield stale_row(machine.gpu_age_s(now), trouble=machine.trouble)
    elif machine.trouble:
        yield _line(f"✘ {machine.trouble}", red=True)


def _card(machine: Machine, card: Gpu, frame: Frame, plot_lines: int = 0) -> Iterator[Row]:
    """One card in a few lines, or with plots of so many lines each."""
    points = machine.cards.get(card.uuid, ())
    age_s = machine.gpu_age_s(frame.now)
    kind = " ".join(filter(None, (card.name.removeprefix("NVIDIA "), "MIG" if card.mig else "")))
    told = "" if age_s is None or machine.gpu_stale(frame.now) else ("now" if age_s < 2 else f"{span(age_s)} old")
    yield Row("", (Cell(card.label, "strong"), Cell(f" {kind}")), (Cell(told, "muted"),))
    yield from _drawn("mem", "memory", points, card, frame, plot_lines)
    yield from _drawn("use", "use", points, card, frame, plot_lines)
    yield _figures(card)
    yield from _throttle(card, every=bool(plot_lines))
    yield from (_process(one, frame.width) for one in _holders(card))
    yield from _nobody(card, frame)


def _drawn(
    word: str, name: str, points: Sequence[CardPoint], card: Gpu, frame: Frame, plot_lines: int
) -> Iterator[Row]:
    """Memory or utilisation over time: in one line, or in several under a line with the figures."""
    memory = word == "mem"
    value, shown = _memory(card, frame) if memory else (card.utilisation, _percent(card.utilisation))
    if value is None:
        yield Row("", (Cell(f"{word:<{_LABEL}}"),), (shown,))
        return
    top = (card.total_mib or value or 1.0) if memory else 100.0
    limit = float(frame.limit_mib or 0) if memory else 0.0
    room = frame.width if plot_lines else frame.width - _LABEL - len(shown.text) - 2
    past = [(one.at, one.used_mib if memory else one.utilisation) for one in points]
    last_at = points[-1].at if points else frame.now
    lines = plot(
        columns(past, max(1, room), SPAN_S, last_at, mean=not memory),
        top,
        plot_lines or 1,
        limit,
        "" if memory else "blue",
    )
    if not plot_lines:
        yield Row("", (Cell(f"{word:<{_LABEL}}", "muted"), *lines[0]), (shown,))
        return
    note = f"  {frame.word} below {gib(limit)} GiB ╌" if limit else ""
    yield Row("", (Cell(name, "muted"), Cell(note, "muted")), (shown,))
    yield from (Row("", line) for line in lines)


def _memory(card: Gpu, frame: Frame) -> tuple[float | None, Cell]:
    if card.used_mib is None:
        return None, Cell("memory not told", "muted")
    free = frame.limit_mib is not None and card.used_mib < frame.limit_mib
    total = f" of {gib(card.total_mib)}" if card.total_mib else ""
    return card.used_mib, Cell(f"{gib(card.used_mib)}{total} GiB", "green" if free else "")


def _percent(value: float | None) -> Cell:
    return Cell("use not told", "muted") if value is None else Cell(f"{value:.0f} %")


def _figures(card: Gpu) -> Row:
    power = None
    if card.power_w is not None:
        power = f"{card.power_w:.0f}" + (f"/{card.power_limit_w:.0f}" if card.power_limit_w else "") + " W"
    figures = {
        "power": power,
        "temperature": None if card.temperature_c is None else f"{card.temperature_c:.0f} °C",
        "clock": None if card.sm_mhz is None else f"{card.sm_mhz:.0f} MHz",
    }
    told = [figure for figure in figures.values() if figure]
    untold = [name for name, figure in figures.items() if figure is None]
    words = Cell(f"{', '.join(untold)} not told" if untold else "", "muted")
    return Row("", (Cell(" · ".join(told)), Cell(" · " if told and untold else "", "muted"), words))


def _throttle(card: Gpu, *, every: bool) -> Iterator[Row]:
    """What keeps the clocks down; what is usual, or not told, only where there is room."""
    reasons = card.throttle
    if reasons is None:
        if every:
            yield _line("throttling not told", muted=True)
    elif harm := [reason for reason in reasons if reason in HARMFUL]:
        yield Row("", (Cell(f"✘ throttled: {', '.join(harm)}", "red"),))
    elif every or not _USUAL.issuperset(reasons):
        yield _line(f"clocks held by: {', '.join(reasons) or 'nothing'}", muted=True)


def _holders(card: Gpu) -> list[GpuProcess]:
    """Who is on the card: the foreign first, then those that hold most."""
    rank = {False: 0, None: 1, True: 2}
    return sorted(card.processes or (), key=lambda one: (rank[one.ours], -(one.used_mib or 0.0), one.pid))


def _process(one: GpuProcess, width: int, card: Gpu | None = None) -> Row:
    whose = {True: Cell("ours", "green"), False: Cell("FOREIGN", "red"), None: Cell("owner not told", "muted")}
    where = f"{card.label} " if card else ""
    held = f"{amount(one.used_mib)} " if one.used_mib is not None else "memory not told "
    room = width - len(where) - len(held) - len(whose[one.ours].text) - 2
    return Row("", (Cell(f"{where}{who(one, room)}"),), (Cell(held), whose[one.ours]))


def _nobody(card: Gpu, frame: Frame) -> Iterator[Row]:
    if card.processes is None:
        yield _line("processes not told", muted=True)
    elif not card.processes:
        held = card.used_mib is not None and card.used_mib >= (frame.limit_mib or 1024)
        said = "memory held by no visible process" if held else "no process seen"
        yield Row("", (Cell(said, "warn" if held else "muted"),))


def _short(machine: Machine, card: Gpu, frame: Frame) -> Row:
    points = machine.cards.get(card.uuid, ())
    used, shown = _memory(card, frame)
    shown = shown._replace(text=amount(used)) if used is not None and frame.width < _WIDE else shown
    degrees = "" if card.temperature_c is None else f" {card.temperature_c:.0f} °C"
    right = (shown, Cell(" "), _percent(card.utilisation), Cell(degrees))
    room = frame.width - len(card.label) - 1 - sum(len(cell.text) for cell in right) - 2
    past = columns(
        [(one.at, one.used_mib) for one in points], max(1, room), SPAN_S, points[-1].at if points else frame.now
    )
    (line,) = plot(past, card.total_mib or 1.0, 1, float(frame.limit_mib or 0))
    harm = any(reason in HARMFUL for reason in card.throttle or ())
    return Row("", (Cell(card.label, "red" if harm else "strong"), Cell(" "), *line), right)


def amount(mib: float) -> str:
    """Memory with its unit."""
    return f"{gib(mib)} GiB" if mib >= 1024 else f"{mib:.0f} MiB"


def gib(mib: float | None) -> str:
    """MiB as GiB with one decimal."""
    return "?" if mib is None else f"{mib / 1024:.1f}"


def _line(text: str, *, muted: bool = False, red: bool = False) -> Row:
    return Row("", (Cell(text, "red" if red else "muted" if muted else ""),))
