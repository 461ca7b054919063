import unicodedata
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.sanitise import plain
from omnitui.ui.widgets.flow import Chip, Flow
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.rows import Cell, Row, RowLine, wrapped
from omnitui.ui.widgets.table import Table
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot

Until = Callable[[Callable[[], bool]], Awaitable[None]]
EVIL = "\x1b]52;c;ZXZpbA==\x07\x1b[2J[/red] [/ \u202e\x9b2J\0\nend"


class Rows(App[None]):
    CSS = """
    RowLine, Flow { height: 1; }
    RowList, Table { color: white; background: black; }
    Table { height: 4; }
    .tone--muted { color: $text-success; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield RowLine()
        yield Flow()
        yield RowList()

    def on_cursor_rows_chosen(self, message: RowList.Chosen) -> None:
        self.chosen.append(message.key)

    def on_flow_clicked(self, message: Flow.Clicked) -> None:
        self.chosen.append(message.key)


@asynccontextmanager
async def shown(rows: list[Row]) -> AsyncIterator[tuple[Pilot[None], RowList]]:
    async with Rows().run_test(size=(40, 12)) as pilot:
        found = pilot.app.query_one(RowList)
        found.show_rows(rows)
        await pilot.pause()
        yield pilot, found


def named(*keys: str) -> list[Row]:
    return [Row(key, (Cell(key or "a heading"),)) for key in keys]


async def test_what_comes_from_outside_is_neither_obeyed_nor_read_as_markup() -> None:
    async with shown([Row("evil", (Cell(EVIL),), (Cell(EVIL, "muted"),))]) as (pilot, rows):
        pilot.app.query_one(RowLine).show(Row("", (Cell(EVIL),)))
        pilot.app.query_one(Flow).show([Chip((Cell(EVIL),), "k")])
        await pilot.pause()
        lines = [
            widget.render_line(0).text
            for widget in (rows, pilot.app.query_one(RowLine), pilot.app.query_one(Flow))
        ]
        assert not any(unicodedata.category(char) in ("Cc", "Cf") for char in "".join(lines))
        assert all("[/red] [/" in line for line in lines[1:])


async def test_the_cursor_stays_on_its_row_when_others_come(until: Until) -> None:
    async with shown(named("a", "b", "c")) as (pilot, rows):
        await pilot.press("tab", "down", "down")
        assert rows.key == "c"
        rows.show_rows(named("new", "a", "b", "c"))
        assert (rows.key, rows.cursor) == ("c", 3)
        rows.show_rows(named("a"))
        assert rows.key == "a"


async def test_rows_that_the_cursor_comes_to_and_leaves_are_drawn_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shown(named("a", "b", "c")) as (_, rows):
        drawn: list[Region] = []
        monkeypatch.setattr(rows, "refresh", lambda *regions: drawn.extend(regions))
        rows.show_rows(named("b", "a", "c"))
        assert {Region(0, 0, 40, 1), Region(0, 1, 40, 1)} <= set(drawn)
        assert all(region.y < 2 for region in drawn)


async def test_the_cursor_passes_over_rows_that_cannot_be_chosen() -> None:
    async with shown(named("a", "", "b")) as (pilot, rows):
        await pilot.press("tab", "down", "enter", "end", "home", "up")
        assert rows.key == "a"
        assert pilot.app.query_one(RowList).app.chosen == ["b"]  # type: ignore[attr-defined]


async def test_the_cursor_is_brought_into_view(until: Until) -> None:
    async with shown(named(*map(str, range(100)))) as (pilot, rows):
        await pilot.press("tab", "end")
        await until(lambda: rows.scroll_offset.y == 90)
        assert rows.render_line(rows.size.height - 1).text.startswith("99")


@pytest.mark.parametrize("key", ["up", "home", "pageup"])
async def test_a_key_goes_back_to_the_cursor_that_the_wheel_left_behind(key: str, until: Until) -> None:
    async with shown(named(*map(str, range(100)))) as (pilot, rows):
        await pilot.press("tab")
        await until(lambda: rows.max_scroll_y > 50)
        rows.scroll_to(y=50, animate=False, immediate=True)
        await pilot.press(key)
        assert rows.scroll_offset.y == 0


async def test_the_mouse_moves_the_cursor_and_then_chooses() -> None:
    async with shown(named("a", "b")) as (pilot, rows):
        await pilot.click(RowList, offset=(2, 1))
        assert rows.key == "b"
        await pilot.click(RowList, offset=(2, 1))
        pilot.app.query_one(Flow).show([Chip((Cell("one"),), "1"), Chip((Cell("two"),), "2")])
        await pilot.click(Flow, offset=(6, 0))
        assert pilot.app.chosen == ["b", "2"]  # type: ignore[attr-defined]


async def test_a_long_title_takes_the_room_of_a_piece_that_yields() -> None:
    long = Row("a", (Cell("a title of thirty-two characters"),), (Cell("WORD_OF_A_GATE", yields=True), Cell("1s")))
    async with shown([long]) as (_, rows):
        assert rows.render_line(0).text.endswith("WORD_OF…1s")
        assert rows.render_line(0).cell_length == 40


def test_a_row_that_does_not_fit_goes_on_below_the_piece_that_does_not() -> None:
    row = Row("", (Cell("reason", "muted", 10), Cell("the ranges lie apart, but 今天天气很好今天天气")))
    lines = ["".join(cell.text for cell in line.left).rstrip() for line in wrapped(row, 24)]
    assert lines == [
        "reason    the ranges lie",
        "          apart, but",
        "          今天天气很好今",
        "          天天气",
    ]
    assert list(wrapped(row, 80)) == [row]


@given(st.lists(st.tuples(st.text(max_size=30), st.integers(0, 20)), max_size=4), st.integers(4, 40))
def test_no_word_of_a_row_is_lost_and_no_line_is_too_long(pieces: list[tuple[str, int]], width: int) -> None:
    row = Row("", tuple(Cell(text, width=wide) for text, wide in pieces))
    lines = ["".join(plain(cell.text) for cell in line.left) for line in wrapped(row, width)]
    assert "".join("".join(lines).split()) == "".join("".join(plain(text) for text, _ in pieces).split())
    if len(lines) > 1:
        assert all(cell_len(line) <= width for line in lines)


async def test_chips_that_do_not_fit_are_counted() -> None:
    async with shown([]) as (pilot, _):
        flow = pilot.app.query_one(Flow)
        flow.show([Chip((Cell(f"chip number {n}"),)) for n in range(9)])
        await pilot.pause()
        assert flow.has_class("-two")
        assert [flow.render_line(y).text.rstrip() for y in (0, 1)] == [
            "chip number 0  chip number 1",
            "chip number 2  chip number 3  +5",
        ]


async def test_a_row_that_was_drawn_has_the_colours_of_another_theme() -> None:
    def colours() -> list[str]:
        drawn = [rows.render_lines(Region(0, 1, rows.size.width, 1))[0] for rows in (listed, table)]
        muted = [style for line in drawn for text, style, _ in line if text == "muted"]
        return [style.color.name for style in muted if style and style.color]

    rows = [*named("a"), Row("b", (Cell("muted", "muted"),), (Cell("right"),))]
    async with shown(rows) as (pilot, listed):
        table = Table()
        await pilot.app.mount(table)
        table.show(1, lambda _: rows[1], Row("", ()))
        pilot.app.theme = "textual-dark"
        await pilot.pause()
        dark = colours()
        assert len(dark) == 2
        pilot.app.theme = "textual-light"
        await pilot.pause()
        assert not {*colours()} & {*dark}
        pilot.app.theme = "textual-dark"
        await pilot.pause()
        assert colours() == dark
