"""Columns of a table: which fit, their head, and cells that keep to their width. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from omnitui.sanitise import plain
from omnitui.ui.signs import Tone
from omnitui.ui.widgets.rows import Cell, Row


class Column(NamedTuple):
    """A column. Where there is little room those with a high `rank` are left out."""

    key: str
    title: str
    width: int
    right: bool = False
    rank: int = 0
    sorts: bool = True
    grows: bool = False
    """It takes what room is left."""


def fitting(columns: Sequence[Column], width: int) -> tuple[Column, ...]:
    """The columns that fit, in their order; those of the lowest rank come first."""
    kept: set[str] = set()
    for column in sorted(columns, key=lambda one: one.rank):
        if column.width <= width:
            width -= column.width
            kept.add(column.key)
    shown = [column for column in columns if column.key in kept]
    last = next((column for column in reversed(shown) if column.grows), None)
    return tuple(one._replace(width=one.width + width) if one is last else one for one in shown)


def head(columns: Iterable[Column], sort: str, *, descending: bool) -> Row:
    """The head: the column by which the rows are sorted has an arrow."""
    cells = []
    for column in columns:
        arrow = (" ↓" if descending else " ↑") if column.key == sort else ""
        title = fit(column.title + arrow, column.width, right=column.right)
        cells.append(Cell(title, "blue" if arrow else "muted"))
    return Row("", tuple(cells))


def row(key: str, columns: Iterable[Column], texts: Mapping[str, str], tones: Mapping[str, Tone]) -> Row:
    """One row; what no text is given for is blank."""
    cells = (Cell(fit(texts.get(c.key, ""), c.width, right=c.right), tones.get(c.key, "")) for c in columns)
    return Row(key, tuple(cells))


def fit(text: str, width: int, *, right: bool = False) -> str:
    """A text in exactly so many cells, of which the last (or first) is a gap."""
    text, room = plain(text), width - 1
    if cell_len(text) > room:
        text = set_cell_size(text, max(0, room - 1)) + "…"
    space = " " * (width - cell_len(text))
    return space + text if right else text + space


def at(columns: Iterable[Column], x: int) -> Column | None:
    """The column that is so many cells from the left."""
    for column in columns:
        if x < column.width:
            return column
        x -= column.width
    return None
