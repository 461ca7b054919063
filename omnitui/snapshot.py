"""One frozen view of a run, for every reader: the screens, the plain lines, and `status`."""

import time
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from omnitui import live, store
from omnitui.gates import word_of
from omnitui.jobs.folder import JobFolder
from omnitui.live import Shown
from omnitui.model import PINNED, Running, RunState, StepRecord
from omnitui.plan import Outcome, Plan, PlannedStep, lay_out, next_step, outcome
from omnitui.resumption import Resume, World, resume
from omnitui.runbook.gates import Output
from omnitui.runbook.narrow import of_run
from omnitui.runbook.schema import Runbook, Serve
from omnitui.store import Holder, RunFolder
from omnitui.world import observe

STALE_S = 20.0
"""A gate that is asked again and again, and has not been for so long, is told as STALE."""
GONE = "the server is gone"
_WORLD_EVERY_S = 2.0
"""How often it is looked, while nobody is at work, whether what was left running still runs."""


class Snapshot(Struct, frozen=True):
    """Everything a screen shows of a run. `resume` is there only while nobody is at work."""

    run: RunFolder
    runbook: Runbook
    plan: Plan
    state: RunState
    outcome: Outcome
    holder: Holder | None
    gates: tuple[Shown, ...]
    resume: Resume | None = None
    since: float = 0.0
    """When the holder took the run, or when the last event was journalled; seconds since the epoch."""
    shortage: str = ""
    """That the disk is full, when that may be why nobody is at work."""
    asked: frozenset[str] = frozenset()
    """What the live runner has been asked and has not done yet: `hold`, `stop`."""
    gone: frozenset[str] = frozenset()
    """The servers that nobody has stopped and that do not live; known only while nobody is at work."""

    @property
    def current(self) -> PlannedStep | None:
        """The first step that is not done."""
        return next_step(self.plan, self.state)

    def record(self, planned: PlannedStep) -> StepRecord:
        """What is known of a step."""
        return self.state.step(planned.id)

    def job(self, planned: PlannedStep) -> JobFolder | None:
        """The folder of the step's latest attempt, or None when it has none."""
        record = self.record(planned)
        attempts = [attempt.n for attempt in record.attempts]
        if isinstance(record.status, Running):
            attempts.append(record.status.attempt)
        if not attempts:
            return None
        return JobFolder(self.run.job(planned.id, attempts[-1]))

    def server_logs(self) -> dict[str, JobFolder]:
        """The job folders of the servers that are up, by name."""
        return {name: JobFolder(self.run.path / record.job) for name, record in self.state.servers.items()}


@dataclass
class Watch:
    """Takes snapshots of one run, reading again only what has changed since."""

    run: RunFolder
    _seen: tuple[object, ...] = ()
    _parts: tuple[Runbook, Plan] | None = field(default=None, repr=False)
    _state: tuple[object, RunState] | None = field(default=None, repr=False)
    _world: World | None = None
    """What was seen of the world when nobody was at work and something was left running."""
    _world_at_s: float = 0.0

    def changed(self) -> bool:
        """Whether anything a snapshot shows has changed since the last one: four stats and a lock.

        What was left running without a runner writes nothing when it ends: that is looked at now and then.
        """
        return self._look() != self._seen or self._has_ended()

    def _has_ended(self) -> bool:
        if self._world is None or self._state is None or time.monotonic() < self._world_at_s + _WORLD_EVERY_S:
            return False
        return self._observed(self._state[1]) != self._world

    def _observed(self, state: RunState) -> World:
        self._world_at_s = time.monotonic()
        runbook, plan = self._known(state)
        return observe(self.run, runbook, plan, state)

    def _known(self, state: RunState) -> tuple[Runbook, Plan]:
        if self._parts is None:
            runbook = of_run(self.run.runbook, state.variables)
            self._parts = (runbook, lay_out(runbook, state.schedule))
        return self._parts

    def _look(self) -> tuple[object, ...]:
        files = (self.run.state, self.run.live)
        return (*(_stamp(file) for file in files), store.holder(self.run), store.asked(self.run))

    def take(self) -> Snapshot:
        """A snapshot. Raises `CorruptState`."""
        looked, self._seen = self._look(), ()
        # State, then lock, then state again: a runner writes its last state before it frees the lock.
        state = self._read()
        holder = store.holder(self.run)
        if holder is None:
            state = self._read()
        runbook, plan = self._known(state)
        stands = outcome(plan, state, holder is not None)
        going_on, gone, self._world = None, frozenset[str](), None
        if holder is None:
            world = self._observed(state)
            going_on, gone = resume(plan, state, world), frozenset(state.servers) - world.live_servers
            self._world = world if world.live_servers or world.job == "alive" else None
        # Only now: what could not be read is read again, also when it is as it was before.
        self._seen = looked
        stamp = _stamp(self.run.lock if holder else self.run.journal)
        since = stamp[0] / 1e9 if stamp else 0.0
        return Snapshot(
            run=self.run,
            runbook=runbook,
            plan=plan,
            state=state,
            outcome=stands,
            holder=holder,
            gates=tuple(_as_it_is(gate, state, gone) for gate in live.read(self.run)),
            resume=going_on,
            since=since,
            shortage=store.shortage(self.run.path) if stands == "interrupted" else "",
            asked=frozenset(store.asked(self.run)) if holder else frozenset(),
            gone=gone,
        )

    def _read(self) -> RunState:
        stamp = _stamp(self.run.state)
        if self._state is None or self._state[0] != stamp or stamp is None:
            self._state = (stamp, store.read(self.run))
        return self._state[1]


def stays_fresh(planned: PlannedStep, gate: Shown) -> bool:
    """Whether a reading does not grow stale: its step has ended, or it is read seldom or only with the output."""
    polled = {word_of(one) for one in planned.step.gates if not isinstance(one, Output)}
    return gate.ends or gate.word == PINNED or not (isinstance(planned.step, Serve) or gate.word in polled)


def is_stale(planned: PlannedStep, gate: Shown, now: float) -> bool:
    """Whether a reading is too old to be shown as it is at `now`, in seconds since the epoch."""
    return not stays_fresh(planned, gate) and now - gate.at >= STALE_S


def _as_it_is(gate: Shown, state: RunState, gone: frozenset[str]) -> Shown:
    """The last reading of a server's gate, unless the server is gone: nobody was there to read that."""
    if gate.about not in (state.servers[name].step for name in gone):
        return gate
    return replace(gate, ends=True) if gate.kind == "red" else replace(gate, kind="red", reason=GONE, ends=True)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def take(run: RunFolder) -> Snapshot:
    """One snapshot."""
    return Watch(run).take()
