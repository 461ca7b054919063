"""What the browser reads of the catalog and of the runs' folders. Called in threads."""

from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

from omnitui.errors import OmniError
from omnitui.results import catalog
from omnitui.results.catalog import Query, Row
from omnitui.results.catalog.index import file
from omnitui.runbook.load import load
from omnitui.ui.browsing.view import Found, View


class Passes:
    """Reads the catalog; remembers each runbook's primary metrics, from the first run whose copy can be read."""

    def __init__(self) -> None:
        self._primary: dict[str, tuple[str, ...]] = {}
        self._unreadable: set[Path] = set()

    def read(self, view: View, blocks: Iterable[int] = (0,), known: Found | None = None) -> Found:
        """Rows of a view as the index knows them; all else is read where none is `known`. Raises `OmniError`."""
        found: dict[int, tuple[Row, ...]] = {}
        count = 0
        for block in blocks:
            rows, count = catalog.page(view.query(block))
            found[block] = tuple(rows)
        if known is not None and known.view == view:
            return replace(known, blocks=found, count=count, primary=dict(self._primary))
        groups = tuple(catalog.groups(view.group, view.query())) if view.group else ()
        runbooks = tuple(catalog.groups("runbook", Query(text=view.text)))
        return Found(view, found, count, groups, runbooks, dict(self._primary))

    def learn(self, found: Found) -> Found | None:
        """The same with the primary metrics of all its runbooks, which takes long; None when they were known."""
        known = dict(self._primary)
        for one in (one for rows in found.blocks.values() for one in rows):
            copy = Path(one.folder).parents[2] / "runbook"
            if one.runbook in known or copy in self._unreadable:
                continue
            try:
                known[one.runbook] = tuple(metric.id for metric in load(copy).metrics if metric.primary)
            except OmniError:
                # A list of passes is no place to tell it: the pass's own screen does.
                self._unreadable.add(copy)
        if known == found.primary:
            return None
        self._primary = known
        return replace(found, primary=known)


def series_of(one: Row) -> frozenset[str]:
    """The folders of all passes of the run's series that a pass belongs to. Raises `OmniError`."""
    rows, _ = catalog.page(Query((("run", one.run), ("series", one.series)), limit=-1))
    # The catalog finds beginnings of names too.
    return frozenset(row.folder for row in rows if (row.run, row.series) == (one.run, one.series))


def stamp() -> tuple[int, int]:
    """Another one when somebody has written to the index."""
    try:
        found = file().stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
