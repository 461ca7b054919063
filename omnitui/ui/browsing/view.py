"""What of all passes is shown, in which order, in which groups; and which row of the table is which pass. Pure."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from omnitui.results.catalog.rows import Query, Row

BLOCK = 200
"""How many rows are read at once."""
GROUPINGS = ("", "commit", "runbook", "gpu", "series", "run")


class View(Struct, frozen=True):
    """Filter, order and grouping. `sort` is a column or a metric."""

    text: str = ""
    runbook: str = ""
    sort: str = "collected"
    descending: bool = True
    group: str = ""

    def query(self, block: int = 0) -> Query:
        """What the catalog is asked for one block of rows."""
        where = (("runbook", self.runbook),) if self.runbook else ()
        return Query(where, self.text, self.sort, self.descending, block * BLOCK, BLOCK, self.group)

    def sorted_by(self, key: str) -> "View":
        """By another column; by the same one, the other way round."""
        if key == self.sort:
            return replace(self, descending=not self.descending)
        return replace(self, sort=key, descending=key not in ("run", "runbook", "series", "pass", "commit", "gpu"))

    def grouped_by_next(self) -> "View":
        """By the next of the columns that make groups."""
        return replace(self, group=GROUPINGS[(GROUPINGS.index(self.group) + 1) % len(GROUPINGS)])


class GroupHead(Struct, frozen=True):
    """The line above a group: how many passes it has, and how many of them may be averaged."""

    value: str
    count: int
    averaged: int
    folded: bool


class Lines:
    """Where in the table a pass or a group's head stands. `folded` are the groups that show their head only."""

    def __init__(self, count: int, groups: Sequence[tuple[str, int, int]], folded: frozenset[str]) -> None:
        self._groups = tuple(groups)
        self._folded = folded
        sizes = [1 + (0 if value in folded else passes) for value, passes, _ in self._groups]
        self._starts = [0, *accumulate(sizes)]
        self._offsets = [0, *accumulate(passes for _, passes, _ in self._groups)]
        self.total = self._starts[-1] if self._groups else count

    def at(self, index: int) -> GroupHead | int:
        """The head of a group, or the offset of a pass in the catalog's order."""
        if not self._groups:
            return index
        number = bisect_right(self._starts, index) - 1
        value, passes, averaged = self._groups[number]
        within = index - self._starts[number]
        if within == 0:
            return GroupHead(value, passes, averaged, value in self._folded)
        return self._offsets[number] + within - 1

    def of_pass(self, offset: int) -> int | None:
        """The line of the pass at an offset; None in a folded group, and where no group has so many."""
        if not self._groups:
            return offset
        # Rows and groups are read one after the other, and a pass may go in between.
        if offset >= self._offsets[-1]:
            return None
        number = bisect_right(self._offsets, offset) - 1
        folded = self._groups[number][0] in self._folded
        return None if folded else self._starts[number] + 1 + offset - self._offsets[number]

    def of_group(self, value: str) -> int | None:
        """The line of a group's head."""
        heads = zip(self._groups, self._starts, strict=False)
        return next((line for (name, _, _), line in heads if name == value), None)

    def blocks(self, first: int, end: int) -> list[int]:
        """The blocks of rows that these lines of the table need."""
        offsets = [place for index in (first, *range(first, end)) if isinstance(place := self.at(index), int)]
        return sorted({offset // BLOCK for offset in offsets}) if self.total else []


class Found(Struct, frozen=True):
    """What was read: rows by block, how many there are, groups, and how many passes each runbook has."""

    view: View
    blocks: Mapping[int, tuple[Row, ...]]
    count: int
    groups: tuple[tuple[str, int, int], ...] = ()
    runbooks: tuple[tuple[str, int, int], ...] = ()
    primary: Mapping[str, tuple[str, ...]] = {}
    """The primary metrics of each runbook that is shown."""

    def pass_at(self, offset: int) -> Row | None:
        """The pass at an offset, if its block is there."""
        block = self.blocks.get(offset // BLOCK, ())
        return block[offset % BLOCK] if offset % BLOCK < len(block) else None

    def offset_of(self, folder: str) -> int | None:
        """The offset of a pass, if its block is there."""
        places = ((block * BLOCK + n, one) for block, rows in self.blocks.items() for n, one in enumerate(rows))
        return next((offset for offset, one in places if one.folder == folder), None)
