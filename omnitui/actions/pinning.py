"""Reading back that a job keeps to the CPUs that its environment asks for: at first, and now and then."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

from omnitui.actions.context import Context, StopAsked
from omnitui.errors import JobError, StoreError
from omnitui.gates import Green, Moot, Red, Unknown, Verdict
from omnitui.jobs.job import Job, family_of
from omnitui.model import PINNED
from omnitui.pinning import AffinityReading, judge_pinned
from omnitui.plan import PlannedStep, next_step
from omnitui.probes import affinity
from omnitui.resumption import measures
from omnitui.runbook.variables import expand
from omnitui.values import environment_at

_FIRST_S = (1.0, 10.0)
"""When a job that has just begun is looked at."""
_EVERY_S = 60.0
_AGAIN_S = 1.0
"""What is seen outside is looked at again so much later: its shell may be on the way to its CPUs."""
_PATIENCE_S = 10.0
_WAY_OUT = "keep it there, or give its environment the CPUs that it is to have"


class Pinning:
    """Looks at the threads of one job, and shows what it sees as a gate of the job's step."""

    def __init__(self, ctx: Context, planned: PlannedStep, job: Job, asked: str) -> None:
        self._ctx = ctx
        self._planned = planned
        self._job = job
        self._asked = asked
        self._strayed = False
        self.kept: dict[str, Verdict] = {}
        """The last verdict, while every one was green."""

    async def look(self) -> Verdict:
        """One verdict, shown and journalled. A job that is over before anything was seen of it has none."""
        verdict = await self._verdict()
        if isinstance(verdict, Red):
            await asyncio.sleep(_AGAIN_S)
            verdict = await self._verdict()
        if not isinstance(verdict, Unknown) or self._job.folder.exit_status() is None:
            self._tell(verdict)
        return verdict

    async def _verdict(self) -> Verdict:
        verdict = judge_pinned(self._asked, await asyncio.to_thread(self._read))
        if isinstance(verdict, Red) and self._ctx.owned.state.rehearsal:
            return Moot(f"a stand-in: {verdict.reason}")
        return self._ctx.masked(verdict)

    def _read(self) -> AffinityReading:
        job = self._job
        try:
            # `taskset` prints what it has done; before that the shell is not where it is to be.
            if not job.folder.log.stat().st_size:
                return AffinityReading(error="it has not begun")
            # The wrapper only waits, on the CPUs of the operator's shell.
            wrapper = job.identity.pid if job.identity else None
            return affinity.look(job.place, [one for one in family_of(job) if one.pid != wrapper])
        except (OSError, JobError) as error:
            return AffinityReading(error=str(error))

    def _tell(self, verdict: Verdict) -> None:
        self._strayed = self._strayed or isinstance(verdict, Red)
        self.kept.clear()
        if isinstance(verdict, Green) and not self._strayed:
            self.kept[PINNED] = verdict
        if self._ctx.board.show(self._planned.id, PINNED, verdict):
            self._ctx.owned.commit("gate", step=self._planned.id, word=PINNED, verdict=verdict)

    async def watch(self, *first_s: float) -> None:
        """Look after so many seconds each, then seldom, for ever. A scored pass that is measured so is marked."""
        pauses_s = iter(first_s)
        # A full disk is told by whoever commits next, and ends the run there.
        with suppress(StoreError):
            while True:
                await asyncio.sleep(next(pauses_s, _EVERY_S))
                verdict = await self.look()
                if isinstance(verdict, Red):
                    self._spoil(verdict)

    def _spoil(self, verdict: Red) -> None:
        # A server of the whole run spoils whatever is measured now.
        ctx, own = self._ctx, self._planned
        step = own if own.in_pass else next_step(ctx.plan, ctx.owned.state)
        if step and measures(step):
            ctx.spoil(step, "not pinned", f"not pinned: {verdict.reason}")

    async def until_told(self, ended: "asyncio.Task[int | None]") -> Verdict:
        """Green, red or moot; what cannot be read for long is red. Whatever it is once the job has ended.

        Raises `StopAsked`.
        """
        begun = time.monotonic()
        stopping = asyncio.create_task(self._ctx.stop_asked.wait())
        try:
            while True:
                verdict = await self.look()
                if self._ctx.stop_asked.is_set():
                    raise StopAsked
                if isinstance(verdict, Red):
                    return Red(f"{verdict.reason}; {_WAY_OUT}")
                if not isinstance(verdict, Unknown) or ended.done():
                    return verdict
                if time.monotonic() - begun >= _PATIENCE_S:
                    return Red(f"{verdict.reason} (waited {_PATIENCE_S:.0f} s)")
                await asyncio.wait({ended, stopping}, timeout=_AGAIN_S)
        finally:
            stopping.cancel()


def pinning_of(ctx: Context, planned: PlannedStep, job: Job) -> Pinning | None:
    """Who looks at a job of this step; None where its environment asks for no CPUs."""
    asked = environment_at(ctx.runbook, planned.step).cpus
    return Pinning(ctx, planned, job, expand(asked, ctx.values(planned))) if asked else None


@asynccontextmanager
async def pinned(pinning: Pinning | None) -> AsyncIterator[Mapping[str, Verdict]]:
    """Look while the block lasts; what is given holds the evidence, once and as long as there is any."""
    if pinning is None:
        yield {}
        return
    work = asyncio.create_task(pinning.watch(*_FIRST_S))
    try:
        yield pinning.kept
    finally:
        work.cancel()
        await asyncio.wait({work})
