"""The terminal lent to a command: the app draws nothing and takes no key until it comes back."""

import signal
import subprocess
import sys
from collections.abc import Mapping

from textual.app import App

from omnitui.ui.keeping_off import operators_cpus


def lend_terminal(
    app: App[object], argv: list[str], environment: Mapping[str, str], said: str = "", *, until_read: bool = False
) -> int:
    """Say something, give the terminal to a command until it ends, and return its exit status.

    With `until_read` the operator says when what it printed was read. Raises `SuspendNotSupported`.
    """
    with app.suspend():
        if said:
            print(said, flush=True)  # noqa: T201
        # Ctrl-C is the command's while it has the terminal.
        before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
        try:
            with operators_cpus():
                status = subprocess.run(argv, env=dict(environment), check=False).returncode
            if until_read:
                print("\nenter leads back", end="", flush=True)  # noqa: T201
                sys.stdin.readline()
        finally:
            signal.signal(signal.SIGINT, before)
    return status
