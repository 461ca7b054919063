"""One frozen view of a run, for every reader: the screens, the plain lines, and `status`."""

from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct

from omnitui import live, store
from omnitui.jobs.folder import JobFolder
from omnitui.live import Shown
from omnitui.model import Running, RunState, StepRecord
from omnitui.plan import Outcome, Plan, PlannedStep, lay_out, next_step, outcome
from omnitui.resumption import Resume, resume
from omnitui.runbook.narrow import of_run
from omnitui.runbook.schema import Runbook
from omnitui.store import Holder, RunFolder
from omnitui.world import observe


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

    def changed(self) -> bool:
        """Whether anything a snapshot shows has changed since the last one: four stats and a lock."""
        return self._look() != self._seen

    def _look(self) -> tuple[object, ...]:
        files = (self.run.state, self.run.live)
        return (*(_stamp(file) for file in files), store.holder(self.run), store.asked(self.run))

    def take(self) -> Snapshot:
        """A snapshot. Raises `CorruptState`."""
        self._seen = self._look()
        # State, then lock, then state again: a runner writes its last state before it frees the lock.
        state = self._read()
        holder = store.holder(self.run)
        if holder is None:
            state = self._read()
        if self._parts is None:
            runbook = of_run(self.run.runbook, state.variables)
            self._parts = (runbook, lay_out(runbook, state.schedule))
        runbook, plan = self._parts
        stands = outcome(plan, state, holder is not None)
        going_on = None
        if holder is None:
            going_on = resume(plan, state, observe(self.run, runbook, plan, state))
        stamp = _stamp(self.run.lock if holder else self.run.journal)
        since = stamp[0] / 1e9 if stamp else 0.0
        return Snapshot(
            run=self.run,
            runbook=runbook,
            plan=plan,
            state=state,
            outcome=stands,
            holder=holder,
            gates=live.read(self.run),
            resume=going_on,
            since=since,
            shortage=store.shortage(self.run.path) if stands == "interrupted" else "",
            asked=frozenset(store.asked(self.run)) if holder else frozenset(),
        )

    def _read(self) -> RunState:
        stamp = _stamp(self.run.state)
        if self._state is None or self._state[0] != stamp or stamp is None:
            self._state = (stamp, store.read(self.run))
        return self._state[1]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def take(run: RunFolder) -> Snapshot:
    """One snapshot."""
    return Watch(run).take()
