"""The catalog is only a cache: it finds what the folders say, and survives whatever happens to its file."""

import multiprocessing
import os
import resource
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from omnitui.comparing import tell_passes
from omnitui.errors import UsageError
from omnitui.results import catalog
from omnitui.results.catalog import Catalog, CatalogError, Query, Row
from omnitui.results.catalog.index import file
from omnitui.results.passes import PassResult
from omnitui.results.sources import measured_in
from omnitui.store import PassStanding
from tests.result_stores import make_runbook


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OMNITUI_HOME", str(tmp_path))
    return tmp_path


def store_pass(home: Path, run: str, scope: str, rate: float | None = 1.0, **more: Any) -> Path:
    """The small files that a run leaves of a pass."""
    series, _, label = scope.partition("/")
    folder = home / "runs" / run / "passes" / series / label
    folder.mkdir(parents=True, exist_ok=True)
    metrics = {} if rate is None else {"rate": rate}
    fields: dict[str, Any] = {
        **{"runbook": "asr", "commit": "5ed8a8d", "host": "node", "gpu": "H200", "steps": ("client",)},
        **{"collected": f"2026-01-02T03:04:{len(list(home.rglob('metrics.json'))):02}Z"},
    }
    result = PassResult(series, label, True, True, metrics, **{**fields, **more})
    (folder / "metrics.json").write_bytes(msgspec.json.encode(result))
    stand(folder)
    return folder


def stand(folder: Path, *marks: str, done: tuple[str, ...] = ("client",)) -> None:
    text = msgspec.json.encode(PassStanding(marks, done))
    (folder / ".standing.json").write_bytes(text)
    (folder / ".standing.json").replace(folder / "standing.json")


def rows(**query: Any) -> list[Row]:
    catalog.refresh()
    return catalog.page(Query(**query))[0]


def names(**query: Any) -> list[str]:
    return [f"{row.run} {row.series}/{row.label}" for row in rows(**query)]


def test_passes_are_found_sorted_and_filtered(home: Path) -> None:
    store_pass(home, "r1", "a/1", 3.0)
    store_pass(home, "r1", "a/2", 1.0, commit="070fc3b")
    store_pass(home, "r2", "b/1", None)
    store_pass(home, "r2", "b/2", 2.0, gpu="H100")
    assert names() == ["r2 b/2", "r2 b/1", "r1 a/2", "r1 a/1"]
    assert names(sort="rate") == ["r1 a/1", "r2 b/2", "r1 a/2", "r2 b/1"]
    assert names(sort="rate", descending=False)[-1] == "r2 b/1"
    assert names(sort="pass", descending=False) == ["r1 a/1", "r2 b/1", "r1 a/2", "r2 b/2"]
    assert names(sort="commit", descending=False)[0] == "r1 a/2"
    assert names(where=(("commit", "070"),)) == ["r1 a/2"]
    assert names(where=(("gpu", "H"), ("run", "r2"))) == ["r2 b/2", "r2 b/1"]
    assert names(where=(("run", "%"),)) == []
    assert names(text="100") == ["r2 b/2"]
    assert names(limit=1, offset=1) == ["r2 b/1"]
    assert catalog.page(Query(limit=1))[1] == 4
    with Catalog() as index:
        assert index.groups("commit", Query()) == [("070fc3b", 1, 1), ("5ed8a8d", 3, 3)]
    with pytest.raises(UsageError, match="cannot be chosen by 'nothing'"):
        rows(where=(("nothing", "x"),))


def test_passes_are_not_sorted_by_what_none_of_them_has(home: Path) -> None:
    store_pass(home, "r1", "a/1", 3.0)
    said: list[str] = []
    tell_passes({}, "rate", 50, said.append, ascending=False, as_json=False)
    assert "rate" in said[0]
    with pytest.raises(UsageError, match="--sort rates: no column, and no metric"):
        tell_passes({}, "rates", 50, said.append, ascending=False, as_json=False)


def test_a_folder_that_no_run_made_hides_no_pass(home: Path) -> None:
    folder = store_pass(home, "r1", "a/1")
    folder.with_name(os.fsdecode(b"\xff")).mkdir()
    assert names() == ["r1 a/1"]


def test_marks_and_steps_of_now_are_in_it(home: Path) -> None:
    folder = store_pass(home, "r", "a/1")
    assert [row.left_out for row in rows()] == [""]
    stand(folder, "swapping")
    assert [row.left_out for row in rows()] == ["swapping"]
    stand(folder, done=())
    (row,) = rows()
    assert (row.complete, row.left_out) == (False, "step client has not passed")


def test_what_is_gone_or_moved_aside_or_unreadable_is_told(home: Path) -> None:
    folder = store_pass(home, "r", "a/1", reasons=tuple(f"file {number} is missing" for number in range(9)))
    store_pass(home, "r", "a/2")
    assert len(rows()) == 2
    folder.rename(folder.with_name("1-incomplete"))
    (home / "runs" / "r" / "passes" / "a" / "2" / "metrics.json").write_bytes(b"{")
    stand(home / "runs" / "r" / "passes" / "a" / "2")
    found = {row.folder.rpartition("/")[2]: row for row in rows()}
    assert found.keys() == {"1-incomplete", "2"}
    assert "begun again" in found["1-incomplete"].left_out
    assert found["2"].metrics == {}
    assert found["2"].left_out.startswith("metrics.json: ")


@pytest.mark.parametrize("collected", [True, False])
def test_a_pass_whose_standing_was_cut_hides_no_other(home: Path, collected: bool) -> None:
    store_pass(home, "r", "a/1")
    folder = store_pass(home, "r", "a/2")
    (folder / "standing.json").write_bytes(b"")
    if not collected:
        (folder / "metrics.json").unlink()
    found = {row.label: row.left_out for row in rows()}
    assert found["1"] == ""
    assert "standing.json cannot be read" in found["2"]
    assert not measured_in(folder, "r").result.complete


def test_a_pass_that_was_never_collected_is_there_once_it_has_begun(home: Path) -> None:
    folder = home / "runs" / "r" / "passes" / "a" / "1"
    folder.mkdir(parents=True)
    assert rows() == []
    standing = PassStanding(("swapping",), (), "asr", "ASR", began="2026-01-02T03:04:05Z")
    (folder / "standing.json").write_bytes(msgspec.json.encode(standing))
    (row,) = rows()
    assert (row.runbook, row.complete, row.left_out) == ("asr", False, "not collected; swapping")
    # Side by side with others it is what the list says it is, also when nothing of it was measured.
    (folder / "standing.json").write_bytes(msgspec.json.encode(replace(standing, rehearsal=True)))
    alone = measured_in(folder, "r").result
    assert (alone.rehearsal, alone.left_out) == (True, row.left_out)
    (folder / "standing.json").write_bytes(msgspec.json.encode(PassStanding()))
    os.utime(folder, (1000, 1000))
    assert rows() == []


@pytest.mark.parametrize("written", [True, False])
def test_a_warm_pass_that_nobody_collects_is_never_scored(home: Path, written: bool) -> None:
    run = home / "runs" / "r"
    make_runbook(run)
    for label in ("run0", "run1", "run0-incomplete"):
        folder = run / "passes" / "main" / label
        folder.mkdir(parents=True)
        scored = not label.startswith("run0") if written else None
        standing = PassStanding((), (), "speech", began="2026-01-02T03:04:05Z", scored=scored)
        (folder / "standing.json").write_bytes(msgspec.json.encode(standing))
    found = {row.folder.rpartition("/")[2]: (row.scored, row.left_out) for row in rows()}
    assert found["run0"] == found["run0-incomplete"] == (False, "not scored")
    assert found["run1"] == (True, "not collected")
    (run / "passes" / "main" / "run0" / "metrics.json").write_bytes(b"{")
    assert {row.left_out for row in rows() if row.label == "run0"} == {"not scored"}


def test_a_refresh_reads_only_what_changed(home: Path) -> None:
    folders = [store_pass(home, "r", f"a/{number}") for number in range(5)]
    for folder in folders:
        os.utime(folder, (1000, 1000))
    assert catalog.refresh() == 5
    assert catalog.refresh() == 0
    stand(folders[2], "edited")
    assert catalog.refresh() == 1
    store_pass(home, "r", "a/9")
    catalog.add(home / "runs" / "r" / "passes" / "a" / "9")
    assert "r a/9" in [f"{row.run} {row.series}/{row.label}" for row in catalog.page(Query())[0]]


def test_what_changes_twice_within_one_tick_of_the_clock_is_read_twice(home: Path) -> None:
    folder = store_pass(home, "r", "a/1")
    # A tick that does not end: it is new whenever it is looked at.
    tick = (time.time() + 600,) * 2
    changes: tuple[Callable[[], object], ...] = (catalog.refresh, partial(catalog.add, folder))
    for change in changes:
        stand(folder)
        os.utime(folder, tick)
        change()
        assert [row.left_out for row in rows()] == [""]
        stand(folder, "edited")
        os.utime(folder, tick)
        assert [row.left_out for row in rows()] == ["edited"]


def test_no_pass_is_read_to_find_that_none_was_taken_in_twice(home: Path) -> None:
    store_pass(home, "r", "a/1", sha256="1")
    catalog.refresh()
    asked: list[str] = []
    with Catalog() as index:
        index._db.set_trace_callback(asked.append)
        assert index.twice(Query()) == []
        index._db.set_trace_callback(None)
        plan = [row[3] for row in index._db.execute(f"EXPLAIN QUERY PLAN {asked[0]}")]
    ways = [line for line in plan if "passes" in line]
    assert len(ways) == 2 and all("INDEX by_content" in line for line in ways)


def test_the_metrics_of_a_pass_that_was_collected_again_are_the_new_ones(home: Path) -> None:
    store_pass(home, "r", "a/1", 1.0)
    assert [row.metrics for row in rows()] == [{"rate": 1.0}]
    store_pass(home, "r", "a/1", None)
    store_pass(home, "r", "a/2", 0.5)
    assert [row.metrics for row in rows(sort="rate")] == [{"rate": 0.5}, {}]


@pytest.mark.parametrize("damage", [b"", b"not a database", b"SQLite format 3\x00" + b"\xff" * 4000])
def test_a_damaged_index_is_made_anew(home: Path, damage: bytes) -> None:
    store_pass(home, "r", "a/1")
    assert len(rows()) == 1
    file().write_bytes(damage)
    assert len(rows()) == 1
    file().write_bytes(damage)
    catalog.add(home / "runs" / "r" / "passes" / "a" / "1")
    assert len(rows()) == 1


def test_a_cut_index_is_made_anew(home: Path) -> None:
    for number in range(200):
        store_pass(home, f"r{number:03}", "a/1", float(number))
    assert len(rows(limit=-1)) == 200
    data = file().read_bytes()
    for share in (0.3, 0.6, 0.9):
        file().write_bytes(data[: int(len(data) * share) // 4096 * 4096])
        assert len(rows(limit=-1, sort="rate")) == 200


def test_an_index_of_another_version_is_made_anew(home: Path) -> None:
    import sqlite3  # noqa: PLC0415

    store_pass(home, "r", "a/1")
    db = sqlite3.connect(file())
    db.execute("PRAGMA user_version = 99")
    db.close()
    assert len(rows()) == 1


def test_without_any_run_it_is_empty() -> None:
    assert rows() == []
    assert catalog.select([("runbook", "asr")]) == []


def _write(home: str, run: str) -> None:
    os.environ["OMNITUI_HOME"] = home
    for number in range(30):
        folder = store_pass(Path(home), run, f"a/{number}")
        try:
            catalog.add(folder)
        except CatalogError as error:
            # Nobody waits long for another one.
            if not error.busy:
                raise
        if number % 10 == 0:
            catalog.refresh()


def test_two_writers_do_not_disturb_each_other(home: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(str(home), run)) for run in ("r1", "r2")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert len(rows(limit=-1)) == 60


def test_an_index_that_is_busy_is_told_and_not_waited_for(home: Path) -> None:
    folder = store_pass(home, "r", "a/1")
    catalog.refresh()
    with Catalog() as holder:
        holder._db.execute("BEGIN IMMEDIATE")
        with pytest.raises(CatalogError, match="locked"):
            catalog.add(folder)
        holder._db.execute("ROLLBACK")
    catalog.add(folder)


def test_a_home_that_cannot_be_written_is_read_all_the_same(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store_pass(home, "r", "a/1")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with Catalog() as index:
        assert [row.run for row in index.page(Query())] == ["r"]
    assert not file().exists()


def _without_space(home: str, said: Any) -> None:
    """Another process, because the limit on the size of a file is one of the whole process."""
    os.environ["OMNITUI_HOME"] = home
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    catalog.refresh()
    said.put([row.run for row in catalog.page(Query())[0]])
    said.put([row.run for row in catalog.select([("run", "r")])])


@pytest.mark.parametrize("there", [True, False])
def test_what_no_disk_has_room_for_is_read_all_the_same(home: Path, there: bool) -> None:
    store_pass(home, "r1", "a/1")
    if there:
        catalog.refresh()
    store_pass(home, "r2", "a/1")
    context = multiprocessing.get_context("spawn")
    said = context.SimpleQueue()
    reader = context.Process(target=_without_space, args=(str(home), said))
    reader.start()
    reader.join(60)
    assert reader.exitcode == 0
    assert sorted(said.get()) in (["r1"], ["r1", "r2"])
    assert said.get() == ["r1", "r2"]
