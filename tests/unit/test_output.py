import itertools
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omnitui.jobs.output import Scanner, tail, words_of
from omnitui.readings import OutputReading
from omnitui.runbook.gates import Output, PortFree

WORDS = ("READY", "GPU_FREE", "coverage complete: True", "完成")
RATE = r"rate (\S+) of (\S+)"


class Log:
    """A log that is written piece by piece and read after each."""

    def __init__(self, path: Path, patterns: tuple[str, ...] = (), secrets: tuple[str, ...] = ()) -> None:
        self.path = path
        path.write_bytes(b"")
        self.scanner = Scanner(path, WORDS, patterns, secrets)

    def add(self, *pieces: bytes) -> OutputReading:
        for piece in pieces:
            with self.path.open("ab") as file:
                file.write(piece)
            assert self.scanner.read() == bool(piece)
        return self.scanner.reading()

    def end(self, status: int | None = 0) -> OutputReading:
        return self.scanner.reading(status, ended=True)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "log", (RATE,))


# -- words -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"READY\n", {"READY"}),
        (b"  READY \t\n", {"READY"}),
        (b"READY\r\n", {"READY"}),
        (b"READY\r", {"READY"}),
        (b"bar 50%\rREADY\rbar 60%\n", {"READY"}),
        (b"\x1b[32mREADY\x1b[0m\n", {"READY"}),
        (b"\x1b[1;38;5;10m READY\x1b[0m\x1b[K\n", {"READY"}),
        (b"\x1b]0;title\x07READY\n", {"READY"}),
        (b"READY\nGPU_FREE\n", {"READY", "GPU_FREE"}),
        (b"coverage complete: True\n", {"coverage complete: True"}),
        ("开始\n完成\n".encode(), {"完成"}),
        ("\x1b[32m完成\x1b[0m\n".encode(), {"完成"}),
        (b"NOT READY\nREADY.\nready\nREADY_\n", set()),
        (b"\xff\xfeREADY\n\xc3\nREADY\xff\n", set()),
        (b"echo READY\n+ echo READY\n", set()),
        (b"\0\0READY\n", set()),
        (b"RE\nADY\n", set()),
    ],
)
def test_a_word_is_a_whole_line(log: Log, data: bytes, found: set[str]) -> None:
    assert log.add(data).words == found


def test_a_word_is_found_wherever_the_pieces_are_cut(tmp_path: Path) -> None:
    data = "x\r50%\r\n\x1b[32mREADY\x1b[0m\r\n开始 rate 1 of 2\n完成\nend\n".encode()
    for cut in range(1, len(data)):
        log = Log(tmp_path / "log", (RATE,))
        reading = log.add(data[:cut], data[cut:])
        assert reading.words == {"READY", "完成"}
        assert reading.captures == {RATE: ("1", "2")}


def test_a_word_is_found_byte_by_byte(log: Log) -> None:
    reading = log.add(*(bytes([byte]) for byte in "rate 你 of 好\n完成\n".encode()))
    assert reading.words == {"完成"}
    assert reading.captures == {RATE: ("你", "好")}


def test_a_last_line_counts_only_once_the_job_has_ended(log: Log) -> None:
    assert log.add(b"GPU_FREE\nREA", b"DY").words == {"GPU_FREE"}
    assert log.end().words == {"GPU_FREE", "READY"}


def test_a_last_line_that_goes_on_is_another_word(log: Log) -> None:
    assert log.add(b"READY").words == set()
    assert log.add(b"_NOT\n").words == set()
    assert log.end().words == set()


def test_words_stay_found(log: Log) -> None:
    log.add(b"READY\n")
    assert log.add(b"FAILED\n" * 100).words == {"READY"}


_lines = st.sampled_from(
    [
        b"READY",
        b"GPU_FREE",
        b" READY ",
        b"\x1b[31mREADY\x1b[0m",
        b"noise",
        b"",
        b"50%",
        "完成".encode(),
        b"rate 3 of 4",
    ]
)
_logs = st.lists(st.tuples(_lines, st.sampled_from([b"\n", b"\r", b"\r\n", b""])), max_size=12)


@given(_logs, st.lists(st.integers(0, 120), max_size=5))
@settings(max_examples=80)
def test_how_a_log_is_cut_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, parts: list[tuple[bytes, bytes]], cuts: list[int]
) -> None:
    data = b"".join(itertools.chain.from_iterable(parts))
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    path = tmp_path_factory.mktemp("log") / "log"
    pieces = [data[begin:end] for begin, end in itertools.pairwise(edges)]
    split, whole = Log(path, (RATE,)), Log(path.with_name("whole"), (RATE,))
    split.add(*pieces)
    whole.add(data)
    assert split.end() == whole.end()
    plain = [re.sub(rb"\x1b\[[0-9]*m", b"", line).strip() for line in re.split(rb"[\r\n]", data)]
    assert whole.end().words == {word for word in WORDS if word.encode() in plain}


# -- patterns --------------------------------------------------------------------------------------------------


def test_the_last_matching_line_is_captured(log: Log) -> None:
    reading = log.add(b"rate 1 of 2\nrate 3 of 4 and more\nrate 5\n")
    assert reading.captures == {RATE: ("3", "4")}


def test_colours_in_a_line_do_not_hide_its_pattern(log: Log) -> None:
    assert log.add(b"\x1b[1mrate \x1b[32m1\x1b[0m of 2\n").captures == {RATE: ("1", "2")}


def test_a_progress_bar_is_many_lines(log: Log) -> None:
    assert log.add(b"\rrate 1 of 9\rrate 9 of 9\r\n").captures == {RATE: ("9", "9")}


def test_groups_that_took_no_part_are_empty(tmp_path: Path) -> None:
    optional, none = r"(a)?(b)", "no groups"
    log = Log(tmp_path / "log", (optional, none))
    assert log.add(b"b\nno groups\n").captures == {optional: ("", "b"), none: ()}


# -- files that change -----------------------------------------------------------------------------------------


def test_a_log_that_is_not_there_yet(tmp_path: Path) -> None:
    scanner = Scanner(tmp_path / "log", WORDS)
    assert not scanner.read()
    assert scanner.reading() == OutputReading()
    assert scanner.reading(ended=True).lost
    assert scanner.reading(0, ended=True) == OutputReading(exit=0)


def test_a_truncated_log_is_read_from_its_beginning(log: Log) -> None:
    log.add(b"noise and more noise\nhalf a li")
    os.truncate(log.path, 0)
    assert log.add(b"READY\n").words == {"READY"}
    assert log.scanner.offset == 6


def test_a_hole_left_by_a_truncation_hides_no_later_word(log: Log) -> None:
    log.add(b"noise\n")
    with log.path.open("r+b") as file:
        file.truncate(0)
        file.seek(100)
        file.write(b"\nREADY\n")
    log.scanner.read()
    assert log.end().words == {"READY"}


# -- very much of it -------------------------------------------------------------------------------------------


def test_a_word_in_a_flood_is_found(log: Log) -> None:
    noise = b"INFO 127.0.0.1 GET /v1/audio/speech 200 OK in 12 ms\n" * 200_000
    log.scanner.patterns = ()
    reading = Log(log.path).add(noise + b"READY\n" + noise)
    assert reading.words == {"READY"}


def test_a_line_without_end_needs_little_memory_and_hides_no_later_word(tmp_path: Path) -> None:
    log = Log(tmp_path / "log")
    log.add(b"x" * 3_000_000, b"y" * 100_000)
    assert len(log.scanner._rest) <= 1 << 16
    assert log.add(b"READY\nGPU_FREE\n").words == {"GPU_FREE"}


@pytest.mark.parametrize("cut", [1, 1 << 16, (1 << 16) + 1, 90_000])
def test_a_long_line_is_the_same_line_however_it_is_cut(tmp_path: Path, cut: int) -> None:
    data = b"rate 1 of 2" + b"." * 90_000 + b" rate 3 of 4\n"
    log = Log(tmp_path / "log", ("^(.*?)\\.", "(3) of"))
    # Only a line's first 64 KiB are looked at.
    assert log.add(data[:cut], data[cut:]).captures == {"^(.*?)\\.": ("rate 1 of 2",)}


def test_a_thousand_secrets_are_told_one_by_one(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", secrets=("tok3n",))
    log.add(b"a tok3n here\n" * 50_000)
    assert log.scanner.leaks == [(13 * line + 2, 5) for line in range(50_000)]


# -- secrets ---------------------------------------------------------------------------------------------------


def leaked(log: Log) -> list[bytes]:
    data = log.path.read_bytes()
    return [data[offset : offset + length] for offset, length in log.scanner.leaks]


def test_a_secret_is_found_wherever_the_pieces_are_cut(tmp_path: Path) -> None:
    data = "line\nHF_TOKEN=hf_秘密 and hf_秘密\rhf_秘密".encode()
    expected = [match.span() for match in re.finditer("hf_秘密".encode(), data)]
    for cut in range(1, len(data)):
        log = Log(tmp_path / "log", secrets=("hf_秘密", "other"))
        log.add(data[:cut], data[cut:])
        assert [(offset, offset + length) for offset, length in log.scanner.leaks] == expected


def test_a_secret_of_several_lines_is_found(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", secrets=("BEGIN\nkey\nEND",))
    log.add(b"x BEGIN\nke", b"y\nEND y\n")
    assert leaked(log) == [b"BEGIN\nkey\nEND"]


def test_short_and_equal_and_empty_secrets(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", secrets=("ab", "abcdef", "ab", ""))
    log.add(b"ab ", b"abc", b"def ab\n")
    assert sorted(log.scanner.leaks) == [(0, 2), (3, 2), (3, 6), (10, 2)]


@given(st.lists(st.sampled_from([b"a", b"ab", b"aba", b"\n", b"x"]), max_size=12), st.data())
@settings(max_examples=80)
def test_every_place_of_every_secret_is_known_once(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], draw: st.DataObject
) -> None:
    secrets = draw.draw(st.lists(st.sampled_from(["a", "ab", "aba", "bab", "a\na"]), max_size=3))
    log = Log(tmp_path_factory.mktemp("log") / "log", secrets=tuple(secrets))
    log.add(*pieces)
    data = b"".join(pieces).decode()
    expected = {(at, len(one)) for one in secrets for at in range(len(data)) if data.startswith(one, at)}
    assert sorted(log.scanner.leaks) == sorted(expected)


def test_a_truncated_log_leaks_only_what_it_holds_now(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", secrets=("tok3n",))
    log.add(b"some tok3n\ntok3")
    os.truncate(log.path, 0)
    log.add(b"n tok3n\n")
    assert log.scanner.leaks == [(2, 5)]


# -- the end of a log ------------------------------------------------------------------------------------------


def test_the_last_lines_are_clean_and_not_empty(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"one\n\n\x1b[31mtwo\x1b[0m\x1b]52;c;x\x07\n  \n10%\r20%\r\nfour\r\n" + "五".encode())
    assert tail(file, 2) == ["four", "五"]
    assert tail(file)[:2] == ["one", "two"]
    assert tail(tmp_path / "missing") == []
    file.write_bytes(b"x" * 200_000 + b"\nlast\n")
    assert tail(file, 1) == ["last"]


def test_the_words_of_a_step_are_those_of_its_output_gates() -> None:
    gates = [Output(word="A", refuse=("B", "C")), PortFree(port="1", word="D"), Output(pattern="x")]
    assert words_of(gates) == ("A", "B", "C")
