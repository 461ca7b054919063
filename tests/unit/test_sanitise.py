import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from omnitui.sanitise import SGR, clean_line, plain, visible_line

FORBIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u206f\ud800-\udfff]"
)
SCRAPS = st.sampled_from(
    rb"\x1b \x1b[ \x1b] \x1bP \x1b\\ \x07 \x9b \x9c \x9d [ ] 31m m ; : ? \x1b[0m \x1b[38;2;1;2;3m \x1b[2J 52;c;"
    rb" \t \0 \r \n \u202e \ud800 \u4f60 a".decode("unicode_escape").split(" ")
)
HOSTILE = st.lists(st.one_of(SCRAPS, st.text(max_size=3)), max_size=30).map("".join)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("plain 你好 ✔", "plain 你好 ✔"),
        ("a\x1b[1;31mred\x1b[0m b", "a\x1b[1;31mred\x1b[0m b"),
        ("a\x1b[38:2::1:2:3mb", "a\x1b[38:2::1:2:3mb"),
        ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
        ("a\x1b]0;title\x1b\\b", "ab"),
        ("a\x9d0;title\x9cb", "ab"),
        ("a\x1b]52;c;never ended", "a"),
        ("a\x1b]0;title\x1b[31mb", "a\x1b[31mb"),
        ("a\x1bPq#0\x1b\\b", "ab"),
        ("a\x1b_apc\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", "abcd"),
        ("a\x1b[2J\x1b[H\x1b[?1049h\x1b[>4;1m\x1b[6nb", "ab"),
        ("a\x9b2Jb\x9b31mc", "abc"),
        ("a\x1bc\x1b7\x1b(B\x1b#8b", "ab"),
        ("a\x08\x0b\x0c\x7f\x85b", "ab"),
        ("\x1b\x1b[2J[31mx", "[31mx"),
        ("a\u202etxt.exe\u2066b\u200f", "atxt.exeb"),
        ("a\udc80b", "ab"),
        ("a\u2028b", "a b"),
        ("a\x00b" + "\0" * 4096, "a␀b␀×4096"),
        ("\x1b[" + "1" * 5000 + "mx", "x"),
        ("ends in escape \x1b", "ends in escape "),
    ],
)
def test_only_colours_stay(raw: str, expected: str) -> None:
    assert clean_line(raw) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("\tx", "        x"),
        ("ab\tx", "ab      x"),
        ("12345678\tx", "12345678        x"),
        ("你好\tx", "你好    x"),
        ("e\u0301\tx", "e\u0301       x"),
        ("\x1b[31ma\x1b[0m\tx\ty", "\x1b[31ma\x1b[0m       x       y"),
    ],
)
def test_tabs_end_at_multiples_of_eight_cells(raw: str, expected: str) -> None:
    assert clean_line(raw) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"plain", "plain"),
        (b"windows\r", "windows"),
        (b"\r 10%|#   |\r 50%|##  |\r100%|####|", "100%|####|"),
        (b" 99%\r100%\r\r", "100%"),
        (b" 50%|##  |\r          \r", " 50%|##  |"),
        (b"pulled layer\r\x1b[2K\r\x1b[K", "pulled layer"),
        (b"\r\r\r", ""),
        (b"", ""),
        ("进度 9%\r进度 10%".encode(), "进度 10%"),
        (b"caf\xe9 \xff", "caf� �"),
        (b"\xc2\x9b2Jx", "x"),
    ],
)
def test_a_line_shows_what_a_terminal_would_have_left(raw: bytes, expected: str) -> None:
    assert visible_line(raw) == expected


def test_a_character_that_is_still_being_written_is_left_out() -> None:
    begun = "进度".encode()[:-1]
    assert visible_line(begun) == "进�"
    assert visible_line(begun, open_end=True) == visible_line(b"1%\r" + begun, open_end=True) == "进"


@given(st.one_of(HOSTILE, st.text()))
@example("\x1b[\x1b[31m1m")
@example("\x1b]\x1b]0;\x07")
def test_no_control_character_survives_outside_a_colour(raw: str) -> None:
    cleaned = clean_line(raw)
    assert not FORBIDDEN.search(SGR.sub("", cleaned))
    cleaned.encode()


@given(st.one_of(HOSTILE, st.text()))
def test_cleaning_twice_changes_nothing_more(raw: str) -> None:
    cleaned = clean_line(raw)
    assert clean_line(cleaned) == cleaned


@given(st.one_of(HOSTILE, st.text()))
def test_plain_is_the_cleaned_line_without_colours(raw: str) -> None:
    assert "\x1b" not in plain(raw)
    assert plain(raw) == plain(clean_line(raw)) == plain(plain(raw))


@given(st.binary(max_size=200))
def test_any_bytes_become_a_clean_line(raw: bytes) -> None:
    text = visible_line(raw)
    assert clean_line(text) == text
