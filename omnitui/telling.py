"""The runner's notices to the operator's own `on_event` command: also when no screen is open.

Nothing here may disturb the run. A command that fails or hangs is journalled, and that is all.
"""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from omnitui import config, store
from omnitui.actions import Context
from omnitui.config import Config
from omnitui.errors import StoreError, UsageError
from omnitui.model import MARKER
from omnitui.notices import HEARD, Listener, Notice
from omnitui.sanitise import plain

_LOOK_S = 0.05
_LAST_S = 2.0
"""How long the end of a runner waits for commands: that the run has ended is told as well."""
_LONGEST = 1000
_IN_ENVIRONMENT = ("event", "run", "runbook", "step", "reason")


@asynccontextmanager
async def told(ctx: Context) -> AsyncIterator[None]:
    """Tell the command of every notice while the block lasts. A rehearsal calls nobody."""
    try:
        chosen = config.read()
    except UsageError as error:
        chosen = Config()
        _journal(ctx, None, str(error))
    if not chosen.on_event or ctx.owned.state.rehearsal:
        yield
        return
    teller = Teller(ctx, chosen)
    ctx.owned.listeners.append(teller.heard)
    try:
        yield
    finally:
        ctx.owned.listeners.remove(teller.heard)
        await teller.finish()


class Teller:
    """Starts a command for each notice, and notes which of them went wrong."""

    def __init__(self, ctx: Context, chosen: Config) -> None:
        self._ctx = ctx
        self._config = chosen
        self._listener = Listener()
        self._work: dict[asyncio.Task[None], Notice] = {}

    def heard(self, event: str, facts: Mapping[str, Any]) -> None:
        """An event was journalled."""
        if event not in HEARD:
            return
        values = {name: msgspec.to_builtins(value) for name, value in facts.items()}
        status = msgspec.to_builtins(self._ctx.owned.state.step(str(facts.get("step", ""))).status)
        notice = self._listener.heard(event, values, status)
        if notice:
            task = asyncio.create_task(self._tell(notice))
            self._work[task] = notice
            task.add_done_callback(self._work.pop)

    async def finish(self) -> None:
        """Wait a moment for what is at work; what takes longer goes on alone, within its time limit."""
        if not self._work:
            return
        _, left = await asyncio.wait(tuple(self._work), timeout=_LAST_S)
        for task in left:
            _journal(
                self._ctx,
                self._work.get(task),
                "still at work when the runner ended; nobody will tell how it ends",
            )
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _tell(self, notice: Notice) -> None:
        told = self._ctx.without_secrets(plain(notice.reason))[:_LONGEST]
        try:
            with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
                given.write(msgspec.json.encode(self._message(notice, told)))
                given.seek(0)
                process = subprocess.Popen(
                    [sys.executable, "-m", "omnitui.on_event", str(self._limit_s), self._config.on_event],
                    stdin=given,
                    stdout=said,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                    env=self._environment(notice, told),
                )
                while process.poll() is None:
                    await asyncio.sleep(_LOOK_S)
                said.seek(0)
                wrong = said.read().decode(errors="replace").strip()
        except (OSError, ValueError) as error:
            _journal(self._ctx, notice, f"cannot be started: {error}")
            return
        if process.returncode:
            _journal(self._ctx, notice, wrong or f"exit status {process.returncode}")

    @property
    def _limit_s(self) -> float:
        return self._config.on_event_timeout_s

    def _message(self, notice: Notice, reason: str) -> dict[str, str]:
        state = self._ctx.owned.state
        return {
            "event": notice.event,
            "run": state.run,
            "runbook": state.runbook,
            "title": state.title,
            "step": notice.step,
            "reason": reason,
            "at": store.now(),
            "host": socket.gethostname(),
            "folder": str(self._ctx.owned.run.path),
        }

    def _environment(self, notice: Notice, reason: str) -> dict[str, str]:
        """The operator's environment with the message in it, and without the run's secrets."""
        hidden = {MARKER, *self._ctx.owned.state.secrets}
        kept = {name: value for name, value in os.environ.items() if name not in hidden}
        told = self._message(notice, reason)
        return kept | {f"OMNITUI_{name.upper()}": told[name] for name in _IN_ENVIRONMENT}


def _journal(ctx: Context, notice: Notice | None, reason: str) -> None:
    kind, step = (notice.event, notice.step) if notice else ("", "")
    with suppress(StoreError):
        ctx.owned.commit("on_event_failed", kind=kind, step=step, reason=ctx.without_secrets(plain(reason)))
