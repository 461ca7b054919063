"""Expressions over lines as they are shown, scans forward and back, filters, and times."""

import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.errors import UsageError
from omnitui.logs import LogFile
from omnitui.logs.filtered import Matches
from omnitui.logs.lines import PIECE_BYTES
from omnitui.logs.patterns import Pattern
from omnitui.logs.reader import Late, Reader
from omnitui.logs.scan import Scanned, scan
from omnitui.logs.scanning import Refused, Request, Scanning
from omnitui.logs.times import offset_of_time
from tests.waiting import until


def opened(path: Path, data: bytes) -> LogFile:
    path.write_bytes(data)
    log = LogFile(path)
    log.refresh()
    return log


def hits(log: LogFile, *patterns: str, start: int = 0, most: int = 10_000, forward: bool = True) -> list[int]:
    found = list(scan(log, [Pattern(text) for text in patterns], start, most, forward=forward))
    assert found[-1].done and not any(one.done for one in found[:-1])
    return sorted(start for one in found for start in one.starts)


@pytest.mark.parametrize(
    ("pattern", "line", "matches"),
    [
        ("error", b"An ERROR", True),
        ("Error", b"An ERROR", False),
        (r"\Serror", b"xERROR", True),
        ("^b$", b"b", True),
        (r"\Ab\Z", b"b", True),
        ("red flag", b"\x1b[31mred\x1b[0m flag", True),
        ("31", b"\x1b[31mred", False),
        ("50%", b" 50%|##\r 99%|####", False),
        ("99%", b" 50%|##\r 99%|####\r", True),
        ("汉.", "汉字".encode(), True),
        (r"b(?!\s)", b"b", True),
        (r"b\s", b"b", False),
        ("straße", "STRAßE".encode(), True),
        ("error|trace", b"no TRACE of it", True),
        ("", b"", True),
    ],
)
def test_a_line_matches_as_it_is_shown(tmp_path: Path, pattern: str, line: bytes, matches: bool) -> None:
    assert Pattern(pattern).matches(line) is matches
    log = opened(tmp_path / "log", b"zz zz\n" + line + b"\nzz zz\n")
    starts = {0, 6, 7 + len(line)} if pattern == "" else {6} if matches else set()
    assert set(hits(log, pattern)) == starts
    assert set(hits(log, pattern, start=log.size, forward=False)) == starts


@pytest.mark.parametrize("text", ["(", "a{99999999999}", "[z-a]", "(?P<x"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no regular expression"):
        Pattern(text)


LINES = st.lists(st.sampled_from([b"", b"a", b"an ERROR", b"\x1b[31merr\x1b[0mor", b"\xff\xfe error", b"x" * 300]))


@given(LINES, st.booleans(), st.integers(1, 4))
def test_both_directions_find_what_line_by_line_finds(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ended: bool, most: int
) -> None:
    data = b"".join(line + b"\n" for line in lines) + (b"" if ended else b"open error")
    log = opened(tmp_path_factory.getbasetemp() / "scan.log", data)
    wanted = [line.start for line in log.lines_after(0, 1000) if Pattern("error").matches(line.raw)]
    ended_ones = wanted if ended else wanted[:-1]
    assert hits(log, "error") == hits(log, "error", start=log.size, forward=False) == ended_ones
    assert hits(log, "error", most=most) == ended_ones[:most]
    assert hits(log, "error", start=log.size, most=most, forward=False) == ended_ones[-most:]
    assert list(scan(log, [Pattern("error")], 0, 1000, forward=True))[-1].unfinished == (
        -1 if ended else wanted[-1]
    )
    log.close()


def test_long_lines_match_piece_by_piece(tmp_path: Path) -> None:
    data = b"first\n" + b"x" * (5 * PIECE_BYTES) + b"needle" + b"y" * (5 * PIECE_BYTES) + b"\nlast needle\n"
    log = opened(tmp_path / "log", data)
    found = hits(log, "needle")
    assert len(found) == 2 and found == hits(log, "needle", start=log.size, forward=False)
    assert b"needle" in log.lines_after(found[0], 1)[0].raw


def test_secrets_are_not_found(tmp_path: Path) -> None:
    log = opened(tmp_path / "log", b"token hunter2 end\n")
    (tmp_path / "leaks.json").write_text("[[6, 7]]")
    assert hits(log, "hunter2") == []
    assert hits(log, r"\*{7} end") == [0]


def test_a_scan_in_a_process_answers_and_can_be_killed(tmp_path: Path) -> None:
    log = opened(tmp_path / "log", b"one\ntwo\n" + b"a" * 60 + b"\n")
    assert log.identity is not None
    told: list[Scanned | Refused] = []

    def took(request: Request, answer: Scanned | Refused) -> None:
        scanning.answered(request)
        told.append(answer)

    scanning = Scanning(took)
    request = Request(str(log.path), log.identity, ("two",), 0, forward=True)
    scanning.ask(request)
    until(lambda: told)
    assert isinstance(told[0], Scanned) and told[0].starts == (4,)
    scanning.ask(Request(str(log.path), log.identity, ("(a+)+b",), 0, forward=True))
    child = scanning._child
    assert child is not None
    scanning.ask(Request(str(log.path), (0, 0), ("x",), 0, forward=True))  # type: ignore[arg-type]
    until(lambda: len(told) > 1)
    assert told[1] == Refused("the file was replaced")
    until(lambda: child.poll() is not None)
    scanning.cancel()


def test_matches_grow_at_both_ends_and_are_forgotten_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omnitui.logs.filtered._MOST_KEPT", 4)
    matches = Matches(100)
    wanted = matches.wanted(None, 3, 0, 200)
    assert wanted is not None and (wanted.start, wanted.forward) == (100, True)
    matches.take(Scanned((), 190, done=True, exhausted=True, size=200, unfinished=190), forward=True)
    wanted = matches.wanted(None, 3, 0, 200)
    assert wanted is not None and (wanted.start, wanted.forward) == (100, False)
    matches.take(Scanned((10, 20, 30), 5, done=True, size=200), forward=False)
    assert matches.wanted(None, 3, 0, 200) is None
    assert matches.window(None, 3, 0) == ((20, 30, 190), 3)
    assert matches.window(20, 1, 2) == ((10, 20, 30), 1)
    matches.take(Scanned((1, 2, 3), 0, done=True, size=200), forward=False)
    assert matches.window(0, 0, 9) == ((1, 2, 3, 10), 0)
    assert matches.stretch == (0, 20)


@pytest.mark.parametrize(
    "stamp",
    ["%Y-%m-%dT%H:%M:%S.000Z x", "INFO %m-%d %H:%M:%S [a.py:1] x", "[%Y-%m-%d %H:%M:%S,123] x", "%H:%M:%S x"],
)
def test_a_time_is_found_between_lines_that_tell_none(tmp_path: Path, stamp: str) -> None:
    begun = 1_772_400_000
    rows, dice = [], random.Random(1)
    for second in range(0, 40_000, 7):
        rows.append(time.strftime(stamp, time.gmtime(begun + second)))
        rows += ["  File x, line 9:30"] * dice.randrange(3)
    log = opened(tmp_path / "log", "\n".join(rows).encode())
    for second in (0, 7, 20_000, 39_998 // 7 * 7):
        asked = time.strftime("%H:%M:%S", time.gmtime(begun + second))
        offset = offset_of_time(log, asked)
        assert isinstance(offset, int)
        wanted = -(-second // 7) * 7
        line = log.lines_after(offset, 1)[0].raw.decode()
        assert line == time.strftime(stamp, time.gmtime(begun + wanted))
    assert isinstance(offset_of_time(log, "-1h"), int)
    assert "is no time" in str(offset_of_time(log, "soon"))


def test_a_log_without_times_says_so(tmp_path: Path) -> None:
    assert "no times" in str(offset_of_time(opened(tmp_path / "log", b"a 1:1 b\n"), "12:00"))


def test_a_hanging_disk_delays_nobody_and_its_answer_comes_late() -> None:
    late: list[Late] = []
    reader = Reader("subject", late.append)
    answer = reader.ask("quick", lambda subject: subject.upper(), 10.0)
    assert answer == Late("quick", "SUBJECT", None)
    hangs = [True]

    def hang(_subject: str) -> str:
        until(lambda: not hangs)
        raise OSError(5, "disk")

    begun = time.monotonic()
    assert reader.ask("slow", hang, 0.01) is None
    assert reader.ask("dropped", str, 10.0) is None
    assert reader.ask("next", str, 10.0) is None
    # Nobody has waited for his ten seconds.
    assert time.monotonic() - begun < 10 and reader.busy_s > 0
    hangs.clear()
    until(lambda: len(late) == 2)
    assert [(one.token, one.value, str(one.error)) for one in late] == [
        ("slow", None, "[Errno 5] disk"),
        ("next", "subject", "None"),
    ]
    closed: list[str] = []
    reader.close(closed.append)
    until(lambda: closed == ["subject"])
