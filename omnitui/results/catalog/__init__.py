"""The catalog of all passes: an SQLite index that is only a cache of the small files beside each pass.

It can be deleted at any time. A run neither needs nor waits for it; whoever reads brings it up to date.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from omnitui.results.catalog.index import Catalog, CatalogError
from omnitui.results.catalog.rows import Query, Row

__all__ = ["Catalog", "CatalogError", "Query", "Row", "add", "groups", "page", "refresh", "select", "twice"]
T = TypeVar("T")


def _asked(act: Callable[[Catalog], T]) -> T:
    """Ask the index; a new one when it cannot be trusted, one in memory where none can be written."""
    for _ in range(2):
        try:
            with Catalog() as catalog:
                return act(catalog)
        except CatalogError as error:
            if error.busy:
                raise
            if error.damaged:
                Catalog.discard()
    with Catalog(in_memory=True) as catalog:
        return act(catalog)


def add(folder: Path) -> None:
    """Index one pass; a damaged index is removed. Raises `CatalogError` when it cannot be written now.

    Whatever comes of it, a later refresh finds the pass.
    """
    try:
        with Catalog(patience_s=0.2) as catalog:
            catalog.put([folder])
    except CatalogError as error:
        if not error.damaged:
            raise
        Catalog.discard()


def refresh() -> int:
    """Bring the index up to date with the folders; how many passes were read."""
    return _asked(Catalog.refresh)


def page(query: Query) -> tuple[list[Row], int]:
    """The rows that a query asks for, and how many there are in all, as far as the index knows."""
    return _asked(lambda catalog: (catalog.page(query), catalog.count(query)))


def groups(name: str, query: Query) -> list[tuple[str, int, int]]:
    """The values of a column, each with how many passes it has and how many are averaged, as far as is known."""
    return _asked(lambda catalog: catalog.groups(name, query))


def twice(query: Query) -> frozenset[str]:
    """The folders of what a query finds, in all, that an older pass of the same measurement keeps from a mean."""
    return _asked(lambda catalog: frozenset(folder for _, folder in catalog.twice(query)))


def select(wanted: Iterable[tuple[str, str]]) -> list[Row]:
    """All passes with these values, oldest first; the index is brought up to date before."""
    query = Query(where=tuple(wanted), sort="collected", descending=False, limit=-1)

    def act(catalog: Catalog) -> list[Row]:
        catalog.refresh()
        return catalog.page(query)

    return _asked(act)
