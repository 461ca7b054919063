"""What the catalog knows of a pass, and how it is asked. Pure."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from omnitui.errors import UsageError
from omnitui.results.passes import PassResult

COLUMNS = (
    *("folder", "run", "runbook", "series", "label", "title", "collected", "revision", "gpu", "host", "origin"),
    *("scored", "complete", "rehearsal", "left_out", "metrics", "sha256"),
)
_HIDDEN = ("metrics", "sha256")
_NAMES = {"commit": "revision", "pass": "label"}
"""What the operator calls a column whose own name means something else in SQL or Python."""


class Row(Struct, frozen=True):
    """One pass as the catalog knows it. `left_out` says why it is not averaged; empty when it is."""

    folder: str
    run: str
    runbook: str
    series: str
    label: str
    title: str
    collected: str
    revision: str
    gpu: str
    host: str
    origin: str
    scored: bool
    complete: bool
    rehearsal: bool
    left_out: str
    metrics: Mapping[str, float]
    sha256: str = ""


class Query(Struct, frozen=True):
    """Which rows, in which order. `sort` is a column or a metric; passes without that metric come last."""

    where: tuple[tuple[str, str], ...] = ()
    """Columns and the beginnings of their values; all must hold."""
    text: str = ""
    """Found anywhere in runbook, run, series, label, commit, GPU, host, origin or reason."""
    sort: str = "collected"
    descending: bool = True
    offset: int = 0
    limit: int = 100
    group: str = ""
    """A column: rows with the same value stand together, groups in the order of `Catalog.groups`."""


def is_column(name: str) -> bool:
    """Whether passes can be chosen and sorted by this, which is then no metric."""
    return _NAMES.get(name, name) in COLUMNS and name not in _HIDDEN


def column_of(name: str) -> str:
    """The column that a selector names. Raises `UsageError`."""
    if not is_column(name):
        known = ", ".join(_NAMES.keys() | set(COLUMNS) - {*_HIDDEN, "revision"})
        raise UsageError(f"passes cannot be chosen by {name!r}; by: {known}")
    return _NAMES.get(name, name)


def stored_row(folder: str, run: str, result: PassResult) -> tuple[Any, ...]:
    """The values of the columns, in their order."""
    return (
        *(folder, run, result.runbook, result.series, result.label, result.title, result.collected),
        *(result.commit, result.gpu, result.host, result.origin, result.scored, result.complete),
        *(result.rehearsal, result.left_out, msgspec.json.encode(result.metrics).decode(), result.sha256),
    )


def read_row(values: tuple[Any, ...]) -> Row:
    """The row again."""
    found = dict(zip(COLUMNS, values, strict=True))
    found |= {name: bool(found[name]) for name in ("scored", "complete", "rehearsal")}
    return Row(**{**found, "metrics": msgspec.json.decode(found["metrics"], type=dict[str, float])})


def condition(query: Query) -> tuple[str, list[Any]]:
    """The WHERE clause of a query and its values."""
    parts, values = [], []
    for name, value in query.where:
        # Escaped: what the operator types is no pattern.
        parts.append(f"{column_of(name)} LIKE ? ESCAPE '\\'")
        values.append(_escaped(value) + "%")
    if query.text:
        found = ("runbook", "run", "series", "label", "revision", "gpu", "host", "origin", "left_out", "title")
        parts.append("(" + " OR ".join(f"{name} LIKE ? ESCAPE '\\'" for name in found) + ")")
        values += [f"%{_escaped(query.text)}%"] * len(found)
    return (" WHERE " + " AND ".join(parts) if parts else ""), values


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
