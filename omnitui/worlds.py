"""Rehearsed and real runs: who acts on the world must be in the world that the run is of."""

import os

from omnitui.errors import Blocked
from omnitui.model import REHEARSAL, RunState


def is_other(state: RunState) -> bool:
    """Whether the run is rehearsed and this process is outside of its sandbox, or the other way round."""
    return state.rehearsal != bool(os.environ.get(REHEARSAL))


def refuse_other(state: RunState) -> None:
    """Raise `Blocked` there: a rehearsal outside of its sandbox would do for real what was only rehearsed."""
    if is_other(state):
        if state.rehearsal:
            raise Blocked(f"run {state.run} is a rehearsal; go on with: omnitui rehearse --resume {state.run}")
        raise Blocked(f"run {state.run} is real, and this is the sandbox of a rehearsal; leave it first")
