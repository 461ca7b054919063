"""A pass as one line of the list of all passes, and all that is known of it below. Pure."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from omnitui.results.catalog.rows import Row as Known
from omnitui.results.passes import PassResult
from omnitui.results.table import number
from omnitui.ui.browsing.columns import Column, fitting, row
from omnitui.ui.browsing.view import GroupHead
from omnitui.ui.signs import Sign, Tone
from omnitui.ui.widgets.rows import Cell, Row

_FIRST = (
    Column("mark", "", 3, sorts=False),
    Column("collected", "when", 13),
    Column("runbook", "runbook", 19, rank=6),
    Column("run", "run", 26, rank=7),
    Column("series", "series", 9, rank=1),
    Column("pass", "pass", 6),
    Column("commit", "commit", 9, rank=2),
    Column("gpu", "GPU", 12, rank=5),
    Column("state", "", 14, sorts=False),
    Column("origin", "from", 12, rank=3),
)
_WHY = Column("left_out", "  why left out", 38, rank=8, grows=True)
_METRIC_RANK = 4
GROUP = "group "
"""What the key of a group's head begins with; behind it stands the group's value."""
ANYTHING = "primary"
"""The column that tells the primary metrics of passes of several runbooks."""


def columns(primary: Sequence[str] | None, empty: Collection[str], width: int) -> tuple[Column, ...]:
    """The columns that fit and are not `empty`; `primary` has a metric each where all passes are of one runbook.

    A metric has its whole name where that costs no other column.
    """
    if primary is None:
        anything = Column(ANYTHING, "primary metrics", 36, rank=_METRIC_RANK, sorts=False)
        return fitting([*(one for one in _FIRST if one.key not in empty), anything, _WHY], width)
    first = [one for one in _FIRST if one.key not in ("runbook", *empty)]
    brief, whole = (
        fitting([*first, *map(_metric, primary, titles), _WHY], width) for titles in (short(primary), primary)
    )
    return whole if [one.key for one in whole] == [one.key for one in brief] else brief


def _metric(name: str, title: str) -> Column:
    return Column(name, title, max(10, len(title) + 3), right=True, rank=_METRIC_RANK)


def unknown(rows: Iterable[Known], sort: str) -> frozenset[str]:
    """The columns in which no row has anything, unless they are sorted by one."""
    told = {"commit": "revision", "gpu": "gpu"}
    if not (seen := tuple(rows)):
        return frozenset()
    return frozenset(
        key for key, name in told.items() if key != sort and not any(getattr(one, name) for one in seen)
    )


def short(metrics: Sequence[str]) -> list[str]:
    """Their names in few cells, no two alike: `seedtts.wer.wer_corpus` is `seed.wer_corpus` if no other one is."""

    def cut(metric: str, leading: int | None) -> str:
        *first, last = metric.split(".")
        return ".".join([*(part[:4] for part in first[:leading]), last])

    ways = [[cut(metric, leading) for metric in metrics] for leading in (1, None)]
    return [
        next((names[at] for names in ways if names.count(names[at]) == 1), metric)
        for at, metric in enumerate(metrics)
    ]


def state(one: Known | PassResult) -> Sign:
    """Whether a pass may be averaged, in a sign and a word."""
    if not one.scored:
        return Sign("–", "not scored", "muted")
    if one.left_out.startswith("not collected"):
        # It is under way, was cut off, or is a warm-up that nobody collects.
        return Sign("○", "no results", "warn")
    if not one.complete:
        return Sign("✘", "incomplete", "red")
    return Sign("!", "marked", "warn") if one.left_out else Sign("✔", "complete", "green")


def origin(one: Known) -> Sign:
    """Where a pass comes from, where that is not a plain run."""
    if one.rehearsal:
        return Sign("≈", "rehearsed", "warn")
    if one.origin == "ci":
        return Sign("◇", "CI", "warn")
    if one.origin != "run":
        return Sign("↓", "imported", "blue")
    return Sign("", "run", "muted")


def said(sign: Sign) -> str:
    """A sign and its word."""
    return f"{sign.symbol} {sign.word}".strip()


def when(stamp: str) -> str:
    """A stored time as it is here: `03-02 14:05`."""
    try:
        return datetime.fromisoformat(stamp).astimezone().strftime("%m-%d %H:%M")
    except ValueError:
        return stamp[:11]


def pass_row(one: Known, shown: Sequence[Column], primary: Sequence[str], mark: str) -> Row:
    """One pass."""
    stands, came = state(one), origin(one)
    texts = {
        "mark": mark,
        "collected": when(one.collected),
        "runbook": one.runbook,
        "run": one.run,
        "series": one.series,
        "pass": one.label,
        "commit": one.revision[:8],
        "gpu": one.gpu.removeprefix("NVIDIA "),
        "state": said(stands),
        "origin": said(came),
        "left_out": f"  {one.left_out}",
        ANYTHING: _several(one, primary),
        **{column.key: number(one.metrics.get(column.key)) for column in shown if column.right},
    }
    tones: dict[str, Tone] = {
        "mark": "blue",
        "collected": "muted",
        "run": "muted",
        "state": stands.tone,
        "origin": came.tone,
        "left_out": "muted",
    }
    return row(one.folder, shown, texts, tones)


def _several(one: Known, primary: Sequence[str]) -> str:
    told = (f"{name.rpartition('.')[2]} {number(one.metrics[name])}" for name in primary if name in one.metrics)
    return " · ".join(told)


def group_row(group: GroupHead, name: str) -> Row:
    """The line above a group."""
    told = f"{group.count} pass{'es' * (group.count != 1)}, {group.averaged} averaged"
    left = (Cell("▸ " if group.folded else "▾ ", "blue"), Cell(f"{name} ", "muted"))
    name_of = Cell(group.value or "not known", "strong")
    return Row(f"{GROUP}{group.value}", (*left, name_of, Cell(f"  {told}", "muted")))


def about(one: Known | None) -> tuple[Row, ...]:
    """All that the list knows of the pass under the cursor, in two lines."""
    if one is None:
        return (Row("", ()), Row("", ()))
    stands = state(one)
    where = f" · {one.runbook} · commit {one.revision[:12] or 'not known'} · {one.gpu or 'GPU not known'}"
    first = (Cell(f"{one.run} {one.series}/{one.label}", "strong"), Cell(where))
    why = f": {one.left_out}" if one.left_out and one.scored else ""
    came = origin(one)
    second = [Cell(f"{said(stands)}{why}", stands.tone)]
    if came.symbol:
        never = "" if one.origin == "import" and not one.rehearsal else ": never compared with a run's"
        second.append(Cell(f"   {said(came)}{never}", came.tone))
    return (Row("", first), Row("", tuple(second)))


class Marked(Struct, frozen=True):
    """The passes that are to be compared, by their folders."""

    a: frozenset[str] = frozenset()
    b: frozenset[str] = frozenset()

    def of(self, folder: str) -> str:
        """The letter of the side that a pass is on."""
        return "A" if folder in self.a else "B" if folder in self.b else ""

    def toggled(self, side: str, folders: frozenset[str]) -> "Marked":
        """These passes on that side and not on the other; off it, if they all are there already."""
        here, there = (self.a, self.b) if side == "a" else (self.b, self.a)
        here, there = (here - folders if folders <= here else here | folders), there - folders
        return Marked(here, there) if side == "a" else Marked(there, here)
