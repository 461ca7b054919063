"""The one sanitiser between text from outside (logs, JSON, file names) and a widget or a terminal.

Colours (SGR, ECMA-48 section 8.3.117) stay or go as the caller asks; every other control sequence goes.
Control strings end where xterm ends them: at BEL, ST, CAN or SUB, at an ESC that begins the next sequence, or
with the line.
"""

import re
import unicodedata
from codecs import utf_8_decode

# A colour needs few parameters; int() refuses a number of 5,000 digits.
SGR = re.compile(r"\x1b\[([0-9;:]{0,64})m")
"""One colour sequence as `clean_line` lets it through; group 1 holds its parameters."""

_TAB_CELLS = 8
_NULS = re.compile("\x00+")
# Colours stay by not matching: a replacement function would cost a call for each.
_GOES = re.compile(
    r"(?!\x1b\[[0-9;:]{0,64}m)(?:"
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x18\x1a\x1b\x9c]*(?:[\x07\x18\x1a\x9c]|\x1b\\)?"  # OSC, DCS, ...
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    r"|\x1b[ -/]*[0-~]?"  # any other escape
    r"|[\x01-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ud800-\udfff]"
    r")"
)


def clean_line(raw: str) -> str:
    """Return one line with its colours and nothing else that a terminal would obey.

    Tabs become spaces up to the next multiple of eight cells, a run of NUL becomes a marker such as `␀×4096`, line
    and paragraph separators become spaces, bidi controls and lone surrogates go. Idempotent.
    """
    # Printable text holds no control, format or surrogate character at all.
    if raw.isprintable():
        return raw
    text = _GOES.sub("", raw).replace("\u2028", " ").replace("\u2029", " ")
    return _expand_tabs(_NULS.sub(_nul_marker, text))


def plain(raw: str) -> str:
    """Return what `clean_line` returns, without the colours: no character of it is a control."""
    # As above, and most of what is drawn comes here twice.
    return raw if raw.isprintable() else SGR.sub("", clean_line(raw))


def visible_line(raw: bytes, *, open_end: bool = False) -> str:
    r"""Decode and clean one line as a terminal would have left it.

    Of a line that was rewritten by `\r`, such as a progress bar, the last segment that shows anything is
    returned; the `\r` of a CRLF end does not count. `raw` is UTF-8 without its `\n`; bytes that are not UTF-8
    become U+FFFD. With `open_end` more is to come, and the beginning of a character at the end is left out.
    """
    if b"\r" not in raw:
        return clean_line(utf_8_decode(raw, "replace", not open_end)[0])
    for segment in reversed(raw.split(b"\r")):
        if segment and not segment.isspace():
            text = clean_line(utf_8_decode(segment, "replace", not open_end)[0])
            if SGR.sub("", text).strip():
                return text
    return ""


def _nul_marker(nuls: re.Match[str]) -> str:
    count = len(nuls[0])
    return f"␀×{count}" if count > 1 else "␀"


def _expand_tabs(text: str) -> str:
    if "\t" not in text:
        return text
    if text.isascii() and "\x1b" not in text:
        return text.expandtabs(_TAB_CELLS)
    *filled, last = text.split("\t")
    padded = (part + " " * (_TAB_CELLS - _cells(SGR.sub("", part)) % _TAB_CELLS) for part in filled)
    return "".join(padded) + last


def _cells(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_char_cells(char) for char in text)


def _char_cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
