"""What the verbs about results do: find the passes, judge them, tell it. Loaded only by those verbs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from omnitui import store
from omnitui.errors import UsageError
from omnitui.results import catalog, groups
from omnitui.results.catalog import Query
from omnitui.results.catalog.rows import is_column
from omnitui.results.importing import Asked, take_in
from omnitui.results.judging.compare import Comparison, compare, measure_floor
from omnitui.results.judging.noise import keep
from omnitui.results.sources import Source, find
from omnitui.results.statistics import TWICE, summarize
from omnitui.results.table import Format, columns, number
from omnitui.results.telling import report
from omnitui.results.telling.comparison import render
from omnitui.results.telling.page import comparison_page
from omnitui.results.telling.writing import write
from omnitui.runbook import load

Say = Callable[[str], None]
_SIDES = "say which are compared: A B"
_FLOOR = "a noise floor is of a run that measured one thing as two, such as by a schedule noise-floor"


def tell_results(names: Sequence[str], form: str, say: Say) -> bool:
    """The tables of these runs and imports; whether all of them are complete, which one without a pass is not."""
    found = [find(name) for name in names] if names else [find(None)]
    if len(found) > 1 and form == "html":
        raise UsageError("an HTML page is of one run; name one, or compare two: omnitui export A B")
    texts = [_results(source, form).rstrip("\n") for source in found]
    say(texts[0] if len(texts) == 1 else _together(texts, form))
    summaries = [report.summaries_of(source) for source in found]
    return all(mine and all(one.complete for one in mine) for mine in summaries)


def _together(texts: Sequence[str], form: str) -> str:
    """The results of several runs as one document: whoever reads JSON or CSV reads one."""
    if form == "json":
        return msgspec.json.format(f"[{','.join(texts)}]", indent=2)
    if form == "csv":
        first, *others = texts
        return "\n".join([first, *filter(None, (text.partition("\n")[2] for text in others))])
    return "\n".join(texts)


def collect(runbook: str, folders: Sequence[Path], asked: Asked, say: Say) -> bool:
    """Take folders in and tell each; whether all of them are complete."""
    home, found = take_in(load.locate(runbook), folders, asked)
    summaries = summarize([one.result for one in found], ())
    left_out = {(one.series, label): why for one in summaries for label, why in one.left_out}
    for one in found:
        say(f"── {one.folder} → {one.result.series}/{one.result.label} ──")
        for line in one.lines:
            say(f"  {line}")
        reason = left_out.get((one.result.series, one.result.label), "")
        say(f"  {f'left out of the averages: {reason}' if reason else 'averaged'}")
    say(f"taken in as {home.name}; its provenance is not known where nobody told it")
    return all(one.result.complete for one in found)


def compared(
    a: str, b: str | None, despite: Sequence[str] = (), accept: Path | None = None, floor: str | None = None
) -> Comparison:
    """Two groups, or the two series of a run, compared by the operator's rules. Raises `OmniError`."""
    one, other = (groups.group(a), groups.group(b)) if b is not None else groups.two_series(a, _SIDES)
    measured = None
    if floor is not None:
        measured = measure_floor(find(floor).name, *groups.two_series(floor, _FLOOR), store.now())
    return compare(one, other, despite=despite, floor=measured, accept=accept)


def told(found: Comparison, form: str) -> str:
    """A comparison in a format."""
    return comparison_page(found) if form == "html" else render(found, _table(form))


def exported(a: str, form: str) -> str:
    """The results of one run or import in a format."""
    return _results(find(a), form)


def _results(source: Source, form: str) -> str:
    return report.as_page(source) if form == "html" else report.as_table(source, _table(form))


def _table(form: str) -> Format:
    match form:
        case "json" | "csv" | "md":
            return form
        case _:
            return "table"


def measure_noise(run: str, say: Say) -> None:
    """Measure the noise floor by a run's two series, store it and tell it."""
    a, b = groups.two_series(run, _FLOOR)
    floor = measure_floor(find(run).name, a, b, store.now())
    rows = [[name, number(one.absolute), number(one.mean)] for name, one in floor.floors.items()]
    say(columns(["metric", "noise floor ±", "mean"], rows, md=False, right=(1, 2)))
    say(f"from {floor.passes} passes; stored in {keep(floor)}")


def tell_passes(
    where: Mapping[str, str], sort: str, limit: int, say: Say, *, ascending: bool, as_json: bool
) -> None:
    """List passes from the catalog, brought up to date before."""
    catalog.refresh()
    query = Query(where=tuple(where.items()), sort=sort, descending=not ascending, limit=limit)
    rows, count = catalog.page(query)
    # Passes that have the metric come first.
    if rows and not is_column(sort) and sort not in rows[0].metrics:
        raise UsageError(f"--sort {sort}: no column, and no metric of these passes")
    twice = catalog.twice(query)
    rows = [replace(row, left_out=TWICE) if row.folder in twice else row for row in rows]
    if as_json:
        say(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
        return
    metric = "" if is_column(sort) else sort
    head = ["run", "pass", "commit", "GPU", "when", *([metric] if metric else []), ""]
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


def put(text: str, output: Path | None, say: Say) -> None:
    """Print a text, or write it to a file that must be new."""
    if output is None:
        say(text.rstrip("\n"))
        return
    write(output, text)
    say(f"wrote {output}")
