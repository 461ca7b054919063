"""Hostile logs, through the app and a real pseudo-terminal: what is shown, and which bytes reach the terminal."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyte
import pytest
from tests.waiting import until

LOG_APP = """
import sys
from pathlib import Path
from textual.app import App
from omnitui.ui.widgets import log_view
class Log(App):
    CSS_PATH = Path(log_view.__file__).with_suffix(".tcss")
    def compose(self):
        yield log_view.LogView(Path(sys.argv[1]))
Log().run()
"""
COLUMNS, LINES = 60, 12
# Colours, cursor moves, the mouse pointer, and how Textual sets up a terminal: nothing else may be sent.
HARMLESS = re.compile(
    rb"\x1b\[[0-9;:]*m|\x1b\[\d+;\d+H|\x1b\[\?(?:1049|25|100[0-6]|1015|1016|2004|2026|2048|7|1)(?:[hl]|\$p)"
    rb"|\x1b\]22;\w+\x07|\x1b\[[>=<]?\d*u|\x1b\[\?u|\x1b\[H|\x1b\[\?1004[hl]|\x1b\[\?1000[hl]"
)


class Screen:
    """The app on one log, and the terminal that it draws to."""

    def __init__(self, log: Path) -> None:
        self.fd, tty = pty.openpty()
        fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.sent = b""
        self._screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self._screen)
        self.process = subprocess.Popen(
            [sys.executable, "-c", LOG_APP, str(log)],
            stdin=tty,
            stdout=tty,
            stderr=tty,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color"},
        )
        os.close(tty)

    def rows(self) -> list[str]:
        """What is on the screen now, without the last row."""
        while select.select([self.fd], [], [], 0.02)[0]:
            data = os.read(self.fd, 65536)
            self.sent += data
            # What asks the terminal for its abilities is no text; pyte would show it.
            self._stream.feed(re.sub(rb"\x1b\[[?>=<][0-9;]*(?:u|\$p)", b"", data))
        return [row.rstrip() for row in self._screen.display]

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self.fd, keys)

    def close(self) -> None:
        """End the app."""
        self.process.kill()
        self.process.wait()
        os.close(self.fd)


@contextmanager
def shown(log: Path) -> Iterator[Screen]:
    screen = Screen(log)
    try:
        yield screen
    finally:
        screen.close()


def only_harmless(screen: Screen, *wanted: bytes) -> None:
    """Nothing else was sent than what is harmless, and once what is wanted."""

    def harmless() -> bool:
        # What is on its way may be cut within a sequence or a character.
        screen.rows()
        left = screen.sent
        for one in wanted:
            left = left.replace(one, b"", 1)
        text = HARMLESS.sub(b"", left).decode(errors="surrogateescape")
        return all(char.isprintable() or char in "\r\n" for char in text)

    until(harmless, about="only what is harmless was sent")


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"\x1b]52;c;ZXZpbA==\x07copied\n", "copied"),
        (b"\x1b]0;title\x1b\\\x1b]9;note\x07\x1b[2J\x1b[Hcleared\n", "cleared"),
        (b"\xc2\x9b2J\xc2\x9d52;c;eA==\xc2\x9cc1 as text\n", "c1 as text"),
        (b"\x90\x9b\x9d52;c;eA==\x07raw\n", "���52;c;eA==raw"),
        (b"\x1b[31mred\x1b[0m\x1b[5m still\x1b[8m seen\n", "red still seen"),
        (b"\x1bP+q544e\x1b\\\x1bc\x1b[?1049l\x1b(0box\x0e\n", "box"),
        (b"hole\0\0\0\0filled\n", "hole␀×4filled"),
        (b" 10%|#\r 50%|##\r 99%|####\r\n", " 99%|####"),
        (b"[/] [bold]no markup[/]\n", "[/] [bold]no markup[/]"),
        ("汉字和emoji🙂 shown\n".encode(), "汉字和emoji🙂 shown"),
        ("a\u202eb\u2066c\u200fd\n".encode(), "abcd"),
        (b"x" * 10_000_000 + b"\nafter a line of 10 MB\n", "after a line of 10 MB"),
    ],
    ids=["osc52", "osc", "c1", "raw-c1", "colour", "dcs", "nul", "bar", "markup", "chinese", "bidi", "10mb"],
)
def test_hostile_lines_are_shown_right_and_harm_nothing(tmp_path: Path, data: bytes, wanted: str) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"first\n" + data)
    with shown(log) as screen:
        # pyte keeps an empty cell behind each wide character.
        until(lambda: any(wanted in row for row in screen.rows()), about=wanted)
        screen.press(b"w")
        until(lambda: any(wanted in row for row in screen.rows()), about=f"{wanted}, wrapped")
        screen.press(b"g")
        until(lambda: screen.rows()[0] == "first", about="the first line")
        only_harmless(screen)


def test_a_log_that_is_cut_replaced_and_written_byte_by_byte(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"old\n" * 100)
    with shown(log) as screen:
        until(lambda: screen.rows()[0] == "old")
        log.write_bytes(b"cut\n")
        until(lambda: screen.rows()[:2] == ["cut", ""], about="the truncated log")
        log.rename(tmp_path / "server.log.1")
        log.write_bytes(b"fresh\n")
        until(lambda: screen.rows()[0] == "fresh", about="the new file")
        character = "进".encode()
        # Not for appending: who writes on at his old place after a truncation leaves a hole.
        with log.open("r+b", buffering=0) as file:
            file.seek(0, os.SEEK_END)
            file.write(character[:2])
            until(lambda: "line 2 of 2" in screen.rows()[-1])
            assert screen.rows()[1] == ""
            file.write(character[2:] + b"\n")
            until(lambda: "进" in screen.rows()[1], about="the whole character")
            file.truncate(0)
            file.write(b"behind a hole\n")
        until(lambda: "behind a hole" in screen.rows()[0] and "␀×" in screen.rows()[0], about="the hole")
        only_harmless(screen)


def test_what_is_copied_reaches_the_terminal_as_base64_alone(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"one\x1b]52;c;ZXZpbA==\x07\ntwo\n")
    with shown(log) as screen:
        until(lambda: screen.rows()[1] == "two")
        screen.press(b"Y")
        until(lambda: b"\x1b]52;c;b25lCnR3bwo=\x07" in (screen.rows() and screen.sent), about="the clipboard")
        only_harmless(screen, b"\x1b]52;c;b25lCnR3bwo=\x07")
