"""All that is stored of one pass. Read in threads."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from omnitui import telemetry
from omnitui.errors import OmniError
from omnitui.readings import CoverageReading
from omnitui.results.keys import roles_of
from omnitui.results.samples import SampleSet, sample_sets
from omnitui.results.sources import Measured, measured_in
from omnitui.runbook.load import load
from omnitui.runbook.measured import Metric
from omnitui.runbook.part import Role
from omnitui.runbook.schema import Runbook
from omnitui.samples import Boundary, Line
from omnitui.store import RunFolder

_SCRIPT_BYTES = 64 * 1024
_LOGS = 100
"""Of a folder that was taken in; whoever has more looks there."""


class Ran(Struct, frozen=True):
    """One attempt of a step: what ran exactly, and where it printed."""

    step: str
    attempt: int
    script: str
    log: Path


class LogFile(Struct, frozen=True):
    """One log of a pass."""

    title: str
    path: Path


class Details(Struct, frozen=True):
    """One pass, with what its runbook says of its figures; `trouble` tells what cannot be read."""

    measured: Measured
    metrics: tuple[Metric, ...]
    roles: dict[str, Role]
    coverage: CoverageReading | None
    ran: tuple[Ran, ...]
    logs: tuple[LogFile, ...]
    since: float
    until: float
    trouble: str = ""

    @property
    def run(self) -> RunFolder:
        """The run or import that it is of."""
        return RunFolder(self.measured.folder.parents[2])


def read(folder: Path) -> Details:
    """Everything of the pass in a folder, but for its telemetry and logs."""
    run = RunFolder(folder.parents[2])
    measured = measured_in(folder, run.name)
    runbook, trouble = _runbook(run)
    since, until = _window(run, measured.scope)
    ran = tuple(_ran(run, measured.scope))
    return Details(
        measured,
        runbook.metrics if runbook else (),
        roles_of(runbook) if runbook else {},
        _coverage(folder),
        ran,
        tuple(LogFile(one.step, one.log) for one in ran) or tuple(_logs_in(measured.out)),
        since,
        until,
        trouble,
    )


def samples_of(folder: Path) -> tuple[SampleSet, ...]:
    """The samples of the pass in a folder. Raises `OmniError` when its output is not there."""
    run = RunFolder(folder.parents[2])
    measured = measured_in(folder, run.name)
    if measured.out is None:
        where = measured.known.get("out_here", "its output folder")
        raise OmniError(f"{run.name} {measured.scope}: {where} is not on this machine, and has the samples")
    return sample_sets(load(run.runbook), measured.out, measured.values)


def lines(found: Details, since: float, until: float, at_most: int) -> tuple[Line, ...]:
    """Its run's telemetry between two times; 0 is where it begins and ends."""
    return tuple(telemetry.read(found.run, since, until or float("inf"), at_most))


def _runbook(run: RunFolder) -> tuple[Runbook | None, str]:
    try:
        return load(run.runbook), ""
    except OmniError as error:
        return None, f"its runbook: {error}"


def _coverage(folder: Path) -> CoverageReading | None:
    class Stored(Struct):
        reading: CoverageReading

    try:
        return msgspec.json.decode((folder / "coverage.json").read_bytes(), type=Stored).reading
    except (OSError, msgspec.MsgspecError):
        return None


def _window(run: RunFolder, scope: str) -> tuple[float, float]:
    """When its first step began and its last one ended, as the telemetry tells; 0 where it does not."""
    events = telemetry.read(run, at_most=1)
    mine = [one for one in events if isinstance(one, Boundary) and one.step.startswith(f"{scope}/")]
    return (mine[0].at, mine[-1].at) if mine else (0.0, 0.0)


def _ran(run: RunFolder, scope: str) -> Iterator[Ran]:
    """Its attempts, in the order in which they began."""
    found: list[tuple[float, Ran]] = []
    for script in (run.path / "jobs" / scope).glob("*/*/script"):
        job = script.parent
        try:
            with script.open("rb") as file:
                text = file.read(_SCRIPT_BYTES).decode(errors="replace")
            began = (job / "pid").stat().st_mtime
        except OSError:
            continue
        number = int(job.name) if job.name.isdecimal() else 0
        found.append((began, Ran(job.parent.name, number, text, job / "log")))
    yield from (one for _, one in sorted(found, key=lambda pair: pair[0]))


def _logs_in(out: Path | None) -> Iterator[LogFile]:
    """What the clients and servers of a pass that was taken in have left beside its results."""
    found = sorted(out.rglob("*.log"))[:_LOGS] if out else []
    yield from (LogFile(str(log.relative_to(out)), log) for log in found if out)
