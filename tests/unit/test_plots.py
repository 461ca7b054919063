from hypothesis import given
from hypothesis import strategies as st
from omnitui.ui.plots import BLOCKS, columns, plot
from omnitui.ui.widgets.rows import Cell


def text(line: tuple[Cell, ...]) -> str:
    return "".join(cell.text for cell in line)


def test_columns_stand_at_fixed_times() -> None:
    points = [(float(at), float(at)) for at in range(100, 120)]
    assert columns(points, 4, 5.0, 119.0) == [104, 109, 114, 119]
    # One more sample changes the last column alone, until the next span begins.
    assert columns(points[:-1], 4, 5.0, 118.0) == [104, 109, 114, 118]
    assert columns([*points, (120.0, 7.0)], 4, 5.0, 120.0) == [109, 114, 119, 7]


def test_what_was_not_told_is_none_and_zero_is_zero() -> None:
    assert columns([(0.0, None), (5.0, 0.0), (15.0, 4.0)], 4, 5.0, 19.0) == [None, 0, None, 4]
    assert columns([(0.0, 2.0), (1.0, 4.0)], 1, 5.0, 4.0, mean=True) == [3]
    (line,) = plot([None, 0.0, 50.0, 100.0, 1000.0], 100.0)
    assert text(line) == " ▁▄██"


def test_the_limit_is_a_line_where_it_is_free_and_what_is_below_it_is_green() -> None:
    top, middle, low = plot([0.5, 90.0, None], 90.0, 3, limit=1.0)
    assert [text(line) for line in (top, middle, low)] == [" █ ", " █ ", "╌█╌"]
    assert [cell.tone for cell in low] == ["green", "", "muted"]


@given(
    st.lists(st.none() | st.floats(0, 1e6), max_size=40),
    st.floats(0, 1e6),
    st.integers(1, 12),
    st.floats(0, 1e6),
)
def test_a_plot_is_as_large_as_it_should_be(
    values: list[float | None], top: float, height: int, limit: float
) -> None:
    lines = plot(values, top, height, limit)
    assert len(lines) == height
    assert all(len(text(line)) == len(values) for line in lines)
    assert {character for line in lines for character in text(line)} <= set(BLOCKS) | {"╌"}
