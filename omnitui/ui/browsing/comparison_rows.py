"""A comparison as lines: what differs comes first, then each metric, then why it has its verdict. Pure."""

from collections.abc import Iterator, Mapping

from omnitui.results.judging.compare import Comparison
from omnitui.results.judging.verdicts import Judged
from omnitui.results.statistics import Row as Stats
from omnitui.results.table import ARROWS, REHEARSAL, number
from omnitui.results.telling.comparison import (
    SIGNS,
    despites,
    difference_rows,
    percent,
    reason_of,
    rule_rows,
    ruling,
    side,
)
from omnitui.ui.browsing.columns import Column, row
from omnitui.ui.browsing.dots import dots, scale
from omnitui.ui.signs import Tone
from omnitui.ui.widgets.rows import Cell, Row

COLUMNS = (
    Column("metric", "metric", 30, sorts=False),
    Column("a", "A mean ± s", 19, right=True, sorts=False, rank=1),
    Column("b", "B mean ± s", 19, right=True, sorts=False, rank=1),
    Column("change", "change", 10, right=True, sorts=False),
    Column("p", "p", 7, right=True, sorts=False, rank=4),
    Column("unit", " unit", 12, sorts=False, rank=5),
    Column("verdict", "  verdict", 24, sorts=False),
)
NARROW = (
    Column("metric", "metric", 23, sorts=False),
    Column("means", "A → B", 21, right=True, sorts=False),
    Column("change", "change", 9, right=True, sorts=False),
    Column("verdict", "  verdict", 24, sorts=False),
)
_KINDS: Mapping[str, Tone] = {"blocks": "red", "despite": "warn", "subject": "blue", "told": "muted"}
_RULINGS: Mapping[str, Tone] = {"accepted": "green", "refused": "red", "cannot be judged": "warn"}
_TONES: Mapping[str, Tone] = {
    "better": "green",
    "worse": "red",
    "no difference shown": "",
    "cannot be compared": "warn",
    "described": "muted",
}


def side_rows(found: Comparison) -> Iterator[Row]:
    """Both sides, who is left out of them, and what differs in how they were measured."""
    if found.a.rehearsal or found.b.rehearsal:
        yield Row("", (Cell(REHEARSAL, "warn"),))
    for name, one in (("A", found.a), ("B", found.b)):
        yield Row("", (Cell(f"{name} ", "blue"), Cell(side(one))))
        for which, reason in one.left_out:
            yield Row("", (Cell(f"  – {which} is left out: {reason}", "muted"),))
    if found.locked:
        yield Row("", (Cell(f"✘ No verdicts: {found.locked}", "red"),))
    if waved := despites(found.differences):
        yield Row("", (Cell(f"! {waved}", "warn"),))
    if not found.differences and found.a.passes and found.b.passes:
        yield Row("", (Cell("✔ Nothing differs in how they were measured.", "green"),))
    rows = difference_rows(found.differences)
    width = max((len(cells[1]) for cells in rows), default=0) + 2
    for differs, (kind, key, a, b, why) in zip(found.differences, rows, strict=True):
        told = (Cell(f"{a} → {b}"), Cell(f"  {why}", "muted"))
        yield Row("", (Cell(kind, _KINDS[differs.kind], 15), Cell(key, "strong", width), *told))


def rule_lines(found: Comparison) -> Iterator[Row]:
    """What the operator's rules say together, then each with its ruling and why; those not met first."""
    if found.rules:
        yield Row("", (Cell(ruling(found), "green" if found.accepted else "red"),))
    rows = rule_rows(found.rules)
    width = max((len(cells[1]) for cells in rows), default=0) + 2
    for one, (sign, rule, reason) in sorted(
        zip(found.rules, rows, strict=True), key=lambda pair: pair[0].ruling == "accepted"
    ):
        yield Row("", (Cell(sign, _RULINGS[one.ruling], 20), Cell(rule, "strong", width), Cell(reason)))


def metric_row(one: Judged, narrow: bool, shown: tuple[Column, ...]) -> Row:
    """One metric."""
    arrow = ARROWS.get(one.direction, "")
    star = " *" if one.primary else ""
    known = one.verdict != "cannot be compared"
    texts = {
        "metric": f"{one.metric} {arrow}{star}",
        "a": _mean(one.a),
        "b": _mean(one.b),
        "means": f"{number(one.a.mean)} → {number(one.b.mean)}",
        "change": percent(one.relative) if known else "–",
        "p": f"{one.p:.2g}" if one.p is not None else "–",
        "unit": f" {one.unit}",
        "verdict": f"  {SIGNS[one.verdict]} {one.verdict}",
    }
    tones: dict[str, Tone] = {"verdict": _TONES[one.verdict], "unit": "muted"}
    if one.primary:
        tones["metric"] = "strong"
    if narrow and len(one.metric) > 20:
        texts["metric"] = f"…{one.metric[-17:]} {arrow}{star}"
    return row(one.metric, shown, texts, tones)


def _mean(one: Stats) -> str:
    if one.mean is None:
        return "–"
    return f"{one.mean:.5g} ± {one.stdev:.2g}" if one.stdev is not None else f"{one.mean:.5g} (n = 1)"


def about_rows(one: Judged, found: Comparison, width: int) -> Iterator[Row]:
    """Why a metric has its verdict, and its values on one scale."""
    told = reason_of(one) if one.primary or one.verdict == "cannot be compared" else f"{one.metric}: {one.reason}"
    for number_, part in enumerate(told.split("; ")):
        yield Row("", (Cell(("" if number_ == 0 else "  ") + part, _TONES[one.verdict] if number_ == 0 else ""),))
    values = (*one.a.values, *one.b.values)
    if values:
        band = None
        if one.floor is not None and one.a.mean is not None:
            band = (one.a.mean - one.floor, one.a.mean + one.floor)
        on = scale((*values, *(band or ())), width - 6)
        for name, side_, tone in (("A", one.a, "blue"), ("B", one.b, "warn")):
            shown: Tone = "blue" if tone == "blue" else "warn"
            yield Row("", (Cell(f"{name} ", shown), *dots(side_.values, on, shown, band, side_.mean)))
        yield Row("", (Cell(f"  {number(on.low)}", "muted"),), (Cell(f"{number(on.high)} {one.unit}", "muted"),))
    for name, side_ in (("A", one.a), ("B", one.b)):
        each = "  ".join(
            f"{label} {number(value)}" for label, value in zip(side_.passes, side_.values, strict=True)
        )
        yield Row("", (Cell(f"{name} ", "muted"), Cell(each or "no value", "muted")))
    yield Row("", (Cell(found.noise, "muted"),))


def pair_rows(found: Comparison) -> Iterator[Row]:
    """Sample by sample: it describes, and decides nothing."""
    for one in found.samples:
        counts = f"{one.pairs} pairs: B lower {one.lower}, equal {one.equal}, higher {one.higher}"
        median = "" if one.median is None else f"; median B − A {one.median:+.3g} {one.unit}"
        yield Row("", (Cell(f"{one.id}  ", "strong"), Cell(counts + median), Cell("  describes only", "muted")))
        for name, a, b in one.largest:
            yield Row("", (Cell(f"    {name}  {number(a)} → {number(b)}", "muted"),))
        for unread in one.unread:
            yield Row("", (Cell(f"    ◌ {unread}", "warn"),))
