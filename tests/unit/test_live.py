from pathlib import Path

import pytest
from omnitui import live
from omnitui.gates import Green, Moot, Red, Unknown, Verdict
from omnitui.live import Board, Kind, kind_of
from omnitui.store import RunFolder


def shown(run: RunFolder) -> dict[tuple[str, str], tuple[Kind, str, bool]]:
    return {(one.about, one.word): (one.kind, one.reason, one.ends) for one in live.read(run)}


@pytest.mark.parametrize(
    ("verdict", "kind"), [(Green("a"), "green"), (Red("a"), "red"), (Unknown("a"), "unknown"), (Moot("a"), "moot")]
)
def test_a_verdict_has_a_name(verdict: Verdict, kind: Kind) -> None:
    assert kind_of(verdict) == kind


def test_a_verdict_that_changes_is_written_at_once_and_a_figure_in_time(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    board = Board(run)
    assert board.show("s", "GPU_FREE", Unknown("61 GiB"))
    assert not board.show("s", "GPU_FREE", Unknown("60 GiB"))
    assert shown(run) == {("s", "GPU_FREE"): ("unknown", "61 GiB", False)}
    board.flush(force=True)
    assert shown(run) == {("s", "GPU_FREE"): ("unknown", "60 GiB", False)}
    assert board.show("s", "GPU_FREE", Green("0 GiB"))
    assert shown(run) == {("s", "GPU_FREE"): ("green", "0 GiB", False)}


def test_gates_end_and_are_forgotten_with_their_step(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    board = Board(run)
    for about, word in (("one", "A"), ("one", "B"), ("two", "A")):
        board.show(about, word, Green("x"))
    board.end("one")
    board.flush(force=True)
    assert {key: ends for key, (_, _, ends) in shown(run).items()} == {
        **{("one", "A"): True, ("one", "B"): True},
        ("two", "A"): False,
    }
    board.forget("one")
    board.flush(force=True)
    assert shown(run).keys() == {("two", "A")}


def test_a_board_that_cannot_be_written_or_read_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    Board(RunFolder(tmp_path / "file")).show("s", "A", Green("x"))
    run = RunFolder(tmp_path)
    assert live.read(run) == ()
    for data in (b"", b"[", b"{}", b"[1]", b"\xff"):
        run.live.write_bytes(data)
        assert live.read(run) == ()
