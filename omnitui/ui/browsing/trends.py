"""One metric over the commits that were measured, on one model of GPU. `read` is called in threads."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

from msgspec import Struct

from omnitui.errors import OmniError
from omnitui.results import catalog
from omnitui.results.catalog import Query
from omnitui.results.catalog import Row as Known
from omnitui.results.statistics import each_once, stdev
from omnitui.results.table import number
from omnitui.runbook.load import load
from omnitui.runbook.measured import Metric
from omnitui.ui.browsing.columns import fit
from omnitui.ui.browsing.dots import Scale, dots, scale
from omnitui.ui.browsing.pass_rows import when
from omnitui.ui.widgets.rows import Cell, Row

_COMMIT = 16
_LABEL = 36 + _COMMIT
UNKNOWN = "unknown commit"


class Point(Struct, frozen=True):
    """The passes of one commit, or one pass."""

    commit: str
    """Its first digits; empty where it is not known."""
    series: str
    """The run and series of its last pass."""
    began: str
    values: tuple[float, ...]
    folder: str
    """Of its last pass."""


class Trend(Struct, frozen=True):
    """All passes that may be averaged, each measurement once, oldest first; `left_out` others are not shown."""

    runbook: str
    gpu: str
    passes: tuple[Known, ...]
    left_out: int
    metrics: tuple[Metric, ...] = ()

    def names(self) -> tuple[str, ...]:
        """The metrics that there are: the primary ones first."""
        there = {name for one in self.passes for name in one.metrics}
        primary = [one.id for one in self.metrics if one.primary and one.id in there]
        return (*primary, *sorted(there - set(primary)))

    def points(self, metric: str, *, each: bool = False) -> tuple[Point, ...]:
        """A point for each commit, in the order in which they were first measured; or for `each` pass, by time.

        The passes of a run's series are of one commit also where nobody knows which; such points have no place
        among the commits and stand behind them.
        """
        groups: dict[tuple[str, str], list[Known]] = {}
        for one in self.passes:
            if metric in one.metrics:
                same = (one.revision, "" if one.revision else f"{one.run}/{one.series}")
                groups.setdefault(("", one.folder) if each else same, []).append(one)
        found = (
            Point(
                mine[-1].revision[:8],
                f"{mine[-1].run} {mine[-1].series}",
                mine[0].collected,
                tuple(one.metrics[metric] for one in mine),
                mine[-1].folder,
            )
            for mine in groups.values()
        )
        return tuple(found) if each else tuple(sorted(found, key=lambda one: not one.commit))


def read(runbook: str, gpu: str) -> Trend:
    """The passes as the index knows them. Raises `OmniError`."""
    query = Query((("runbook", runbook), ("gpu", gpu)), sort="collected", descending=False, limit=-1)
    rows, _ = catalog.page(query)
    # The catalog finds beginnings of names too.
    mine = [one for one in rows if (one.runbook, one.gpu) == (runbook, gpu)]
    fit = (one for one in mine if one.complete and not one.left_out and not one.rehearsal and one.origin != "ci")
    good = each_once(fit)
    try:
        metrics = load(Path(good[-1].folder).parents[2] / "runbook").metrics if good else ()
    except OmniError:
        metrics = ()
    return Trend(runbook, gpu, tuple(good), len(mine) - len(good), metrics)


def point_row(one: Point, on: Scale) -> Row:
    """One commit: when, how many passes, mean and deviation, and the values on the scale of all."""
    spread = stdev(one.values)
    left = (
        Cell(when(one.began), "muted", 13),
        Cell(fit(one.commit or UNKNOWN, _COMMIT), "strong" if one.commit else "warn"),
        Cell(f"n {len(one.values)}", "muted", 5),
        Cell(number(mean(one.values)) + ("" if spread is None else f" ± {spread:.2g}"), "", 18),
    )
    return Row(one.folder, (*left, *dots(one.values, on, "blue", mean=mean(one.values))))


def on_scale(points: Sequence[Point], width: int) -> Scale:
    """The scale of all points in a table of this width."""
    return scale([value for one in points for value in one.values], width - _LABEL - 1)


def head_row(on: Scale, unit: str) -> Row:
    """What the columns are, and where the scale begins and ends."""
    words = (("when", 13), ("commit", _COMMIT), ("", 5), ("mean ± s", 18))
    ends = number(on.low), f"{number(on.high)} {unit}".rstrip()
    space = max(1, on.cells - len(ends[0]) - len(ends[1]))
    cells = [Cell(word, "muted", width) for word, width in words]
    return Row("", (*cells, Cell(f"{ends[0]}{' ' * space}{ends[1]}", "muted")))


def about(trend: Trend, metric: str) -> Iterator[Row]:
    """What is shown, and what is not."""
    spec = next((one for one in trend.metrics if one.id == metric), None)
    better = {"higher": ", higher is better", "lower": ", lower is better"}.get(spec.direction if spec else "", "")
    help_ = f": {spec.help}" if spec and spec.help else ""
    yield Row("", (Cell(metric, "strong"), Cell(f" {spec.unit if spec else ''}{better}{help_}", "muted")))
    passes = f"{trend.left_out} pass{'es' * (trend.left_out != 1)}"
    left = f"{passes} left out; " if trend.left_out else ""
    # Short enough for 80 columns and ten thousand passes.
    told = f"{left}no verdict: settings may differ, only comparing tells"
    yield Row("", (Cell(told, "muted"),))
