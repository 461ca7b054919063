"""The verbs about results: collect, results, compare, noise-floor, passes, export."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from omnitui.headless import say
from omnitui.verbs.options import Json, pairs

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
    as_json: Json = False,
) -> int:
    """Mean, sample standard deviation, min, max and values over the scored, complete passes of each series."""
    from omnitui import comparing  # noqa: PLC0415 - as in every verb here: the app starts without it

    return 0 if comparing.tell_results(names or [], "json" if as_json else form.value, say) else 1


@app.command("collect")
def collect_verb(
    runbook: Annotated[str, typer.Argument(help="The runbook by which they were measured.")],
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Output folders, one for each pass.")],
    series: Annotated[str, typer.Option(help="Their series; else the name of the folder above each.")] = "",
    given: Annotated[list[str], typer.Option("--set", metavar="K=V", help="A variable they had.")] = [],
    facts: Annotated[
        list[str], typer.Option("--fact", metavar="KEY=V", help="What you know of them, such as gpu.names=...")
    ] = [],
    ci: Annotated[bool, typer.Option("--ci", help="They come from CI: never beside scored passes.")] = False,
) -> int:
    """Take in results that were measured by hand: what is not known of them stays unknown."""
    from omnitui import comparing  # noqa: PLC0415
    from omnitui.results.importing import Asked  # noqa: PLC0415

    asked = Asked(series=series, variables=pairs(given), facts=pairs(facts, "--fact"), ci=ci)
    return 0 if comparing.collect(runbook, folders, asked, say) else 1


@app.command("compare")
def compare_verb(
    a: Side,
    b: Annotated[str | None, typer.Argument(help="The same for B; left out: the two series of A.")] = None,
    form: Form = ReportFormat.table,
    despite: Despite = [],
    accept: Rules = None,
    floor: FloorOf = None,
    as_json: Json = False,
    output: Output = None,
) -> int:
    """Compare B with A: what differs in how they were measured comes first, then each metric with its verdict."""
    from omnitui import comparing  # noqa: PLC0415

    found = comparing.compared(a, b, despite, accept, floor)
    comparing.put(comparing.told(found, "json" if as_json else form.value), output, say)
    return 0 if found.accepted and not found.locked else 1


@app.command("noise-floor")
def noise_floor_verb(
    run: Annotated[str, typer.Argument(help="A run that measured one commit as two series.")],
) -> None:
    """Store how far apart two series of the same thing come out on this machine: what comparisons must exceed."""
    from omnitui import comparing  # noqa: PLC0415

    comparing.measure_noise(run, say)


@app.command("passes")
def passes_verb(
    selectors: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Which passes.")] = None,
    sort: Annotated[str, typer.Option(help="A column, or a metric.")] = "collected",
    ascending: Annotated[bool, typer.Option("--ascending", help="The smallest first.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many at most.")] = 50,
    as_json: Json = False,
) -> None:
    """List passes of all runs and imports, from the catalog."""
    from omnitui import comparing  # noqa: PLC0415

    where = pairs(selectors or [], "")
    comparing.tell_passes(where, sort, limit, say, ascending=ascending, as_json=as_json)


@app.command("export")
def export_verb(
    a: Side,
    b: Annotated[str | None, typer.Argument(help="A second group: a comparison is exported.")] = None,
    form: Form = ReportFormat.html,
    despite: Despite = [],
    accept: Rules = None,
    floor: FloorOf = None,
    output: Output = None,
) -> None:
    """Write a run's results, or a comparison, as Markdown, CSV, JSON or one HTML page with plots."""
    from omnitui import comparing  # noqa: PLC0415

    told = (
        comparing.exported(a, form.value)
        if b is None
        else comparing.told(comparing.compared(a, b, despite, accept, floor), form.value)
    )
    comparing.put(told, output, say)
