"""What an operator does in a log: searching, filtering, going to places, marking, copying, saving."""

import base64
import threading
from pathlib import Path
from typing import Any

import pytest
from omnitui.logs.pages import Ask, Page, Pages
from omnitui.ui.widgets.log_view import LogView
from tests.screens.test_log_view import append, numbered, rows, shown, until
from textual.events import Key, MouseDown, MouseMove, MouseUp
from textual.widgets import Input

pytestmark = pytest.mark.usefixtures("patient_logs")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    lines = [f"2026-03-02 12:{n // 60:02}:{n % 60:02} INFO request {n}" for n in range(1, 1001)]
    lines[99] = "2026-03-02 12:01:40 \x1b[31mERROR\x1b[0m: out of memory"
    lines[499] = "Traceback (most recent call last):"
    lines[899] = "2026-03-02 12:15:00 ERROR again"
    path.write_text("\n".join(lines) + "\n")
    return path


async def typed(pilot: Any, key: str, text: str) -> None:
    await pilot.press(key)
    await until(lambda: isinstance(pilot.app.focused, Input))
    pilot.app.focused.value = text
    await pilot.press("enter")


def pointed(view: LogView) -> str:
    return next((row[2:] for row in rows(view) if row.startswith("▶")), "")


async def test_a_search_goes_back_from_the_end_then_on_and_back(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await pilot.press("n")
        assert view.following
        await typed(pilot, "slash", "ERROR: |ERROR a")
        await until(lambda: "ERROR again" in pointed(view))
        assert rows(view)[-1].startswith("/ERROR: |ERROR a · ▶ 900 · line ") and "paused" in rows(view)[-1]
        await pilot.press("N")
        await until(lambda: "out of memory" in pointed(view))
        await pilot.press("N")
        await until(lambda: "none before" in rows(view)[-1])
        await pilot.press("n")
        await until(lambda: "ERROR again" in pointed(view))
        await pilot.press("escape")
        assert not pointed(view)


async def test_the_first_error_is_one_key_away_and_the_next_ones_too(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await pilot.press("E")
        await until(lambda: "out of memory" in pointed(view))
        await pilot.press("n")
        await until(lambda: "Traceback" in pointed(view))


async def test_what_is_no_expression_is_told(path: Path) -> None:
    async with shown(path, (120, 11)) as (pilot, view):
        await typed(pilot, "slash", "(")
        await until(lambda: "is no regular expression" in rows(view)[-1])


async def test_an_expression_that_never_ends_stops_no_keys(path: Path) -> None:
    append(path, b"a" * 60 + b"\n")
    async with shown(path) as (pilot, view):
        await typed(pilot, "slash", "(a+)+b")
        await until(lambda: "looking back" in rows(view)[-1])
        await pilot.press("up")
        assert not view.following
        child = view._search._child
        assert child is not None
        await pilot.press("escape")
        await until(lambda: child.poll() is not None)


async def test_a_filter_shows_matching_lines_alone_and_follows(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await typed(pilot, "ampersand", "error|traceback")
        await until(lambda: "out of memory" in rows(view)[0])
        assert [row[:9] for row in rows(view)[1:4]] == ["Traceback", "2026-03-0", ""]
        append(path, b"quiet\nanother error\nopen end error")
        await until(lambda: rows(view)[3:5] == ["another error", "open end error"])
        append(path, b" ended\n")
        await until(lambda: rows(view)[3:6] == ["another error", "open end error ended", ""])
        await typed(pilot, "slash", "Traceback")
        await until(lambda: "Traceback" in pointed(view))
        await pilot.press("escape", "escape")
        await until(lambda: rows(view)[1].endswith("request 101"))


async def test_a_filter_reaches_the_start_of_a_large_log(path: Path) -> None:
    path.write_bytes(numbered(1, 200_000))
    async with shown(path) as (pilot, view):
        await typed(pilot, "ampersand", "7$")
        await until(lambda: rows(view)[9:10] == ["line 199997"])
        await pilot.press("pageup")
        assert rows(view)[9] == "line 199907"
        await pilot.press("home")
        await until(lambda: rows(view)[:2] == ["line 7", "line 17"])
        await until(lambda: "line 97 of" in rows(view)[-1])


@pytest.mark.parametrize(
    ("place", "shown_line"),
    [
        ("500", "Traceback"),
        ("12:10", "request 600"),
        ("-100s", "request 900"),
        ("0%", "request 1"),
        ("1,000", "1000"),
    ],
)
async def test_a_place_is_gone_to(path: Path, place: str, shown_line: str) -> None:
    path.write_text(path.read_text().replace("2026-03-02 12:15:00 ERROR again", "2026-03-02 12:15:00 request 900"))
    async with shown(path) as (pilot, view):
        await typed(pilot, "colon", place)
        await until(lambda: pointed(view).endswith(shown_line) or pointed(view).startswith(shown_line))


@pytest.mark.parametrize("place", ["never", "2000", "23:59"])
async def test_a_place_that_is_not_there_is_told(path: Path, place: str) -> None:
    async with shown(path, (160, 11)) as (pilot, view):
        await typed(pilot, "colon", place)
        await until(lambda: any(word in rows(view)[-1] for word in ("is no time", "is not there", "last time")))
        assert view.following


async def test_marks_are_gone_back_to(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await pilot.press("b")
        assert rows(view)[9].startswith("● ")
        await typed(pilot, "colon", "10")
        await until(lambda: pointed(view).endswith("request 10"))
        await pilot.press("b", "u")
        await until(lambda: pointed(view).endswith("request 1000"))
        await pilot.press("U")
        await until(lambda: pointed(view).endswith("request 10"))
        await pilot.press("b", "U")
        assert "no mark before" in rows(view)[-1]


async def test_numbers_and_wrapping(path: Path) -> None:
    path.write_text("short\n" + "汉字" * 20 + "\nlast\n")
    async with shown(path, (20, 11)) as (pilot, view):
        await pilot.press("number_sign", "w")
        assert rows(view)[:7] == [
            "1 short",
            "2 汉字汉字汉字汉字汉",
            "  字汉字汉字汉字汉字",
            "  汉字汉字汉字汉字汉",
            "  字汉字汉字汉字汉字",
            "  汉字汉字",
            "3 last",
        ]


async def test_a_wrapped_log_scrolls_by_rows(path: Path) -> None:
    path.write_text("".join(f"{n}" * 50 + "\n" for n in range(9)))
    async with shown(path, (20, 5)) as (pilot, view):
        await pilot.press("w")
        assert rows(view)[:4] == ["7" * 10, "8" * 20, "8" * 20, "8" * 10]
        await pilot.press("up")
        assert rows(view)[:2] == ["7" * 20, "7" * 10]
        await pilot.press("pageup", "pageup")
        assert rows(view)[0] == "5" * 20
        await pilot.press("home")
        assert rows(view)[2:4] == ["0" * 10, "1" * 20]
        await pilot.press("down")
        assert rows(view)[0] == "0" * 20
        await pilot.press("end")
        assert view.following and rows(view)[3] == "8" * 10


async def test_what_is_copied_is_clean_and_bounded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"one\n\x1b[31mtwo\x1b[0m\x1b]52;c;ZXZpbA==\x07\nthree\n")
    async with shown(path) as (pilot, view):
        copied: list[str] = []
        monkeypatch.setattr(pilot.app, "copy_to_clipboard", copied.append)
        await pilot.press("Y")
        await until(lambda: copied == ["one\ntwo\nthree\n"])
        await pilot.press("v", "up", "Y")
        await until(lambda: copied[1:] == ["two\nthree\n"])
        path.write_bytes(b"x" * 200_000 + b"\n")
        await until(lambda: rows(view)[0].startswith("…"))
        await pilot.press("g", "v", "up", "Y")
        await until(lambda: len(copied) == 3)
        assert len(base64.b64encode(copied[2].encode())) < 100_000


async def test_lines_are_saved_to_a_new_file_only(path: Path, tmp_path: Path) -> None:
    async with shown(path) as (pilot, view):
        await typed(pilot, "colon", "100")
        await until(lambda: "out of memory" in pointed(view))
        target = tmp_path / "part.txt"
        await typed(pilot, "S", str(target))
        await until(target.exists)
        await until(lambda: target.read_text() == "2026-03-02 12:01:40 ERROR: out of memory\n")
        await typed(pilot, "S", str(target))
        await until(lambda: any("File exists" in note.message for note in pilot.app._notifications))


async def test_the_mouse_chooses_lines(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await pilot._post_mouse_events([MouseDown], LogView, (5, 2), button=1)
        await pilot._post_mouse_events([MouseMove], LogView, (5, 4), button=1)
        await pilot._post_mouse_events([MouseUp], LogView, (5, 4), button=1)
        assert [row[0] for row in rows(view)[1:6]] == [" ", "┃", "┃", "▶", " "]


async def test_escape_leaves_the_prompt_and_changes_nothing(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await pilot.press("slash")
        await until(lambda: isinstance(pilot.app.focused, Input))
        await pilot.press("escape")
        await until(lambda: view.has_focus)
        assert view.following and rows(view)[-1] == "line 1,000 of 1,000 · following"


async def test_what_is_typed_ahead_is_never_the_screens(path: Path) -> None:
    async with shown(path) as (pilot, view):
        for key, char in (("slash", "/"), *((char, char) for char in "ragx")):
            pilot.app.post_message(Key(key, char))
        await until(lambda: isinstance(pilot.app.focused, Input) and pilot.app.focused.value == "ragx")
        assert view.following


@pytest.mark.parametrize("typed", [":1536538", "/:&S", "&12345678901234567890"])
async def test_no_key_of_a_burst_overtakes_another(path: Path, typed: str) -> None:
    names = {"/": "slash", ":": "colon", "&": "ampersand"}
    async with shown(path) as (pilot, _view):
        for _ in range(3):
            for char in typed:
                pilot.app.post_message(Key(names.get(char, char), char))
            await until(
                lambda: isinstance(pilot.app.focused, Input) and len(pilot.app.focused.value) == len(typed) - 1
            )
            assert isinstance(pilot.app.focused, Input) and pilot.app.focused.value == typed[1:]
            await pilot.press("escape")


async def test_a_disk_that_hangs_is_told_and_stops_no_key(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    real = Pages.page

    def hanging(pages: Pages, ask: Ask) -> Page:
        released.wait(60)
        return real(pages, ask)

    async with shown(path) as (pilot, view):
        monkeypatch.setattr(LogView, "patience_s", 0.01)
        monkeypatch.setattr(LogView, "stale_s", 0.1)
        monkeypatch.setattr(Pages, "page", hanging)
        try:
            await pilot.press("up")
            await pilot.press("slash")
            await until(lambda: isinstance(pilot.app.focused, Input))
            await pilot.press("escape")
            await until(lambda: rows(view)[-1].startswith("STALE: the disk has not answered for"))
            assert rows(view)[-2].endswith("request 1000")
        finally:
            released.set()
        await until(lambda: rows(view)[-2].endswith("request 999") and "paused" in rows(view)[-1])
