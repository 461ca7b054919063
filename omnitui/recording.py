"""The runner's monitor: telemetry of the run, and passes that something foreign has spoiled.

Nothing here may disturb the run. The monitor starts after the first step has, its troubles are written into the
telemetry, and what it costs is written there too.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

from msgspec.structs import replace

from omnitui.actions import Context
from omnitui.contamination import OF_THE_HOST, Suspicion, look
from omnitui.model import Running
from omnitui.plan import find_step, next_step
from omnitui.resumption import measures
from omnitui.samples import Boundary, Contaminated, Line, Notice, Sample, Started, wanted_of
from omnitui.sampling import Watched, samples
from omnitui.telemetry import Writer
from omnitui.viewers import Viewers
from omnitui.watched import watched_of

_START_AFTER_S = 0.3
"""The first step is under way by then; a run that is over sooner needs no telemetry."""
_TOLD = {"step_started": "began", "step_ended": "ended", "asking": "asks", "gate": "gate"}


@asynccontextmanager
async def recorded(ctx: Context) -> AsyncIterator[None]:
    """Record telemetry while the block lasts."""
    recording = Recording(ctx)
    ctx.owned.listeners.append(recording.heard)
    work = asyncio.create_task(recording.work())
    try:
        yield
    finally:
        ctx.owned.listeners.remove(recording.heard)
        work.cancel()
        (ended,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(ended, Exception):
            recording.write(Notice(time.time(), f"the recording ended: {ended!r}"))
        recording.close()


class Recording:
    """Writes what the monitor tells, between the boundaries of the steps, and marks spoiled passes."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._writer = Writer(ctx.owned.run.telemetry)
        self._suspicion = Suspicion()
        self._viewers = Viewers(ctx.owned.run)
        step = next_step(ctx.plan, ctx.owned.state)
        running = step is not None and isinstance(ctx.owned.state.step(step.id).status, Running)
        self._step = step if running else None
        self._since = time.time()
        """When the current step began: a look at the cards that is older says nothing about it."""
        self._unsure = False
        """Whether the monitor may have to look at something else by now."""

    def write(self, line: Line) -> None:
        """Append to the telemetry."""
        self._writer.append(line)

    def close(self) -> None:
        """Close the file."""
        self._writer.close()

    def heard(self, event: str, facts: Mapping[str, Any]) -> None:
        """An event was journalled."""
        step = str(facts.get("step", ""))
        # A step may have handed on what the monitor looks at, or made the container.
        self._unsure = self._unsure or event in ("step_started", "step_ended")
        told = _TOLD.get(event, event)
        attempt, outcome = int(facts.get("attempt", 0)), ""
        if event == "step_started":
            self._step, self._since = find_step(self._ctx.plan, step), time.time()
        elif event in ("step_ended", "asking"):
            self._step = None
            outcome = type(self._ctx.owned.state.step(step).status).__name__.lower()
        elif event == "gate":
            outcome = f"{facts['word']} {type(facts['verdict']).__name__.lower()}"
        elif event == "contaminated":
            self.write(Contaminated(_now(), step, facts["kind"], facts["reason"]))
            return
        elif event not in ("server_started", "server_gone", "runner_started", "runner_ended", "resumed"):
            return
        self.write(Boundary(_now(), told, step or str(facts.get("server", "")), attempt, outcome))

    async def work(self) -> None:
        """Record for ever. A monitor that would look at something else by now is replaced."""
        await asyncio.sleep(_START_AFTER_S)
        while True:
            watched = self._watched()
            async with samples(watched) as lines, aclosing(lines):  # type: ignore[type-var]
                async for line in lines:
                    self._take(line, watched)
                    if self._unsure and self._watched() != watched:
                        break

    def _watched(self) -> Watched:
        self._unsure = False
        return watched_of(self._ctx.runbook, self._ctx.owned.state, self._ctx.owned.run)

    def _take(self, line: Started | Sample, watched: Watched) -> None:
        if isinstance(line, Started):
            self.write(line)
            return
        runner_s, app_s = round(time.process_time(), 4), round(self._viewers.spent_s(), 4)
        self.write(replace(line, runner_cpu_s=runner_s, app_cpu_s=app_s))
        step = self._step
        taken = line.at - (line.gpu_age_s or 0.0)
        if line.trouble or step is None or not measures(step) or taken < self._since:
            self._suspicion = Suspicion()
            return
        self._suspicion, found = look(self._suspicion, line, wanted_of(watched.gpus))
        rehearsal = self._ctx.owned.state.rehearsal
        for spoiled in found:
            if not (rehearsal and spoiled.kind in OF_THE_HOST):
                self._ctx.spoil(step, spoiled.kind, spoiled.reason)


def _now() -> float:
    return round(time.time(), 3)
