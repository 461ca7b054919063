"""The results of a run or an import, in every format."""

from collections.abc import Sequence
from pathlib import Path

from omnitui.results.passes import PassResult
from omnitui.results.sources import Source
from omnitui.results.statistics import Summary, summarize, told_metrics
from omnitui.results.table import Format, render
from omnitui.runbook.load import load
from omnitui.runbook.schema import Runbook


def summaries_of(source: Source) -> tuple[Summary, ...]:
    """One summary for each series of a source."""
    results = [one.result for one in source.passes]
    return summarize(results, told_metrics(source.runbook.metrics, results))


def as_table(source: Source, form: Format) -> str:
    """The table over the passes, with what of the page was not measured."""
    results = [one.result for one in source.passes]
    table = table_of(source.name, source.title, source.runbook, source.path / "runbook", results, form)
    if not source.imported or form not in ("table", "md"):
        return table
    return f"{table}\n\nTaken in: measured before OmniTUI was there."


def table_of(
    name: str, title: str, runbook: Runbook, folder: Path, passes: Sequence[PassResult], form: Format
) -> str:
    """The table over passes; `folder` has the whole runbook, of which `runbook` is what the variables leave."""
    table = render(name, title, summarize(passes, told_metrics(runbook.metrics, passes)), form)
    here = {workload.id for workload in runbook.workloads}
    missing = [one.id for one in load(folder).workloads if one.id not in here]
    if not missing or form not in ("table", "md"):
        return table
    return f"{table}\n\nNot measured: {', '.join(missing)}. Coverage of the whole page is incomplete."


def as_page(source: Source) -> str:
    """The same as one HTML page."""
    from omnitui.results.telling.page import results_page  # noqa: PLC0415 - whoever prints a table needs none

    known = [
        [one.scope, key, "not known" if value is None else value]
        for one in source.passes
        for key, value in sorted(one.keys.items())
        if key != "packages"
    ]
    return results_page(source.title, source.name, summaries_of(source), source.runbook.references, known)
