import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.logs import MARK_BYTES, PIECE_BYTES, Change, LineCount, LogFile, LogLine, count_lines
from omnitui.sanitise import visible_line


def opened(path: Path, data: bytes | None = None) -> LogFile:
    if data is not None:
        path.write_bytes(data)
    log = LogFile(path)
    log.refresh()
    return log


def raws(lines: tuple[LogLine, ...]) -> list[bytes]:
    return [line.raw for line in lines]


def counted(log: LogFile, since: LineCount | None = None) -> LineCount:
    assert log.identity is not None
    return count_lines(log.path, log.identity, since or LineCount(), log.size)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "server.log"


def test_lines_before_and_after_an_offset(path: Path) -> None:
    log = opened(path, b"one\ntwo\n\nfour\n")
    assert raws(log.tail(2)) == [b"", b"four"]
    assert raws(log.tail(99)) == [b"one", b"two", b"", b"four"]
    assert raws(log.lines_after(4, 2)) == [b"two", b""]
    assert raws(log.lines_before(8, 1)) == [b"two"]
    assert log.lines_before(0, 5) == log.lines_after(log.size, 5) == log.tail(0) == log.lines_after(0, 0) == ()
    assert [log.start_of(offset) for offset in (0, 3, 4, 8, 13)] == [0, 0, 4, 8, 9]


def test_a_last_line_without_newline_is_shown(path: Path) -> None:
    log = opened(path, b"one\ntw")
    assert raws(log.tail(5)) == [b"one", b"tw"]
    assert not log.tail(1)[0].cut


def test_an_empty_file_has_no_lines(path: Path) -> None:
    log = opened(path, b"")
    assert log.tail(5) == log.lines_after(0, 5) == ()
    assert counted(log).lines == log.start_of(0) == 0


def test_a_missing_file_is_empty_and_may_appear(path: Path) -> None:
    log = opened(path)
    assert (log.size, log.identity, log.tail(5)) == (0, None, ())
    path.write_bytes(b"here\n")
    assert log.refresh() is Change.APPEARED
    assert raws(log.tail(5)) == [b"here"]


def test_growth_is_seen_once(path: Path) -> None:
    log = opened(path, b"one\ntw")
    with path.open("ab") as file:
        file.write(b"o\nthree\n")
    assert log.refresh() is Change.GREW
    assert log.refresh() is Change.UNCHANGED
    assert raws(log.tail(2)) == [b"two", b"three"]


def test_truncation_is_seen(path: Path) -> None:
    log = opened(path, b"old\n" * 100)
    path.write_bytes(b"new\n")
    assert log.refresh() is Change.TRUNCATED
    assert raws(log.tail(5)) == [b"new"]


def test_a_truncation_that_was_outgrown_is_seen(path: Path) -> None:
    log = opened(path, b"old\n" * 100)
    path.write_bytes(b"new\n" * 101)
    assert log.refresh() is Change.TRUNCATED


def test_a_writer_that_goes_on_after_truncation_leaves_a_hole(path: Path) -> None:
    log = opened(path, b"x" * 999 + b"\n")
    with path.open("r+b") as file:
        file.truncate(0)
        file.seek(1000)
        file.write(b"on it goes\n")
    assert log.refresh() is Change.TRUNCATED
    assert visible_line(log.tail(1)[0].raw) == "␀×1000on it goes"


def test_rotation_is_seen_and_the_old_file_is_read_on_until_then(path: Path) -> None:
    log = opened(path, b"old\n")
    moved = path.rename(path.with_suffix(".1"))
    with moved.open("ab") as file:
        file.write(b"late\n")
    assert log.refresh() is Change.GREW
    assert raws(log.tail(5)) == [b"old", b"late"]
    path.write_bytes(b"fresh\n")
    assert log.refresh() is Change.ROTATED
    assert raws(log.tail(5)) == [b"fresh"]


def test_what_is_no_regular_file_is_refused_at_once(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        LogFile(path).refresh()


def test_a_long_line_comes_in_pieces_that_add_up(path: Path) -> None:
    data = b"before\n" + b"x" * 10_000_000 + b"\nafter\n"
    log = opened(path, data)
    assert raws(log.tail(1)) == [b"after"]
    pieces = log.lines_before(log.size, 3)[:2]
    assert [(len(piece.raw) < 2 * PIECE_BYTES, piece.continued) for piece in pieces] == [(True, True)] * 2
    assert [piece.cut for piece in pieces] == [True, False]
    first, second = log.lines_after(0, 2)
    assert (first.raw, second.continued, second.cut) == (b"before", False, True)
    assert b"".join(raws(log.tail(1000))) == data.replace(b"\n", b"")


def test_a_look_at_a_huge_line_reads_little(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with path.open("wb") as file:
        file.write(b"start")
        file.truncate(1 << 40)
    log = opened(path)
    taken: list[int] = []
    real = os.pread

    def pread(fd: int, length: int, offset: int) -> bytes:
        taken.append(length)
        return real(fd, length, offset)

    monkeypatch.setattr(os, "pread", pread)
    assert len(log.tail(40)) == len(log.lines_after(0, 40)) == len(log.lines_before(1 << 39, 40)) == 40
    assert sum(taken) < 10_000_000


def test_progress_bars_show_their_last_state(path: Path) -> None:
    bars = b"".join(b"\r%3d%%|####" % (i % 101) for i in range(20_000))
    log = opened(path, bars + b"\r 99%|###\n")
    assert visible_line(log.tail(1)[0].raw) == " 99%|###"


@pytest.mark.parametrize("shift", range(4))
def test_no_character_is_split_where_a_line_is_cut(path: Path, shift: int) -> None:
    text = "a" * shift + "汉" * 60_000
    log = opened(path, text.encode())
    shown = "".join(line.raw.decode() for line in log.tail(1000))
    assert shown == "".join(line.raw.decode() for line in log.lines_after(0, 1000)) == text


def test_only_newline_ends_a_line(path: Path) -> None:
    text = "a\x85b\u2028c\x0bd\r"
    assert raws(opened(path, text.encode() + b"\n").tail(5)) == [text.encode()]


LINES = st.lists(
    st.one_of(st.binary(max_size=40), st.integers(0, 3 * PIECE_BYTES).map(lambda n: b"\xe6" * n)), max_size=12
)


@given(LINES, st.booleans(), st.integers(1, 6))
def test_backwards_and_forwards_agree(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ended: bool, step: int
) -> None:
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    log = opened(tmp_path_factory.getbasetemp() / "property.log", data)
    whole = log.lines_after(0, 10_000)
    assert log.tail(10_000) == whole
    assert b"".join(line.raw + (b"" if line.cut else b"\n") for line in whole).rstrip(b"\n") == data.rstrip(b"\n")
    for index, line in enumerate(whole):
        assert log.lines_before(line.end, step) == whole[max(0, index + 1 - step) : index + 1]
        assert log.lines_after(line.start, step) == whole[index : index + step]
        assert log.start_of(line.start) == log.start_of(line.end - 1) == line.start
    log.close()


def test_the_count_is_exact_and_goes_on(path: Path) -> None:
    data = b"".join(b"line %d\n" % i for i in range(400_000))
    log = opened(path, data)
    count = counted(log)
    assert count.lines == count.newlines == data.count(b"\n")
    with path.open("ab") as file:
        file.write(data + b"open end")
    log.refresh()
    more = counted(log, count)
    assert more == counted(log)
    assert (more.newlines, more.lines) == (800_000, 800_001)


def test_line_numbers_and_offsets_answer_each_other(path: Path) -> None:
    data = b"".join(b"x" * (i % 90) + b"\n" for i in range(60_000)) + b"last"
    log = opened(path, data)
    count = counted(log)
    assert count.counted_bytes > 2 * MARK_BYTES
    for number in (1, 2, 777, 23_302, 23_303, 30_000, 59_999, 60_000, 60_001):
        offset = log.offset_of_line(count, number)
        assert offset is not None
        assert data[:offset].count(b"\n") == number - 1 == (log.line_number(count, offset) or 0) - 1
        assert data[offset - 1 : offset] in (b"", b"\n")
    assert log.offset_of_line(count, 0) is log.offset_of_line(count, 60_002) is None
    assert log.line_number(LineCount(), 0) is None


def test_counting_stops_when_told(path: Path) -> None:
    log = opened(path, b"\n" * (3 * MARK_BYTES))
    assert log.identity is not None
    answers = iter([False] * 4 + [True])
    part = count_lines(path, log.identity, LineCount(), log.size, lambda: next(answers))
    assert part.newlines == part.counted_bytes == MARK_BYTES
    assert counted(log, part) == counted(log)


def test_another_file_of_the_same_name_is_not_counted_on(path: Path) -> None:
    log = opened(path, b"one\n")
    count = counted(log)
    path.rename(path.with_suffix(".1"))
    assert counted(log, count) is count
    path.write_bytes(b"a\nb\nc\n")
    assert counted(log, count) is count
