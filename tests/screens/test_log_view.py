import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import omnitui.ui.widgets.log_view as module
import pytest
from omnitui.logs import PIECE_BYTES
from omnitui.sanitise import SGR
from omnitui.ui.widgets.log_view import LogView
from textual.app import App, ComposeResult
from textual.events import MouseScrollDown, MouseScrollUp
from textual.geometry import Region
from textual.pilot import Pilot

pytestmark = pytest.mark.usefixtures("patient_logs")
EVIL = (
    b"\x1b]52;c;ZXZpbA==\x07copy\n"
    b"\x1b[2J\x1b[Hclear\n"
    b"\x1b]0;title\x1b\\title\n"
    b"\xc2\x9b2J\xc2\x9d52;c;eA==\xc2\x9cc1\n"
    b"\x90\x9b raw c1\n"
    b"[/red] [bold]markup[/] [@click=app.bell]x[/]\n"
    b"\x1b[31mred\x1b[0m \x1b[5mblink\x1b[8mhidden\n"
    b"\xe2\x80\xaebidi\x08\x0b\x0c\x7f\n"
    b"\x1bP+q544e\x1b\\dcs\x1bc\n"
    b"hole\0\0\0\0\n"
    b" 10%|#\r 99%|####\r\n"
    b"\x1b]52;c;never ended\n"
)


class LogApp(App[None]):
    CSS_PATH = Path(module.__file__).with_suffix(".tcss")

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        self.path = path
        self.follow_changes: list[bool] = []

    def compose(self) -> ComposeResult:
        yield LogView(self.path)

    def on_log_reading_follow_changed(self, message: LogView.FollowChanged) -> None:
        self.follow_changes.append(message.following)


@asynccontextmanager
async def shown(path: Path | None, size: tuple[int, int] = (60, 11)) -> AsyncIterator[tuple[Pilot[None], LogView]]:
    async with LogApp(path).run_test(size=size) as pilot:
        yield pilot, pilot.app.query_one(LogView)


def rows(view: LogView) -> list[str]:
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


async def until(fact: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not fact():
            await asyncio.sleep(0.01)


def numbered(first: int, last: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(first, last + 1))


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_bytes(numbered(1, 1000))
    return path


async def test_opens_at_the_end_and_says_where_it_is(path: Path) -> None:
    async with shown(path) as (_, view):
        assert rows(view) == [*(f"line {n}" for n in range(991, 1001)), "line 1,000 of 1,000 · following"]


async def test_a_path_may_be_set_before_the_pane_is_mounted(path: Path) -> None:
    async with shown(None) as (pilot, view):
        later = LogView()
        later.path = path
        await view.remove()
        await pilot.app.screen.mount(later)
        await until(lambda: later.size.height > 0)
        assert rows(later)[-2] == "line 1000"


async def test_follows_what_is_appended(path: Path) -> None:
    async with shown(path) as (_, view):
        append(path, b"line 1001\nline 10")
        await until(lambda: rows(view)[-3:] == ["line 1001", "line 10", "line 1,002 of 1,002 · following"])
        append(path, b"02\n")
        await until(lambda: rows(view)[-2] == "line 1002")


async def test_a_character_written_in_two_parts_is_never_shown_broken(path: Path) -> None:
    first, second = "进度".encode()[:4], "进度".encode()[4:]
    async with shown(path) as (_, view):
        append(path, first)
        await until(lambda: rows(view)[-2] == "进")
        append(path, second)
        await until(lambda: rows(view)[-2] == "进度")


async def test_scrolling_up_pauses_and_the_end_follows_again(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await pilot.press("up")
        assert rows(view)[-2:] == ["line 999", "line 999 of 1,000 · paused"]
        append(path, b"line 1001\n")
        await until(lambda: rows(view)[-1] == "line 999 of 1,001 · paused")
        for key in ("end", "G", "f"):
            await pilot.press("pageup", key)
            assert (rows(view)[-2], view.following) == ("line 1001", True)
        assert isinstance(pilot.app, LogApp)
        assert pilot.app.follow_changes == [False, True] * 3


async def test_keys_and_wheel_move(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await pilot.press("home")
        assert (rows(view)[0], rows(view)[-1]) == ("line 1", "line 10 of 1,000 · paused")
        await pilot.press("up", "down", "down")
        assert rows(view)[0] == "line 3"
        await pilot.press("pagedown")
        assert rows(view)[0] == "line 12"
        await pilot.press("pageup")
        assert rows(view)[0] == "line 3"
        await pilot._post_mouse_events([MouseScrollDown], LogView, (5, 5))
        assert rows(view)[0] == "line 6"
        await pilot._post_mouse_events([MouseScrollUp], LogView, (5, 5))
        assert rows(view)[0] == "line 3"


async def test_going_down_past_the_end_follows(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await pilot.press("up", "up", "pagedown")
        assert (rows(view)[-2], view.following) == ("line 1000", False)
        await pilot.press("down")
        assert view.following


async def test_a_log_that_fits_is_not_paused(path: Path) -> None:
    path.write_bytes(numbered(1, 3))
    async with shown(path) as (pilot, view):
        await pilot.press("up", "home", "pageup")
        assert rows(view) == ["line 1", "line 2", "line 3", *[""] * 7, "line 3 of 3 · following"]


async def test_long_lines_shift_sideways(path: Path) -> None:
    path.write_bytes("".join(f"{i:<8}" for i in range(20)).encode() + "\n你好世界\n".encode())
    async with shown(path, (40, 6)) as (pilot, view):
        assert rows(view)[0] == "0       1       2       3       4      …"
        await pilot.press("right")
        assert rows(view)[0].startswith("1       2")
        assert rows(view)[-1].endswith("from column 9")
        await pilot.press(*["right"] * 16)
        assert rows(view)[0] == "15      16      17      18      19"
        await pilot.press(*["left"] * 16)
        assert rows(view)[1] == "你好世界"


async def test_a_line_of_ten_megabytes_comes_in_pieces(path: Path) -> None:
    path.write_bytes(b"first\n" + b"x" * 10_000_000 + b"\nlast\n")
    async with shown(path) as (pilot, view):
        assert rows(view)[-3:-1] == ["…" + "x" * 58 + "…", "last"]
        await pilot.press("home")
        assert rows(view)[:3] == ["first", "x" * 59 + "…", "…" + "x" * 58 + "…"]
        await until(lambda: rows(view)[-1] == "line 2 of 3 · paused")


async def test_truncation_and_rotation_start_over_at_the_end(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await pilot.press("home")
        path.write_bytes(b"cut\n")
        await until(lambda: rows(view)[0] == "cut")
        assert rows(view)[-1] == "line 1 of 1 · following"
        moved = path.rename(path.with_suffix(".1"))
        # Until there is another file of that name, the old one is read on, and counted.
        with moved.open("ab") as file:
            file.write(b"late\n")
        await until(lambda: rows(view)[-1] == "line 2 of 2 · following")
        path.write_bytes(b"a\nb\n")
        await until(lambda: rows(view)[:2] == ["a", "b"])


async def test_a_missing_file_is_waited_for_and_another_path_opens(path: Path) -> None:
    missing = path.with_name("\x1b]0;x\x07later.log")
    async with shown(missing) as (_, view):
        assert rows(view)[-1] == "waiting for later.log"
        missing.write_bytes(b"here\n")
        await until(lambda: rows(view)[0] == "here")
        view.path = path
        assert rows(view)[0] == "line 991"
        view.path = path.parent
        assert rows(view)[-1].endswith("not a regular file")
        view.path = None
        assert rows(view) == [""] * 11


async def test_a_hidden_pane_does_not_look_and_catches_up(path: Path) -> None:
    async with shown(path) as (pilot, view):
        view.display = False
        await pilot.pause()
        append(path, b"meanwhile\n")
        view._tick()
        assert view._page is not None
        assert view._page.size == path.stat().st_size - len(b"meanwhile\n")
        view.display = True
        await until(lambda: "meanwhile" in rows(view))


async def test_a_resting_log_is_not_drawn_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown(path) as (pilot, view):
        await pilot.pause()
        drawn: list[Region] = []
        monkeypatch.setattr(view, "refresh", lambda *regions: drawn.extend(regions))
        view._tick()
        assert not drawn
        await pilot.press("home")
        drawn.clear()
        append(path, b"more\n")
        view._tick()
        assert [(region.y, region.height) for region in drawn] == [(10, 1)]


async def test_the_pane_grows_and_shrinks(path: Path) -> None:
    async with shown(path) as (pilot, view):
        await pilot.press("up")
        await pilot.resize_terminal(60, 21)
        await until(lambda: len(rows(view)) == 21)
        assert rows(view)[-2] == "line 1000"
        await pilot.resize_terminal(60, 6)
        await until(lambda: len(rows(view)) == 6)
        assert rows(view)[0] == "line 981"


async def test_lines_of_a_large_file_are_counted_in_a_worker(path: Path) -> None:
    path.write_bytes(numbered(1, 300_000))
    async with shown(path) as (_, view):
        assert rows(view)[-1] == "counting lines · following"
        await until(lambda: rows(view)[-1] == "line 300,000 of 300,000 · following")


@pytest.mark.parametrize("before", [0, PIECE_BYTES - 3])
async def test_nothing_but_colour_reaches_the_terminal(path: Path, before: int) -> None:
    path.write_bytes(b"".join(b"x" * before + line + b"\n" for line in EVIL.split(b"\n")))
    async with shown(path, (40, 30)) as (pilot, view):
        view._shift_cells = max(0, before - 8)
        strips = [view.render_line(y) for y in range(view.size.height)]
        assert all(segment.control is None for strip in strips for segment in strip)
        assert all(char.isprintable() for strip in strips for char in strip.text)
        sent = "".join(strip.render(pilot.app.console) for strip in strips)
        assert "\x1b" not in SGR.sub("", sent)
        assert not any(segment.style and segment.style.blink for strip in strips for segment in strip)


async def test_hostile_lines_show_their_text(path: Path) -> None:
    path.write_bytes(EVIL)
    async with shown(path, (60, 14)) as (_, view):
        assert rows(view)[:-2] == [
            "copy",
            "clear",
            "title",
            "c1",
            "�� raw c1",
            "[/red] [bold]markup[/] [@click=app.bell]x[/]",
            "red blinkhidden",
            "bidi",
            "dcs",
            "hole␀×4",
            " 99%|####",
            "",
        ]


@pytest.mark.parametrize(
    ("line", "red", "green", "blue"),
    [
        (b"\x1b[38;2;1;2;3mx", 1, 2, 3),
        (b"\x1b[38:2::1:2:3mx", 1, 2, 3),
        (b"\x1b[38:2:1:2:3mx", 1, 2, 3),
        (b"\x1b[1;38;5;16;4mx", 0, 0, 0),
        (b"\x1b[38:5:231mx", 255, 255, 255),
    ],
)
async def test_colours_are_kept(path: Path, line: bytes, red: int, green: int, blue: int) -> None:
    path.write_bytes(line + b"\x1b[39mplain\x1b[99;38;7m\n")
    async with shown(path) as (_, view):
        first, second, *_ = view.render_line(0)
        assert first.style is not None
        assert first.style.color is not None
        assert tuple(first.style.color.get_truecolor()) == (red, green, blue)
        assert second.style is not None
        assert second.style.color == view.rich_style.color
