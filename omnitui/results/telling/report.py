"""The results of a run or an import, in every format."""

from collections.abc import Mapping

from omnitui.results.judging.lock import Difference, Keys, unlike
from omnitui.results.keys import roles_of
from omnitui.results.sources import Source
from omnitui.results.statistics import Summary, Unlike, summarize, told_metrics
from omnitui.results.table import Format, render
from omnitui.runbook.load import load


def summaries_of(source: Source) -> tuple[Summary, ...]:
    """One summary for each series of a source; no mean over passes that may not be compared with each other."""
    results = [one.result for one in source.passes]
    found = summarize(results, told_metrics(source.runbook.metrics, results))
    return tuple(_honest(one, source) for one in found)


def _honest(summary: Summary, source: Source) -> Summary:
    mine = {
        one.result.label: one.keys
        for one in source.passes
        if (one.result.series, one.result.rehearsal) == (summary.series, summary.rehearsal)
        and one.result.label in summary.averaged
    }
    found = unlike(tuple(mine.values()), roles_of(source.runbook))
    if not found:
        return summary
    return summary.without_mean(tuple(_told(one, mine) for one in found))


def _told(one: Difference, passes: Mapping[str, Keys]) -> Unlike:
    return Unlike(
        one.key,
        tuple(
            (value, tuple(label for label, keys in passes.items() if keys.get(one.key) == value))
            for value in one.a
        ),
    )


def as_table(source: Source, form: Format) -> str:
    """The table over the passes, with what of the page was not measured."""
    table = render(source.name, source.title, summaries_of(source), form, _not_measured(source))
    return "\n\n".join([table, *_notes(source)]) if form in ("table", "md") else table


def _not_measured(source: Source) -> list[str]:
    here = {workload.id for workload in source.runbook.workloads}
    return [one.id for one in load(source.path / "runbook").workloads if one.id not in here]


def _notes(source: Source) -> list[str]:
    missing = _not_measured(source)
    told = [f"Not measured: {', '.join(missing)}. Coverage of the whole page is incomplete."] if missing else []
    return [*told, "Taken in: measured before OmniTUI was there."] if source.imported else told


def as_page(source: Source) -> str:
    """The same as one HTML page."""
    from omnitui.results.telling.page import results_page  # noqa: PLC0415 - whoever prints a table needs none

    return results_page(source, summaries_of(source), _notes(source))
