"""Segments of a cleaned line: its colours over a widget's own style, and no markup."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from omnitui.sanitise import SGR

# Blinking (5, 6) and hidden text (8) are left out: a log neither moves nor hides.
_ATTRIBUTES = {
    1: Style(bold=True),
    2: Style(dim=True),
    3: Style(italic=True),
    4: Style(underline=True),
    7: Style(reverse=True),
    9: Style(strike=True),
    21: Style(underline2=True),
    22: Style(bold=False, dim=False),
    23: Style(italic=False),
    24: Style(underline=False, underline2=False),
    27: Style(reverse=False),
    29: Style(strike=False),
    53: Style(overline=True),
    55: Style(overline=False),
}
_LONGEST = 512
_FIRST_COLOUR = {30: 0, 40: 0, 90: 8, 100: 8}


def segments(text: str, base: Style) -> Iterator[Segment]:
    """Yield `text`, which `clean_line` has cleaned, in the colours that it asks for on top of `base`.

    No segment is longer than 512 characters, so that whoever needs the beginning only can stop there.
    """
    style, position = base, 0
    for colour in SGR.finditer(text):
        yield from _short_segments(text, position, colour.start(), style)
        style, position = _styled(style, base, colour[1]), colour.end()
    yield from _short_segments(text, position, len(text), style)


def _short_segments(text: str, start: int, end: int, style: Style) -> Iterator[Segment]:
    for position in range(start, end, _LONGEST):
        yield Segment(text[position : min(position + _LONGEST, end)], style)


@lru_cache(1024)
def _styled(style: Style, base: Style, parameters: str) -> Style:
    """Apply SGR parameters (ECMA-48 8.3.117; colours of ITU-T T.416 with `;` or `:`) to `style`."""
    items = iter(parameters.split(";"))
    for item in items:
        code, *details = [_number(part) for part in item.split(":")]
        if code == 0:
            style = base
        elif code in (38, 48):
            colour = _colour(details or _next_details(items))
            style += Style(color=colour) if code == 38 else Style(bgcolor=colour)
        elif code == 4 and details == [0]:
            style += _ATTRIBUTES[24]
        else:
            style += _simple(code, base)
    return style


def _next_details(items: Iterator[str]) -> list[int]:
    kind = _number(next(items, ""))
    return [kind, *(_number(item) for item in islice(items, {5: 1, 2: 3}.get(kind, 0)))]


def _simple(code: int, base: Style) -> Style:
    if code == 39:
        return Style(color=base.color)
    if code == 49:
        return Style(bgcolor=base.bgcolor)
    ten, number = code // 10 * 10, code % 10
    if ten in _FIRST_COLOUR and number < 8:
        colour = Color.from_ansi(_FIRST_COLOUR[ten] + number)
        return Style(color=colour) if ten in (30, 90) else Style(bgcolor=colour)
    return _ATTRIBUTES.get(code, Style.null())


def _colour(details: Sequence[int]) -> Color | None:
    match details:
        case [5, number]:
            return Color.from_ansi(number)
        case [2, red, green, blue] | [2, _, red, green, blue]:
            return Color.from_rgb(red, green, blue)
        case _:
            return None


def _number(text: str) -> int:
    return min(255, int(text or 0))
