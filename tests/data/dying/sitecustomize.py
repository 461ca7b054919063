"""On the PYTHONPATH of a runner: it dies right behind one event of its journal.

`DIES_AT` holds the event's name and its step. No test could send a signal that comes surely before what is next.
"""

import os
import signal
import sys
from typing import Any

_EVENT, _, _STEP = os.environ.get("DIES_AT", "").partition(" ")

if _EVENT and "omnitui.runner" in sys.orig_argv:
    from omnitui.store import Owned

    _commit = Owned.commit

    def _commit_and_die(self: Owned, event: str, *more: Any, **facts: Any) -> None:
        _commit(self, event, *more, **facts)
        if (event, facts.get("step")) == (_EVENT, _STEP):
            os.kill(os.getpid(), signal.SIGKILL)

    Owned.commit = _commit_and_die  # type: ignore[method-assign]
