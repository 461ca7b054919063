"""Results and comparisons as one HTML page: who was measured and what differs first, then the numbers."""

from collections.abc import Iterator, Sequence

from omnitui.results.judging.compare import Comparison, Side
from omnitui.results.keys import ROLE_WORDS, roles_of
from omnitui.results.sources import Source
from omnitui.results.statistics import Summary
from omnitui.results.table import ARROWS, REHEARSAL, heading, number, unlikes, values_of
from omnitui.results.telling import markup
from omnitui.results.telling.comparison import (
    HEAD,
    PRIMARY,
    RULES_HEAD,
    SAMPLES_HEAD,
    cells,
    despites,
    difference_rows,
    reason_of,
    rule_rows,
    ruling,
    sample_notes,
    sample_rows,
    side,
)
from omnitui.results.telling.plots import strip

_ALIKE = "Nothing differs in how they were measured."


def comparison_page(found: Comparison) -> str:
    """A comparison, with a plot of every metric."""
    body = [markup.line(f"{name}: {side(one)}") for name, one in (("A", found.a), ("B", found.b))]
    body += [markup.warning(REHEARSAL)] if found.a.rehearsal or found.b.rehearsal else []
    body += [markup.warning(f"Cannot be compared: {found.locked}.")] if found.locked else []
    body += [markup.warning(waved)] if (waved := despites(found.differences)) else []
    body += [markup.heading("Passes"), markup.table(["side", "pass", "", "why"], _side_rows(found))]
    if found.differences:
        differing = markup.table(["", "what differs", "A", "B", "why"], difference_rows(found.differences))
        body += [markup.heading("What differs"), differing]
    elif found.a.passes and found.b.passes:
        body += [markup.heading("What differs"), markup.line(_ALIKE)]
    body += [markup.heading("Metrics"), markup.table(HEAD, map(cells, found.metrics), numbers=range(2, 11))]
    reasons = [] if found.locked else [reason_of(one) for one in found.metrics if one.primary]
    body.append(markup.items([*reasons, PRIMARY, found.noise]))
    if found.rules:
        rules = markup.table(RULES_HEAD, rule_rows(found.rules))
        body += [markup.heading("Rules"), markup.line(ruling(found)), rules]
    body.append(markup.heading("Values"))
    for one in found.metrics:
        plot = strip([("A", one.a), ("B", one.b)], one.unit, one.floor)
        body.append(markup.figure(f"{one.metric}: {one.verdict}", plot))
    if found.samples:
        samples = markup.table(SAMPLES_HEAD, sample_rows(found.samples), numbers=range(2, 8))
        body += [markup.heading("Sample by sample"), samples, markup.items(sample_notes(found.samples))]
    return markup.page(found.title, body)


def _side_rows(found: Comparison) -> Iterator[list[str]]:
    sides: tuple[tuple[str, Side], ...] = (("A", found.a), ("B", found.b))
    for name, one in sides:
        yield from ([name, which, "✔ averaged", ""] for which in one.passes)
        yield from ([name, which, "– left out", why] for which, why in one.left_out)


def results_page(source: Source, summaries: Sequence[Summary], notes: Sequence[str]) -> str:
    """The passes of a run or an import and its series, with every value plotted; `notes` are told first."""
    body = [markup.line(source.name)]
    body += [markup.warning(REHEARSAL)] if any(one.rehearsal for one in summaries) else []
    body += [markup.warning(note) for note in notes]
    passes = markup.table(["pass", "", "why", "commit", "GPU", "collected"], _pass_rows(source, summaries))
    body += [markup.heading("Passes"), passes]
    differing, alike = _known(source)
    told = markup.table(["", "what differs", "value", "passes"], differing)
    body.append(markup.heading("What differs between them"))
    body += [told] if differing else [markup.line(_ALIKE)] if alike else []
    if nothing := [one.scope for one in source.passes if not one.known]:
        body.append(markup.line(f"Nothing is known of how these were measured: {', '.join(nothing)}."))
    for one in summaries:
        body += [markup.heading(heading(one)), *map(markup.warning, unlikes(one)), _series(one)]
    body.append(markup.heading("Values"))
    for index, row in enumerate(summaries[0].rows if summaries else ()):
        groups = [(one.series, one.rows[index]) for one in summaries]
        body.append(markup.figure(row.metric, strip(groups, row.unit)))
    body += [markup.heading("What is the same for all of them"), markup.table(["", "key", "value"], alike)]
    if references := source.runbook.references:
        rows = [[one.workload, one.source, one.setup, one.results] for one in references]
        body.append(markup.heading("Published results, from other setups"))
        body.append(markup.table(["workload", "source", "setup", "results"], rows))
    return markup.page(source.title, body)


def _pass_rows(source: Source, summaries: Sequence[Summary]) -> Iterator[list[str]]:
    unlike = {(one.series, one.rehearsal) for one in summaries if one.unlike}
    left_out = {(one.series, one.rehearsal, label): why for one in summaries for label, why in one.left_out}
    for result in (one.result for one in source.passes):
        why = left_out.get((result.series, result.rehearsal, result.label), "")
        stands = "– left out" if why else "✔ averaged"
        if not why and (result.series, result.rehearsal) in unlike:
            stands, why = "! no mean", "not measured alike"
        measured = [result.commit[:12] or "not known", result.gpu or "not known", result.collected[:16]]
        yield [f"{result.series}/{result.label}", stands, why, *measured]


def _known(source: Source) -> tuple[list[list[str]], list[list[str]]]:
    """What is known of how the passes were measured: what differs between them, and what does not."""
    roles = roles_of(source.runbook)
    passes = {one.scope: one.keys for one in source.passes if one.known}
    names = {key: roles.get(key, "equal") for keys in passes.values() for key in keys}
    differing, alike = [], []
    for key, role in sorted(names.items(), key=lambda one: (list(ROLE_WORDS).index(one[1]), one[0])):
        who: dict[str | None, list[str]] = {}
        for scope, keys in passes.items():
            who.setdefault(keys.get(key), []).append(scope)
        told = zip(values_of(list(who)), who.values(), strict=True)
        rows = [[ROLE_WORDS[role], key, value, ", ".join(scopes)] for value, scopes in told]
        if len(rows) > 1:
            differing += rows
        else:
            alike += [row[:3] for row in rows]
    return differing, alike


def _series(summary: Summary) -> str:
    head = ["metric", "unit", "mean", "std dev", "min", "max", *summary.averaged]
    rows = []
    for row in summary.rows:
        values = dict(zip(row.passes, row.values, strict=True))
        figures = [row.mean, row.stdev, row.minimum, row.maximum, *(values.get(one) for one in summary.averaged)]
        name = f"{row.metric} {ARROWS.get(row.direction, '')}".strip()
        rows.append([name, row.unit, *map(number, figures)])
    return markup.table(head, rows, numbers=range(2, len(head)))
