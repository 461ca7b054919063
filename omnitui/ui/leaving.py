"""What happens when a screen is left, and to the terminal when the app is told to go: SIGHUP, SIGTERM, SIGINT.

Textual handles none of them. The runner is a process of its own and goes on.
"""

import os
import signal
import sys
import termios
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from textual.css.query import NoMatches
from textual.dom import DOMNode

RESTORE = (
    b"\x1b[?2026l"  # a frame that was begun is shown
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # mouse
    b"\x1b[?2004l\x1b[?1004l\x1b[?2048l\x1b[?7h"  # bracketed paste, focus, resize reports; lines wrap again
    b"\x1b[<u\x1b[?1049l\x1b[?25h\x1b[0m"  # keyboard protocol, alternate screen, cursor, colours
)
"""What undoes all that Textual asks of a terminal (xterm's control sequences, kitty's keyboard protocol)."""
_PATIENCE_S = 1.0


def asked_of_one_that_is_left(error: NoMatches) -> bool:
    """Whether it was a widget or screen that is no longer on an open screen which did not find its parts."""
    *_, (query, _line) = traceback.walk_tb(error.__traceback__)
    node = query.f_locals.get("self")
    if not isinstance(node, DOMNode):
        return False
    return not (node.app.is_running and any(one in node.app.screen_stack for one in node.ancestors_with_self))


def leave_on_signals(also: str = "") -> None:
    """From now on SIGHUP, SIGTERM and SIGINT restore the terminal and end this process at once.

    `also` is written behind the restoration.
    """
    with suppress(OSError, ValueError, termios.error):
        attributes = termios.tcgetattr(0)
        leave = _leaver(attributes, also)
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, leave)
        return
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leaver(None, also))


def _leaver(attributes: list[Any] | None, also: str) -> Callable[[int, FrameType | None], None]:
    def leave(number: int, _frame: FrameType | None) -> None:
        # A terminal that is stuck, not gone, would block the write for ever.
        end = threading.Timer(_PATIENCE_S, os._exit, (128 + number,))
        end.daemon = True
        end.start()
        with suppress(OSError, ValueError, termios.error):
            _restore(sys.__stderr__.fileno() if sys.__stderr__ else 2, attributes, also)
        os._exit(128 + number)

    return leave


def _restore(screen: int, attributes: list[Any] | None, also: str) -> None:
    terminal = os.dup(screen)
    # Textual's writer thread may be at work: what it still writes must not follow the restoration.
    os.dup2(os.open(os.devnull, os.O_WRONLY), screen)
    os.write(terminal, RESTORE + also.encode())
    if attributes is not None:
        termios.tcsetattr(0, termios.TCSANOW, attributes)
