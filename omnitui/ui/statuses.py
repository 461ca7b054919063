"""The sign of a step's status."""

from typing import assert_never

from omnitui.model import Asking, Crashed, Failed, Passed, Running, Skipped, Status, Stopped, Waiting
from omnitui.ui.signs import Sign


def of_status(status: Status, *, alive: bool = True) -> Sign:
    """The sign of a step. One that reads as running while no runner is `alive` has lost it."""
    match status:
        case Waiting():
            return Sign("○", "waiting", "muted")
        case Running():
            return Sign("▶", "running", "blue") if alive else Sign("◌", "without a runner", "warn")
        case Passed():
            return Sign("✔", "already true" if status.already else "passed", "green")
        case Failed():
            return Sign("✘", "failed", "red")
        case Stopped():
            return Sign("■", "stopped", "warn")
        case Crashed():
            return Sign("✘", "crashed", "red")
        case Skipped():
            return Sign("–", "skipped", "muted")
        case Asking():
            return Sign("?", "asks", "warn")
    assert_never(status)
