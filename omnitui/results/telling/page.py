"""One self-contained HTML page: no script, no request, plots inline. Everything from outside is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from omnitui.results.judging.compare import Comparison
from omnitui.results.statistics import Summary
from omnitui.results.table import REHEARSAL, heading, number, unlikes
from omnitui.results.telling.comparison import (
    HEAD,
    RULES_HEAD,
    cells,
    despites,
    difference_rows,
    reason_of,
    rule_rows,
    ruling,
    side,
)
from omnitui.results.telling.plots import strip
from omnitui.runbook.measured import Reference

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem;
text-align: left; vertical-align: top; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
.warn { border-left: .3rem solid #c60; padding: .3rem .8rem; background: var(--soft); }
svg text { font-size: 11px; fill: currentColor; } .axis { stroke: var(--line); }
.mean { stroke: currentColor; stroke-width: 2; } .floor { fill: var(--soft); }
.g0 { fill: #2a78d6; } .g1 { fill: #d6632a; } .g2 { fill: #2a9d5c; } .g3 { fill: #8a4fd0; }
figure { display: inline-block; margin: .5rem 1rem .5rem 0; } figcaption { font-weight: 600; }
"""


def comparison_page(found: Comparison) -> str:
    """A comparison, with a plot of every metric."""
    body = [f"<p>A: {escape(side(found.a))}<br>B: {escape(side(found.b))}</p>"]
    body += [_warning(REHEARSAL)] if found.a.rehearsal or found.b.rehearsal else []
    body += [_warning(f"Cannot be compared: {found.locked}.")] if found.locked else []
    body += [_warning(waved)] if (waved := despites(found.differences)) else []
    left = [f"{name}: {which} is left out: {why}" for name, one in _sides(found) for which, why in one]
    body.append(_list(left))
    body += ["<h2>What differs</h2>", _table(["", "key", "A", "B", "why"], difference_rows(found.differences))]
    body += ["<h2>Metrics</h2>", _table(HEAD, map(cells, found.metrics), numbers=range(2, 11))]
    reasons = [] if found.locked else [reason_of(one) for one in found.metrics if one.primary]
    body.append(_list([*reasons, found.noise]))
    if found.rules:
        body += ["<h2>Rules</h2>", f"<p>{escape(ruling(found))}</p>", _table(RULES_HEAD, rule_rows(found.rules))]
    body.append("<h2>Values</h2>")
    for one in found.metrics:
        plot = strip([("A", one.a.values), ("B", one.b.values)], one.unit, one.floor)
        body.append(_figure(f"{one.metric}: {one.verdict}", plot))
    if found.samples:
        head = ["sample by sample", "unit", "pairs", "B lower", "equal", "B higher", "median B − A", "sign p"]
        rows = [
            [
                *(one.id, one.unit, str(one.pairs), str(one.lower), str(one.equal), str(one.higher)),
                *(number(one.median), number(one.p)),
            ]
            for one in found.samples
        ]
        body += ["<h2>Sample by sample</h2>", _table(head, rows, numbers=range(2, 8))]
        body.append("<p>Descriptive: the samples of one pass share its server and its moment.</p>")
    return _page(found.title, body)


def _sides(found: Comparison) -> list[tuple[str, tuple[tuple[str, str], ...]]]:
    return [("A", found.a.left_out), ("B", found.b.left_out)]


def results_page(
    title: str,
    run: str,
    summaries: Sequence[Summary],
    references: Sequence[Reference],
    known: Sequence[Sequence[str]],
) -> str:
    """The series of a run, with their values plotted; `known` are rows of what is known of each pass."""
    body = [f"<p>{escape(run)}</p>"]
    body += [_warning(REHEARSAL)] if any(one.rehearsal for one in summaries) else []
    for one in summaries:
        body.append(f"<h2>{escape(heading(one))}</h2>")
        body += [_warning(line) for line in unlikes(one)]
        body.append(_list([f"{label} is left out: {reason}" for label, reason in one.left_out]))
        head = ["metric", "unit", "better", "mean", "std dev", "min", "max", "n"]
        rows = [
            [
                *(row.metric, row.unit, row.direction, number(row.mean), number(row.stdev)),
                *(number(row.minimum), number(row.maximum), str(len(row.values))),
            ]
            for row in one.rows
        ]
        body.append(_table(head, rows, numbers=range(3, 8)))
    body.append("<h2>Values</h2>")
    for index, row in enumerate(summaries[0].rows if summaries else ()):
        groups = [(one.series, one.rows[index].values) for one in summaries]
        body.append(_figure(row.metric, strip(groups, row.unit)))
    body += ["<h2>How it was measured</h2>", _table(["pass", "key", "value"], known)]
    if references:
        body.append("<h2>Published results, from other setups</h2>")
        rows = [[one.workload, one.source, one.setup, one.results] for one in references]
        body.append(_table(["workload", "source", "setup", "results"], rows))
    return _page(title, body)


def _page(title: str, body: Iterable[str]) -> str:
    head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    return f"{head}<style>{_STYLE}</style></head><body><h1>{escape(title)}</h1>{''.join(body)}</body></html>\n"


def _warning(text: str) -> str:
    return f'<p class="warn">{escape(text)}</p>'


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = [
        "<tr>"
        + "".join(f"<td{' class=n' * (i in numbers)}>{escape(cell)}</td>" for i, cell in enumerate(row))
        + "</tr>"
        for row in rows
    ]
    return (
        f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        if lines
        else "<p>Nothing.</p>"
    )


def _figure(caption: str, plot: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{plot}</figure>" if plot else ""
