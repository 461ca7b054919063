"""The SQLite file of the catalog: put, refresh, query. Two processes may write at once."""

import os
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import msgspec

from omnitui import store
from omnitui.errors import StoreError
from omnitui.results.catalog.rows import COLUMNS, Query, Row, column_of, condition, is_column, read_row, stored_row
from omnitui.results.passes import PassResult
from omnitui.results.sources import IMPORTS, in_folder
from omnitui.results.statistics import each_once

VERSION = 6
_FILES = ("catalog.sqlite", "catalog.sqlite-journal")
_BUSY = ("locked", "busy")
_UNWRITABLE = ("readonly", "unable to open", "full", "disk I/O")
"""What SQLite says where another index would fare no better."""
_RACY_NS = 50_000_000
"""A folder that changed so shortly ago may change again within one tick of the file system's clock."""
_OTHERS = re.compile("^\\.|[\ud800-\udfff]")
"""Names that no run or import has: hidden ones, and those that are no UTF-8, which SQLite does not take."""
_SCHEMA = f"""
CREATE TABLE passes
    (id INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, {", ".join(f"{c} NOT NULL" for c in COLUMNS)});
CREATE UNIQUE INDEX by_folder ON passes (folder);
CREATE INDEX by_time ON passes (collected);
CREATE INDEX by_runbook ON passes (runbook, left_out, complete);
CREATE INDEX by_content ON passes (sha256);
CREATE TABLE metrics (name TEXT, pass INTEGER, value REAL, PRIMARY KEY (name, pass)) WITHOUT ROWID;
CREATE INDEX by_pass ON metrics (pass);
PRAGMA user_version = {VERSION};
"""


class CatalogError(StoreError):
    """The index cannot be used. `damaged`: a new one helps; it is only a cache. `busy`: somebody else has it."""

    def __init__(self, message: str, *, damaged: bool, busy: bool = False) -> None:
        super().__init__(message)
        self.damaged = damaged
        self.busy = busy


def file() -> Path:
    """Where the index lies."""
    return store.home() / _FILES[0]


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        # A missing table or column is damage too: somebody else's schema.
        busy, unwritable = (any(word in str(error) for word in words) for words in (_BUSY, _UNWRITABLE))
        damaged = not (busy or unwritable)
        raise CatalogError(f"the catalog {file()}: {error}", damaged=damaged, busy=busy) from error
    except (sqlite3.DatabaseError, msgspec.MsgspecError, TypeError) as error:
        raise CatalogError(f"the catalog {file()}: {error}", damaged=True) from error


class Catalog:
    """An open index. Where its file cannot be written, it is made in memory from the folders."""

    def __init__(self, patience_s: float = 5.0, *, in_memory: bool = False) -> None:
        if not in_memory:
            store.make_folder(file().parent)
        with _told():
            self._db = self._opened(patience_s, in_memory)

    def _opened(self, patience_s: float, in_memory: bool) -> sqlite3.Connection:
        writable = not in_memory and os.access(file() if file().exists() else file().parent, os.W_OK)
        db = sqlite3.connect(file() if writable else ":memory:", timeout=patience_s, isolation_level=None)
        # It is a cache: after a power cut it is read anew, and nobody waits for its disk.
        db.execute("PRAGMA synchronous = OFF")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            self._create(db, version)
        if not writable:
            self._db = db
            self.refresh()
        return db

    @staticmethod
    def _create(db: sqlite3.Connection, version: int) -> None:
        db.execute("BEGIN IMMEDIATE")
        # Somebody else may have made it while we waited.
        if db.execute("PRAGMA user_version").fetchone()[0] == VERSION:
            db.execute("COMMIT")
            return
        if version:
            db.execute("ROLLBACK")
            raise CatalogError("the catalog is of another OmniTUI", damaged=True)
        for statement in filter(str.strip, _SCHEMA.split(";")):
            db.execute(statement)
        db.execute("COMMIT")

    def __enter__(self) -> "Catalog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @staticmethod
    def discard() -> None:
        """Remove the index; the next one who opens it makes a new one."""
        for name in _FILES:
            with suppress(OSError):
                (store.home() / name).unlink()

    def refresh(self) -> int:
        """Read what is new or has changed, forget what is gone; how many passes were read. One stat a folder."""
        with _told():
            known = dict(self._db.execute("SELECT folder, stamp FROM passes"))
        there = dict(_folders())
        changed = [folder for folder, stamp in there.items() if known.get(folder) != stamp]
        gone = [folder for folder in known if folder not in there]
        if changed or gone:
            self._write([(there[folder], folder, in_folder(Path(folder))) for folder in changed], gone)
        return len(changed)

    def put(self, folders: Iterable[Path]) -> None:
        """Index these passes."""
        self._write([(_stamp(one.stat().st_mtime_ns), str(one), in_folder(one)) for one in folders], [])

    def _write(self, found: list[tuple[int, str, PassResult | None]], gone: list[str]) -> None:
        update = ", ".join(f"{name} = excluded.{name}" for name in ("stamp", *COLUMNS))
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        put = (
            f"INSERT INTO passes (stamp, {', '.join(COLUMNS)}) VALUES ({marks})"
            f" ON CONFLICT (folder) DO UPDATE SET {update} RETURNING id"
        )
        with _told():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                for folder in (*gone, *(folder for _, folder, result in found if result is None)):
                    for (number,) in self._db.execute(
                        "DELETE FROM passes WHERE folder = ? RETURNING id", [folder]
                    ):
                        self._db.execute("DELETE FROM metrics WHERE pass = ?", [number])
                values = []
                for stamp, folder, result in found:
                    if result is None:
                        continue
                    run = Path(folder).parents[2].name
                    number = self._db.execute(put, (stamp, *stored_row(folder, run, result))).fetchone()[0]
                    self._db.execute("DELETE FROM metrics WHERE pass = ?", [number])
                    values += [(name, number, value) for name, value in result.metrics.items()]
                # In the order of the key: twice as fast.
                self._db.executemany("INSERT INTO metrics VALUES (?, ?, ?)", sorted(values))
            except BaseException:
                # A full disk has ended it already, and is the error to tell.
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def page(self, query: Query) -> list[Row]:
        """The rows that a query asks for."""
        where, values = condition(query)
        way = "DESC" if query.descending else "ASC"
        names = ", ".join(f"passes.{name}" for name in COLUMNS)
        join = ""
        if is_column(query.sort):
            order = f"{column_of(query.sort)} {way}"
        else:
            join = " LEFT JOIN metrics ON metrics.name = ? AND metrics.pass = passes.id"
            values = [query.sort, *values]
            order = f"metrics.value IS NULL, metrics.value {way}"
        together = f"passes.{column_of(query.group)}, " if query.group else ""
        text = f"SELECT {names} FROM passes{join}{where} ORDER BY {together}{order}, folder {way} LIMIT ? OFFSET ?"
        with _told():
            found = self._db.execute(text, [*values, query.limit, query.offset]).fetchall()
            return [read_row(values) for values in found]

    def count(self, query: Query) -> int:
        """How many rows a query finds in all."""
        where, values = condition(query)
        with _told():
            return int(self._db.execute(f"SELECT count(*) FROM passes{where}", values).fetchone()[0])

    def groups(self, name: str, query: Query) -> list[tuple[str, int, int]]:
        """The values of a column, each with how many passes it has and how many of them are averaged."""
        where, values = condition(query)
        column = column_of(name)
        good = "sum(left_out = '' AND complete)"
        text = f"SELECT {column}, count(*), {good} FROM passes{where} GROUP BY {column} ORDER BY {column}"
        twice = Counter(value for value, _ in self.twice(query, name))
        with _told():
            return [
                (str(value), count, good - twice[value]) for value, count, good in self._db.execute(text, values)
            ]

    def twice(self, query: Query, by: str = "") -> list[tuple[str, str]]:
        """What an older pass of the same measurement and value of `by` counts for: that value, the folder."""
        where, values = condition(query)
        text = (
            f"SELECT {column_of(by) if by else repr('')}, folder, origin, sha256 FROM passes"
            f"{where or ' WHERE 1'} AND left_out = '' AND complete AND sha256 IN"
            " (SELECT sha256 FROM passes WHERE sha256 != '' GROUP BY sha256 HAVING count(*) > 1)"
            " ORDER BY collected, folder"
        )
        groups: dict[str, list[_Copy]] = {}
        with _told():
            for value, *copy in self._db.execute(text, values):
                groups.setdefault(value, []).append(_Copy(*copy))
        counted = {one for copies in groups.values() for one in each_once(copies)}
        return [(value, one.folder) for value, copies in groups.items() for one in copies if one not in counted]


class _Copy(NamedTuple):
    folder: str
    origin: str
    sha256: str


def _stamp(changed_ns: int) -> int:
    """When a folder changed; what equals nothing before or after, so that it is read again, when that is new."""
    now_ns = time.time_ns()
    return -now_ns if now_ns - changed_ns < _RACY_NS else changed_ns


def _folders() -> Iterator[tuple[str, int]]:
    """Every pass's folder below runs and imports, and when it last changed."""
    for kind in ("runs", IMPORTS):
        for run in _entries(f"{store.home()}/{kind}"):
            for series in _entries(f"{run.path}/passes"):
                for label in _entries(series.path):
                    with suppress(OSError):
                        yield label.path, _stamp(label.stat().st_mtime_ns)


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as found:
            return [entry for entry in found if not _OTHERS.search(entry.name) and entry.is_dir()]
    except OSError:
        return []
