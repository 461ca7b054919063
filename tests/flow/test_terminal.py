"""The app in a real pseudo-terminal: a run started with keys goes on when the terminal is cut."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pyte
import pytest
from omnitui import store
from omnitui.store import RunFolder
from tests.books import make_book
from tests.flow.desk import Desk
from tests.waiting import until

COLUMNS, LINES = 120, 40
RED = """
schema = 1
title = "Ice"
summary = "A step that a remedy helps."
[[phases]]
id = "only"
title = "Only"
[[phases.steps]]
id = "ice"
title = "Look at the ice"
run = 'test -e "$RUN_DIR/cracked"'
remedies = [{ say = "Break the ice.", run = 'touch "$RUN_DIR/cracked"; echo cracked by "${HAND:-hand}"' }]
"""

RUNBOOK = """
schema = 1
title = "Cut me off"
summary = "A step that waits to be let go, and one after it."

[[phases]]
id = "all"
title = "All"

[[phases.steps]]
id = "wait"
title = "Wait to be let go"
run = '''
echo begun > "$RUN_DIR/begun"
until [ -e "$RUN_DIR/go" ]; do sleep 0.05; done
echo RUN_READY
'''
gates = [{ gate = "output", word = "RUN_READY" }]

[[phases.steps]]
id = "end"
title = "End"
run = 'echo RUN_COMPLETE'
gates = [{ gate = "output", word = "RUN_COMPLETE" }]
"""
MODES = {b"?1049": b"l", b"?25": b"h", b"?1000": b"l", b"?1003": b"l", b"?1006": b"l", b"?2004": b"l"}
"""How a terminal is left: main screen, cursor shown, no mouse, no bracketed paste."""


class Terminal:
    """`omnitui ARGUMENTS` with a controlling terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        self.screen, self.tty = pty.openpty()
        fcntl.ioctl(self.tty, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.before = termios.tcgetattr(self.tty)
        self.drawn = b""
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *arguments],
            stdin=self.tty,
            stdout=self.tty,
            stderr=self.tty,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color"},
        )

    def read(self) -> None:
        """Take in what is there."""
        while select.select([self.screen], [], [], 0.02)[0]:
            try:
                data = os.read(self.screen, 65536)
            except OSError:
                return
            if not data:
                return
            self.drawn += data

    def shows(self, text: str) -> bool:
        """Whether a text was drawn at any time."""
        self.read()
        return text.encode() in self.drawn

    def press(self, keys: bytes) -> None:
        """Type."""
        os.write(self.screen, keys)

    def now(self) -> str:
        """What is on the screen now, however it was drawn."""
        self.read()
        screen = pyte.Screen(COLUMNS, LINES)
        pyte.ByteStream(screen).feed(re.sub(rb"\x1b\[[?>=<][0-9;]*(?:u|\$p)", b"", self.drawn))
        return "\n".join(screen.display)

    def answers(self, keys: bytes, text: str) -> bool:
        """Whether a key leads to a text within a second. One that comes while the run is held does nothing."""
        self.press(keys)
        with suppress(AssertionError):
            return until(lambda: text in self.now(), timeout_s=1.0)
        return False

    def ended(self) -> bool:
        """Whether the app has left; all that it drew has been read then."""
        left = self.process.poll() is not None
        self.read()
        return left

    def last(self, mode: bytes) -> bytes:
        """`h` or `l`: how a private mode was set last."""
        return bytes(re.findall(rb"\x1b\[" + re.escape(mode) + rb"([hl])", self.drawn)[-1])

    def close(self) -> None:
        """Close what is open."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for fd in (self.screen, self.tty):
            if fd >= 0:
                os.close(fd)


TAKE_TERMINAL = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from omnitui.__main__ import main
sys.argv[0] = "omnitui"
main()
"""


@pytest.fixture
def terminal(desk: Desk, tmp_path: Path) -> Iterator[Terminal]:
    """The app on the New run screen of a small runbook."""
    folder = make_book(tmp_path / "cut-me-off", RUNBOOK)
    opened = Terminal("open", folder)
    yield opened
    opened.close()


def started(terminal: Terminal) -> RunFolder:
    """Start the run with keys, as an operator would, and wait until its first step is at work."""
    until(lambda: terminal.shows("the runbook is sound"), about="the New run screen")
    terminal.press(b"\x13")
    until(lambda: bool(store.runs()), about="the run")
    (run,) = store.runs()
    until((run.path / "begun").exists, about="the first step")
    until(lambda: terminal.shows("Wait to be let go"), about="the Run screen")
    return run


def complete(run: RunFolder) -> bool:
    """Whether the runner has ended with a complete run."""
    events, _ = store.events(run)
    return (events[-1]["event"], events[-1].get("outcome")) == ("runner_ended", "complete")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_restores_the_terminal_and_the_run_goes_on(terminal: Terminal, number: signal.Signals) -> None:
    run = started(terminal)
    assert terminal.last(b"?1049") == b"h"

    terminal.process.send_signal(number)

    until(terminal.ended, about="the app")
    assert {mode: terminal.last(mode) for mode in MODES} == MODES
    assert terminal.drawn.endswith(b"\x1b[23;2t")
    assert termios.tcgetattr(terminal.tty) == terminal.before
    assert b"Traceback" not in terminal.drawn
    assert store.holder(run) is not None
    (run.path / "go").touch()
    until(lambda: complete(run), about="the run")


def test_a_cut_terminal_ends_the_app_and_the_run_goes_on(terminal: Terminal) -> None:
    run = started(terminal)

    # What sshd does when the connection is gone: the kernel sends SIGHUP to the session.
    os.close(terminal.tty)
    os.close(terminal.screen)
    terminal.tty = terminal.screen = -1

    until(lambda: terminal.process.poll() is not None, about="the app")
    assert store.holder(run) is not None
    (run.path / "go").touch()
    until(lambda: complete(run), about="the run")


def test_quitting_leaves_the_run_alone(terminal: Terminal) -> None:
    run = started(terminal)
    terminal.press(b"\x1b")
    terminal.press(b"\x03")
    assert store.holder(run) is not None
    terminal.press(b"q")
    until(terminal.ended, about="the app")
    assert {mode: terminal.last(mode) for mode in MODES} == MODES
    assert store.holder(run) is not None
    (run.path / "go").touch()
    until(lambda: complete(run), about="the run")


def test_the_terminal_is_told_of_the_end_once_and_keeps_its_title(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TMUX", "TERM_PROGRAM", "VTE_VERSION", "WT_SESSION"):
        monkeypatch.delenv(name, raising=False)
    folder = make_book(tmp_path / "cut-me-off", RUNBOOK)
    terminal = Terminal("open", folder)
    try:
        run = started(terminal)
        assert terminal.drawn.count(b"\x1b[22;2t") == 1
        (run.path / "go").touch()
        until(lambda: terminal.shows("\x1b]9;OmniTUI: cut-me-off: the run has ended: complete\x1b\\"), about="it")
        until(lambda: terminal.shows("\x1b]2;✔ cut-me-off: complete\x1b\\"), about="the title")
        terminal.press(b"q")
        until(terminal.ended, about="the app")
        assert b"Traceback" not in terminal.drawn
        # Textual ends the pointer's shape with a BEL, which rings nothing.
        assert re.sub(rb"\x1b\]22;[a-z]*\x07", b"", terminal.drawn).count(b"\x07") == 1
        assert terminal.drawn.count(b"\x1b]9;") == terminal.drawn.count(b"\x1b]777;") == 1
        assert terminal.drawn.rindex(b"\x1b[23;2t") > terminal.drawn.rindex(b"\x1b]2;")
    finally:
        terminal.close()


def test_a_remedy_has_the_terminal_until_it_ends(desk: Desk, tmp_path: Path) -> None:
    folder = make_book(tmp_path / "red", RED)
    assert desk.omnitui("run", folder, "--headless").code == 1
    run = desk.only_run()
    terminal = Terminal("attach", run.name)
    try:
        until(lambda: terminal.shows("Break the ice"), about="the remedy in the banner")
        terminal.press(b"m")
        until(lambda: terminal.shows("What helps when"), about="the remedies")
        terminal.press(b"\r")
        until(lambda: terminal.shows("where the step runs"), about="the question")
        terminal.press(b"\x1b[D\r")
        until(lambda: terminal.shows("cracked by hand"), about="what the remedy prints")
        until(lambda: terminal.shows("enter leads back"), about="the end of the remedy")
        terminal.press(b"\n")
        until(lambda: terminal.shows("has ended well"), about="the app")
        assert desk.events(run, "remedy_taken")[0]["exit"] == 0
        until(lambda: terminal.answers(b"a", "Going on will"), about="the plan")
        terminal.press(b"\r")
        until(lambda: complete(run), about="the run")
    finally:
        terminal.close()
