"""The verbs about results: collect, results, compare, noise-floor, passes, export."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from omnitui import store
from omnitui.errors import StoreError, UsageError
from omnitui.headless import say
from omnitui.results import catalog, groups
from omnitui.results.catalog import Query
from omnitui.results.importing import Asked, take_in
from omnitui.results.judging.accept import FILE as ACCEPT
from omnitui.results.judging.accept import Rule, read_rules
from omnitui.results.judging.compare import Comparison, Group, compare, measure_floor
from omnitui.results.judging.noise import keep
from omnitui.results.sources import find
from omnitui.results.table import Format, columns, number
from omnitui.results.telling import report
from omnitui.results.telling.comparison import render
from omnitui.results.telling.page import comparison_page
from omnitui.runbook import load

app = typer.Typer()
Side = Annotated[
    str, typer.Argument(help="RUN, RUN/SERIES, RUN/SERIES/PASS, or selectors: runbook=asr,commit=5ed8a8d")
]
Despite = Annotated[
    list[str],
    typer.Option("--despite", metavar="KEY", help="Compare though this differs; `unknown`: all not known."),
]
Rules = Annotated[
    Path | None,
    typer.Option("--accept", metavar="FILE", help="Rules on the numbers; exit code 1 when one is not met."),
]
FloorOf = Annotated[
    str | None,
    typer.Option("--floor", metavar="RUN", help="Take the noise floor from this run, not from the stored."),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write to a file; it must be new.")]


class ReportFormat(StrEnum):
    """How results are told."""

    table = "table"
    json = "json"
    csv = "csv"
    md = "md"
    html = "html"


Form = Annotated[ReportFormat, typer.Option("--format", help="table, json, csv, md or html.")]


@app.command("results")
def results_verb(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[RUN]...", help="Runs or imports; the newest run when left out.")
    ] = None,
    form: Form = ReportFormat.table,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Mean, sample standard deviation, min, max and values over the scored, complete passes of each series."""
    chosen = ReportFormat.json if as_json else form
    complete = True
    for source in [find(name) for name in names] if names else [find(None)]:
        say(report.as_page(source) if chosen is ReportFormat.html else report.as_table(source, _table(chosen)))
        complete = complete and all(one.complete for one in report.summaries_of(source))
    return 0 if complete else 1


@app.command("collect")
def collect_verb(
    runbook: Annotated[str, typer.Argument(help="The runbook by which they were measured.")],
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Output folders, one for each pass.")],
    series: Annotated[str, typer.Option(help="Their series; else the name of the folder above each.")] = "",
    given: Annotated[list[str], typer.Option("--set", metavar="K=V", help="A variable they had.")] = [],  # noqa: B006
    facts: Annotated[
        list[str], typer.Option("--fact", metavar="KEY=V", help="What you know of them, such as gpu.names=...")
    ] = [],  # noqa: B006
    ci: Annotated[
        bool, typer.Option("--ci", help="They come from CI: never compared with scored passes.")
    ] = False,
) -> int:
    """Take in results that were measured by hand: what is not known of them stays unknown."""
    asked = Asked(series=series, variables=_pairs(given, "--set"), facts=_pairs(facts, "--fact"), ci=ci)
    home, found = take_in(load.locate(runbook), folders, asked)
    for one in found:
        say(f"── {one.folder} → {one.result.series}/{one.result.label} ──")
        for line in one.lines:
            say(f"  {line}")
        reason = one.result.left_out
        say(f"  {'averaged' if not reason else f'left out of averages: {reason}'}")
    say(f"taken in as {home.name}; its provenance is not known where nobody told it")
    return 0 if all(one.result.complete for one in found) else 1


@app.command("compare")
def compare_verb(
    a: Side,
    b: Annotated[str | None, typer.Argument(help="The same for B; left out: the two series of A.")] = None,
    form: Form = ReportFormat.table,
    despite: Despite = [],  # noqa: B006
    accept: Rules = None,
    floor: FloorOf = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    output: Output = None,
) -> int:
    """Compare B with A: what differs in how they were measured comes first, then each metric with its verdict."""
    found = _compared(a, b, despite, accept, floor)
    _put(_told(found, ReportFormat.json if as_json else form), output)
    return 0 if found.accepted and not found.locked else 1


@app.command("noise-floor")
def noise_floor_verb(
    run: Annotated[str, typer.Argument(help="A run that measured one commit as two series.")],
) -> int:
    """Store how far apart two series of the same thing come out on this machine: what comparisons must exceed."""
    a, b = groups.two_series(run)
    floor = measure_floor(find(run).name, a, b, store.now())
    rows = [[name, number(one.absolute), number(one.mean)] for name, one in floor.floors.items()]
    say(columns(["metric", "noise floor ±", "mean"], rows, md=False, right=(1, 2)))
    say(f"from {floor.passes} passes; stored in {keep(floor)}")
    return 0


@app.command("passes")
def passes_verb(
    selectors: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Which passes.")] = None,
    sort: Annotated[str, typer.Option(help="A column, or a metric.")] = "collected",
    ascending: Annotated[bool, typer.Option("--ascending", help="The smallest first.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List passes of all runs and imports, from the catalog."""
    catalog.refresh()
    where = tuple(_pairs(selectors or [], "").items())
    rows, count = catalog.page(Query(where=where, sort=sort, descending=not ascending, limit=limit))
    if as_json:
        say(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
        return
    metric = sort if any(sort in row.metrics for row in rows) else ""
    head = ["run", "pass", "commit", "GPU", "collected", *([metric] if metric else []), ""]
    lines = [
        [
            *(row.run, f"{row.series}/{row.label}", row.revision[:12], row.gpu, row.collected[:16]),
            *([number(row.metrics.get(metric))] if metric else []),
            ("REHEARSAL " if row.rehearsal else "") + (row.left_out or "averaged"),
        ]
        for row in rows
    ]
    say(columns(head, lines, md=False) if lines else "No passes.")
    if count > len(rows):
        say(f"{len(rows)} of {count}; --limit shows more")


@app.command("export")
def export_verb(
    a: Side,
    b: Annotated[str | None, typer.Argument(help="A second group: a comparison is exported.")] = None,
    form: Form = ReportFormat.html,
    despite: Despite = [],  # noqa: B006
    accept: Rules = None,
    floor: FloorOf = None,
    output: Output = None,
) -> int:
    """Write a run's results, or a comparison, as Markdown, CSV, JSON or one HTML page with plots."""
    if b is not None:
        _put(_told(_compared(a, b, despite, accept, floor), form), output)
        return 0
    source = find(a)
    _put(report.as_page(source) if form is ReportFormat.html else report.as_table(source, _table(form)), output)
    return 0


def _compared(a: str, b: str | None, despite: list[str], accept: Path | None, floor: str | None) -> Comparison:
    one, other = (groups.group(a), groups.group(b)) if b is not None else groups.two_series(a)
    measured = None
    if floor is not None:
        measured = measure_floor(find(floor).name, *groups.two_series(floor), store.now())
    metrics = [metric.id for metric in one.runbook.metrics]
    return compare(one, other, despite=despite, floor=measured, rules=_rules(accept, one, metrics))


def _rules(accept: Path | None, group: Group, metrics: list[str]) -> tuple[Rule, ...]:
    if accept is not None:
        return read_rules(accept, metrics)
    names = {str(one.known.get("runbook", "")) for one in group.passes}
    own = [store.home() / "accept" / f"{name}.toml" for name in sorted(names) if name]
    own += [one.folder.parents[2] / "runbook" / ACCEPT for one in group.passes]
    found = next((file for file in own if file.is_file()), None)
    return read_rules(found, metrics) if found else ()


def _told(found: Comparison, form: ReportFormat) -> str:
    return comparison_page(found) if form is ReportFormat.html else render(found, _table(form))


def _table(form: ReportFormat) -> Format:
    match form:
        case ReportFormat.json:
            return "json"
        case ReportFormat.csv:
            return "csv"
        case ReportFormat.md:
            return "md"
        case _:
            return "table"


def _put(text: str, output: Path | None) -> None:
    if output is None:
        say(text.rstrip("\n"))
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text if text.endswith("\n") else text + "\n")
    except FileExistsError as error:
        raise UsageError(f"{output} is there already; name another file") from error
    except OSError as error:
        raise StoreError(f"{output} cannot be written: {error.strerror}") from error
    say(f"wrote {output}")


def _pairs(given: list[str], option: str) -> dict[str, str]:
    values = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{f'{option} ' if option else ''}{pair}: write NAME=VALUE")
        values[name] = value
    return values
