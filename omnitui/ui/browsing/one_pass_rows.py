"""One pass as lines: its figures, its coverage, its provenance, and what ran exactly. Pure."""

from collections.abc import Iterator

from omnitui.readings import CoverageReading, WorkloadReading
from omnitui.results.keys import ROLE_WORDS
from omnitui.results.passes import AUDIO
from omnitui.results.table import ARROWS, number
from omnitui.runbook.part import Role
from omnitui.ui.browsing.one_pass import Details
from omnitui.ui.browsing.pass_rows import said, state
from omnitui.ui.signs import Tone
from omnitui.ui.widgets.rows import Cell, Row

_ROLES: dict[Role, Tone] = {"equal": "muted", "subject": "blue", "told": "muted"}


def text_row(text: str, tone: Tone = "") -> Row:
    """A line of one piece."""
    return Row("", (Cell(text, tone),))


def title_row(found: Details | None) -> Row:
    """Which pass it is, and whether it counts; why it does not is told whole below, and may be cut here."""
    if found is None:
        return Row("", (Cell("Pass", "strong"),))
    one = found.measured.result
    kind = "REHEARSAL " if one.rehearsal else "" if one.origin == "run" else f"{one.origin.upper()} "
    sign = state(one)
    stands, run = Cell(f"   {kind}{said(sign)}", sign.tone), Cell(f"   {found.measured.run}")
    why = Cell(f"   {one.left_out}" if one.left_out not in ("", sign.word) else "", sign.tone)
    return Row("", (Cell(found.measured.scope, "strong"), stands, run, why, Cell(f"   {one.title}", "muted")))


def metric_rows(found: Details) -> Iterator[Row]:
    """Every figure with its unit and direction; one that has no number is told, never 0."""
    one = found.measured.result
    told = {metric.id: metric for metric in found.metrics}
    names = [*(name for name in told if name in one.metrics or not one.complete), *AUDIO]
    names += [name for name in one.metrics if name not in names]
    width = max(map(len, names), default=0) + 5
    for name in names:
        if name in AUDIO and name not in one.metrics:
            continue
        metric = told.get(name)
        arrow = ARROWS.get(metric.direction, "") if metric else ""
        label = f"{name} {arrow}{' *' if metric and metric.primary else ''}"
        value = one.metrics.get(name)
        shown = Cell(f"{number(value):>12}", "strong" if value is not None else "red")
        unit = Cell(f" {metric.unit if metric else ''}", "muted", 16)
        yield Row(
            "",
            (
                Cell(label, "strong" if metric and metric.primary else "", width),
                shown,
                unit,
                Cell(metric.help if metric else "", "muted"),
            ),
        )
    if one.rates:
        yield text_row(f"audio at {', '.join(map(str, one.rates))} Hz", "muted")
    yield text_row("* primary: only these have a verdict when passes are compared", "muted")
    yield from (text_row(f"✘ {reason}", "red") for reason in one.reasons)
    yield from (text_row(f"! {mark}", "warn") for mark in one.marks)
    if found.trouble:
        yield text_row(f"◌ {found.trouble}", "warn")


def coverage_rows(coverage: CoverageReading | None) -> Iterator[Row]:
    """How many samples each workload asked for, and what became of them."""
    if coverage is None:
        yield text_row(
            "◌ coverage.json is not there or cannot be read: how many samples there are is not known", "warn"
        )
        return
    name = max(24, *(len(one.id) + 1 for one in coverage.workloads), 0)
    head = [("workload", name + 2), ("asked", 8), ("done", 8), ("failed", 8), ("skipped", 8), ("missing", 8)]
    yield Row(
        "",
        tuple(
            Cell(word if i == 0 else f"{word:>{width - 1}} ", "muted", width)
            for i, (word, width) in enumerate(head)
        ),
    )
    for one in coverage.workloads:
        yield _workload(one, name)
        yield from (text_row(f"    ✘ {reason}", "red") for reason in one.wrong)
        for what, ids in one.ids.items():
            yield text_row(f"    {what}: {', '.join(ids)}", "warn")
    if coverage.error:
        yield text_row(f"✘ {coverage.error}", "red")
    yield from (text_row(f"✘ {reason}", "red") for reason in coverage.missing)


def _workload(one: WorkloadReading, width: int) -> Row:
    whole = not one.wrong
    counts = [one.expected, one.done, one.failed, one.skipped, one.missing]
    told = [f"{'not known' if count is None else count:>7} " for count in counts]
    sign = Cell("✔ " if whole else "✘ ", "green" if whole else "red")
    lost: list[Tone] = ["red" if count else "muted" for count in counts[2:]]
    tones: list[Tone] = ["", "", *lost]
    return Row(
        "",
        (sign, Cell(one.id, "strong", width), *(Cell(text, tone) for text, tone in zip(told, tones, strict=True))),
    )


def provenance_rows(found: Details) -> Iterator[Row]:
    """Every key, and what it is to a comparison; then what the monitor saw."""
    keys = found.measured.keys
    if not found.measured.known:
        yield text_row("◌ nothing is known of how it was measured: it compares with nothing", "warn")
    width = max(map(len, keys), default=0) + 2
    order = ("subject", "equal", "told")
    for key in sorted(keys, key=lambda key: (order.index(found.roles.get(key, "equal")), key)):
        value = keys[key]
        role = found.roles.get(key, "equal")
        shown = Cell("not known", "warn") if value is None else Cell(value or "(empty)")
        yield Row("", (Cell(ROLE_WORDS[role], _ROLES[role], 15), Cell(key, "muted", width), shown))
    monitor = found.measured.known.get("monitor", {})
    if monitor:
        yield Row("", ())
        yield text_row("Seen while it was measured", "strong")
        for name, value in monitor.items():
            shown_value = "; ".join(map(str, value)) if isinstance(value, list) else str(value)
            tone: Tone = "warn" if name in ("throttle_reasons", "contaminated_by") else ""
            yield Row("", (Cell(name.replace("_", " "), "muted", 34), Cell(shown_value, tone)))


def script_rows(found: Details) -> Iterator[Row]:
    """The script of every attempt, byte for byte but for what a terminal would obey."""
    if not found.ran:
        told = (
            "Taken in: what ran is not known."
            if found.measured.result.origin != "run"
            else "No jobs are there any more."
        )
        yield text_row(told, "muted")
    for one in found.ran:
        yield Row("", (Cell(one.step, "strong"), Cell(f" · attempt {one.attempt}", "muted")))
        yield from (text_row(f"    {line}") for line in one.script.rstrip("\n").split("\n"))
        yield Row("", ())
