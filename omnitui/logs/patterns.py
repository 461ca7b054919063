"""Regular expressions over lines as they are shown: without colours, and with what a bar was rewritten to last."""

import re
from collections.abc import Iterator, Sequence

from omnitui.errors import UsageError
from omnitui.sanitise import SGR, visible_line

_PRINTABLE = bytes([*range(0x20, 0x7F), 0x0A])
_ESCAPES = re.compile(r"\\.", re.DOTALL)
# What a whole block may deny although a line on its own would match.
_WORDS = re.compile(r"[\w ,;:'\"/@#%&=<>~`-]+(\|[\w ,;:'\"/@#%&=<>~`-]+)*", re.ASCII)
_LINE_BY_LINE = re.compile(r"\\[AZB]|\(\?<?!|\(\?\(|\(\?[aiLmsux]*[Lmsx]")


class Pattern:
    """One regular expression. Without a capital letter in it, capitals and small letters are the same."""

    def __init__(self, text: str) -> None:
        """Raises `UsageError` where `text` is no regular expression."""
        self.text = text
        self._small = not any(char.isupper() for char in _ESCAPES.sub("", text))
        try:
            self._of_line = re.compile(text, re.IGNORECASE if self._small else 0)
            # A block in small letters is searched five times faster than one in any.
            self._of_block = re.compile(text, re.MULTILINE)
        except (re.error, OverflowError, RecursionError) as error:
            raise UsageError(f"{text!r} is no regular expression: {error}") from error
        # Looking for words one after the other is ten times faster than looking for any of them.
        self._words = tuple(text.split("|")) if _WORDS.fullmatch(text) else ()
        self._whole_blocks = not _LINE_BY_LINE.search(text)

    def matches(self, raw: bytes, *, open_end: bool = False) -> bool:
        """Whether a line matches, as it is shown."""
        return self._of_line.search(shown(raw, open_end=open_end)) is not None

    def lines_in(self, data: bytes) -> Iterator[tuple[int, int]]:
        r"""Yield where each line of `data` that matches begins and ends; `data` is whole lines with their `\n`."""
        text = _text_of(data) if self._whole_blocks else None
        if text is None:
            yield from self._line_by_line(data)
            return
        block = text.lower() if self._small else text
        if len(block) != len(text):
            yield from self._line_by_line(data)
            return
        if self._words and not any(word in block for word in self._words):
            return
        at, counted, offset = 0, 0, 0
        while at < len(text) and (match := self._of_block.search(block, at)):
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.start())
            if end < 0:
                return
            if self._of_line.search(text[start:end]):
                offset += start - counted if text.isascii() else len(text[counted:start].encode())
                counted = start
                yield offset, offset + len(text[start : end + 1].encode())
            at = end + 1

    def _line_by_line(self, data: bytes) -> Iterator[tuple[int, int]]:
        start = 0
        while (end := data.find(b"\n", start) + 1) > 0:
            if self.matches(data[start : end - 1]):
                yield start, end
            start = end


def shown(raw: bytes, *, open_end: bool = False) -> str:
    """Return the text of a line that is seen, without its colours."""
    return SGR.sub("", visible_line(raw, open_end=open_end))


def all_match(patterns: Sequence[Pattern], raw: bytes, *, open_end: bool = False) -> bool:
    """Whether a line matches every one of them."""
    return all(pattern.matches(raw, open_end=open_end) for pattern in patterns)


def _text_of(data: bytes) -> str | None:
    """Return the text of `data` if it is shown as it is: UTF-8 without controls. None otherwise."""
    if not data.translate(None, _PRINTABLE):
        return data.decode("ascii")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if text.replace("\n", "").isprintable() else None
