"""What Home lists: the runbooks, and where the newest runs stand. Reads files, so it is called in threads."""

from collections.abc import Iterator
from pathlib import Path

from omnitui import store
from omnitui.errors import CorruptState, OmniError, RunbookError
from omnitui.plan import Plan, is_done, lay_out, next_step, outcome
from omnitui.runbook import load
from omnitui.runbook.narrow import of_run
from omnitui.store import RunFolder
from omnitui.ui.messages import RunbookRow, RunRow

NEWEST = 200
"""How many runs are read; older ones are only counted."""
_AT_ONCE = 20


def runbooks() -> tuple[RunbookRow, ...]:
    """The runbooks that came with OmniTUI, sorted by id."""
    return tuple(map(_runbook, load.available()))


def _runbook(name: str) -> RunbookRow:
    try:
        found = load.load(load.locate(name))
    except RunbookError as error:
        return RunbookRow(name, name, "", f"{error.key}: {error.reason}")
    return RunbookRow(name, found.title, found.summary)


class RunList:
    """The newest runs; only those that changed are read again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, RunRow]] = {}
        self._plans: dict[str, Plan] = {}
        self._shown: object = None

    def changes(self) -> Iterator[tuple[tuple[RunRow, ...], int]]:
        """The rows and how many runs are left out, whenever more of them are known. Raises `StoreError`."""
        runs = store.runs()
        newest, more = runs[:NEWEST], len(runs[NEWEST:])
        fresh = 0
        for run in newest:
            seen = (_changed_at(run.state), store.holder(run))
            if self._known.get(run.name, (None,))[0] != seen:
                self._known[run.name] = (seen, self._read(run, alive=seen[1] is not None))
                fresh += 1
                if fresh % _AT_ONCE == 0:
                    yield self._rows(newest), more
        rows = self._rows(newest)
        if fresh or self._shown != (rows, more):
            self._shown = (rows, more)
            yield rows, more

    def _rows(self, newest: list[RunFolder]) -> tuple[RunRow, ...]:
        return tuple(self._known[run.name][1] for run in newest if run.name in self._known)

    def _read(self, run: RunFolder, *, alive: bool) -> RunRow:
        at = _changed_at(run.state) or _changed_at(run.journal)
        try:
            state = store.read(run)
            plan = self._plans.setdefault(run.name, lay_out(of_run(run.runbook, state.variables), state.schedule))
        except CorruptState:
            return RunRow(run.path, run.name, "corrupt", f"rebuild it with: omnitui repair {run.name}", 0, 0, at)
        except OmniError as error:
            return RunRow(run.path, run.name, "unreadable", str(error), 0, 0, at)
        step = next_step(plan, state)
        where = "" if step is None else f"{'' if step.label == '_' else step.scope + ' · '}{step.step.title}"
        runbook = state.source if (Path(state.source) / load.FILE).is_file() else state.runbook
        done = sum(is_done(state.step(planned.id).status) for planned in plan)
        stands = outcome(plan, state, alive)
        return RunRow(run.path, state.title, stands, where, done, len(plan), at, runbook, state.rehearsal)


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
