"""Looking at a server's health: often enough to see a change at once, cheaply enough to do so for half an hour."""

import asyncio
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from omnitui.jobs.job import Job, members
from omnitui.probes import listeners
from omnitui.probes.http import Client
from omnitui.readings import HealthReading, PortReading

_EVERY_S = 0.22
"""Between two looks while a server starts."""
_TOLD_EVERY_S = 5.0
"""How old a reading that says nothing new may become."""


class Health:
    """Takes readings of one server over one kept connection.

    Whose process listens is looked up when the connection is new or its answer changes, not each time: the
    kernel's listen tables take 2 ms to read, a refused or kept connection a tenth of that.
    """

    def __init__(self, job: Job, port: int, path: str, model: str) -> None:
        self._job = job
        self._port = port
        self._path = path
        self._model = model
        self._client = Client(port, place=job.place)
        self._known: tuple[int | None, PortReading] | None = None

    def look(self) -> HealthReading:
        """One reading; may take as long as the client's time limit, so it is called in a thread.

        Whether the server lives is not asked here: who watches it is told of its death by its pidfd, and sooner.
        """
        answer = self._client.get(self._path)
        if answer.refused:
            self._known = None
            return HealthReading(PortReading(self._port), alive=True)
        if self._known is None or answer.fresh or answer.error or self._known[0] != answer.status:
            ours = [process.pid for process in members(self._job)]
            self._known = (answer.status, listeners.look(self._port, ours, place=self._job.place))
        port = self._known[1]
        models, error = self._client.models() if self._model and answer.status == 200 else (None, "")
        return HealthReading(port, True, None, answer.status, answer.latency_s, models, answer.error or error)

    def dead(self) -> HealthReading:
        """The reading of a server that has ended."""
        return HealthReading(PortReading(self._port), alive=False, exit=self._job.folder.exit_status())

    def close(self) -> None:
        """Close the kept connection."""
        self._client.close()


class HealthNews:
    """Looks from a thread of its own and wakes the event loop only with news.

    A look takes a third of a millisecond; waking an idle thread and an idle loop for it takes three times that.
    """

    def __init__(self, health: Health) -> None:
        self._health = health
        self._loop = asyncio.get_running_loop()
        self._new = asyncio.Event()
        self._reading = HealthReading(PortReading(0, error="not looked at yet"), alive=True)
        self._end = threading.Event()
        # A look may hang as long as its time limit; nobody waits for this thread.
        threading.Thread(target=self._look, name="health", daemon=True).start()

    def _look(self) -> None:
        told: HealthReading | None = None
        told_at = 0.0
        while not self._end.is_set():
            reading = self._health.look()
            said = replace(reading, latency_s=0.0)
            if said != told or time.monotonic() - told_at >= _TOLD_EVERY_S:
                told, told_at = said, time.monotonic()
                # The loop may have ended meanwhile.
                with suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self._tell, reading)
            self._end.wait(_EVERY_S)
        self._health.close()

    def _tell(self, reading: HealthReading) -> None:
        self._reading = reading
        self._new.set()

    async def next(self, others: Iterable["asyncio.Task[Any]"], patience_s: float) -> HealthReading:
        """The next reading; the last one again when one of the other tasks ends first, or patience does."""
        new = asyncio.create_task(self._new.wait())
        try:
            await asyncio.wait({new, *others}, timeout=max(0.0, patience_s), return_when=asyncio.FIRST_COMPLETED)
        finally:
            new.cancel()
        self._new.clear()
        return self._reading

    def close(self) -> None:
        """Look no more."""
        self._end.set()
