"""What a job has printed: words and patterns found while it is written, however fast that is.

Lines end at newlines and at carriage returns. Where a secret stands in the raw log, its bytes are remembered, so
that whoever shows the log can blank them without knowing the secret.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from omnitui.logs import blanked, leaks_of
from omnitui.readings import OutputReading
from omnitui.runbook.gates import Output
from omnitui.sanitise import plain

_CHUNK = 1 << 20
_BITE = 16 << 20
_LONGEST_LINE = 1 << 16
_LONGEST_SHOWN = 4096


@dataclass
class Scanner:
    """Reads a log from where it stopped last. A log that became shorter is read from its beginning."""

    path: Path
    words: tuple[str, ...]
    patterns: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    offset: int = 0
    found: set[str] = field(default_factory=set)
    captures: dict[str, tuple[str, ...]] = field(default_factory=dict)
    matched: dict[str, str] = field(default_factory=dict)
    leaks: list[tuple[int, int]] = field(default_factory=list)
    """Byte ranges (offset, length) of secrets in the log."""
    _rest: bytes = b""
    """The beginning of a line that has not ended yet."""
    _before: bytes = b""
    """The last bytes that were searched for secrets: one may go on in the next piece."""

    def __post_init__(self) -> None:
        self._compiled = [(text, re.compile(text)) for text in self.patterns]
        self._needles = [word.encode() for word in self.words]
        self._secrets = [secret.encode() for secret in dict.fromkeys(self.secrets) if secret]

    def read(self) -> bool:
        """Take in what was written since the last call; True when there was anything."""
        try:
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            if os.fstat(fd).st_size < self.offset:
                self.offset, self._rest, self._before = 0, b"", b""
                self.leaks.clear()
            begun = self.offset
            # A flood must not keep the caller here for ever.
            while self.offset - begun < _BITE and (data := os.pread(fd, _CHUNK, self.offset)):
                self._take(data)
            return self.offset != begun
        finally:
            os.close(fd)

    def reading(self, exit_status: int | None = None, *, ended: bool = False) -> OutputReading:
        """What is known so far; with `ended`, a last line without its newline counts too."""
        if ended and self._rest:
            self._lines(self._rest)
            self._rest = b""
        lost = ended and exit_status is None
        return OutputReading(
            words=frozenset(self.found),
            captures=dict(self.captures),
            matched=dict(self.matched),
            exit=exit_status,
            lost=lost,
        )

    def _take(self, data: bytes) -> None:
        self._find_secrets(data)
        self.offset += len(data)
        whole = self._rest + data
        cut = max(whole.rfind(b"\n"), whole.rfind(b"\r"))
        self._rest = whole[cut + 1 :][:_LONGEST_LINE]
        if cut >= 0:
            self._lines(whole[:cut])

    def _lines(self, data: bytes) -> None:
        # Most output holds none of the words: one search for each keeps a flood of lines cheap.
        if not self._compiled and not any(needle in data for needle in self._needles):
            return
        for raw in data.replace(b"\r", b"\n").split(b"\n"):
            self._line(raw)

    def _line(self, raw: bytes) -> None:
        line = plain(raw[:_LONGEST_LINE].decode(errors="replace"))
        bare = line.strip()
        if bare in self.words:
            self.found.add(bare)
        for text, compiled in self._compiled:
            if match := compiled.search(line):
                self.captures[text] = tuple(group or "" for group in match.groups())
                self.matched[text] = match[0].strip()[:_LONGEST_SHOWN]

    def _find_secrets(self, data: bytes) -> None:
        if not self._secrets:
            return
        known = len(self._before)
        text = self._before + data
        for needle in self._secrets:
            # What ends in the bytes that were searched before is known already.
            at = text.find(needle, max(0, known - len(needle) + 1))
            while at >= 0:
                self.leaks.append((self.offset - known + at, len(needle)))
                at = text.find(needle, at + 1)
        self._before = text[max(0, len(text) - max(map(len, self._secrets)) + 1) :]


def tail(path: Path, lines: int = 20) -> list[str]:
    """The last lines of a log, clean and without colours."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        size = os.fstat(fd).st_size
        data = os.pread(fd, _LONGEST_LINE, max(0, size - _LONGEST_LINE))
    finally:
        os.close(fd)
    data = blanked(data, max(0, size - _LONGEST_LINE), leaks_of(path))
    found = [plain(line.rpartition("\r")[2] or line) for line in data.decode(errors="replace").split("\n")]
    return [line for line in found if line.strip()][-lines:]


def words_of(gates: Iterable[object]) -> tuple[str, ...]:
    """Every word that the output gates among these wait for or refuse."""
    outputs = [gate for gate in gates if isinstance(gate, Output)]
    return tuple(word for gate in outputs for word in (gate.word, *gate.refuse) if word)
