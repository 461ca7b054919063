"""The catalog of all passes: an SQLite index that is only a cache of the small files beside each pass.

It can be deleted at any time. A run neither needs nor waits for it; whoever reads brings it up to date.
"""

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from omnitui.results.catalog.index import Catalog, CatalogError
from omnitui.results.catalog.rows import Query, Row

__all__ = ["Catalog", "CatalogError", "Query", "Row", "add", "groups", "page", "refresh", "select"]
P = ParamSpec("P")
T = TypeVar("T")


def _whole(act: Callable[P, T]) -> Callable[P, T]:
    """Once more with a new index when the one that is there cannot be trusted."""

    @wraps(act)
    def again(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return act(*args, **kwargs)
        except CatalogError as error:
            if not error.damaged:
                raise
            Catalog.discard()
            return act(*args, **kwargs)

    return again


@_whole
def add(folder: Path) -> None:
    """Index one pass. Raises `CatalogError` when the index is busy for a moment; then a later refresh finds it."""
    with Catalog(patience_s=0.2) as catalog:
        catalog.put([folder])


@_whole
def refresh() -> int:
    """Bring the index up to date with the folders; how many passes were read."""
    with Catalog() as catalog:
        return catalog.refresh()


@_whole
def page(query: Query) -> tuple[list[Row], int]:
    """The rows that a query asks for, and how many there are in all, as far as the index knows."""
    with Catalog() as catalog:
        return catalog.page(query), catalog.count(query)


@_whole
def groups(name: str, query: Query) -> list[tuple[str, int, int]]:
    """The values of a column, each with how many passes it has and how many are averaged, as far as is known."""
    with Catalog() as catalog:
        return catalog.groups(name, query)


@_whole
def select(wanted: Iterable[tuple[str, str]]) -> list[Row]:
    """All passes with these values, oldest first; the index is brought up to date before."""
    with Catalog() as catalog:
        catalog.refresh()
        query = Query(where=tuple(wanted), sort="collected", descending=False, limit=-1)
        return catalog.page(query)
