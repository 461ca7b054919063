"""The names in a run's folder, and finding runs."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from omnitui.errors import StoreError, UsageError


def now() -> str:
    """The time in UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def home() -> Path:
    """Where runs are kept: `OMNITUI_HOME`, or the XDG data folder."""
    if given := os.environ.get("OMNITUI_HOME"):
        return Path(given).absolute()
    from platformdirs import user_data_path  # noqa: PLC0415 - not needed when OMNITUI_HOME is set

    return user_data_path("omnitui")


@dataclass(frozen=True)
class RunFolder:
    """The names in one run's folder."""

    path: Path

    @property
    def name(self) -> str:
        """The run's id."""
        return self.path.name

    @property
    def state(self) -> Path:
        """The truth."""
        return self.path / "state.toml"

    @property
    def journal(self) -> Path:
        """Every transition and decision, one JSON object a line."""
        return self.path / "journal.jsonl"

    @property
    def lock(self) -> Path:
        """Held by the process that owns the run."""
        return self.path / "lock"

    @property
    def requests(self) -> Path:
        """What a live runner is asked."""
        return self.path / "requests"

    @property
    def live(self) -> Path:
        """The gates' last readings; not durable."""
        return self.path / "live.json"

    @property
    def viewers(self) -> Path:
        """Who watches it; not durable."""
        return self.path / "viewers"

    @property
    def telemetry(self) -> Path:
        """What the monitor told, and the steps' boundaries; bounded, not durable."""
        return self.path / "telemetry.jsonl"

    @property
    def runbook(self) -> Path:
        """The runbook as it was when the run began."""
        return self.path / "runbook"

    @property
    def places(self) -> Path:
        """What was noted of the containers in which the run's jobs ran: later they may be gone."""
        return self.path / "places"

    @property
    def runner_log(self) -> Path:
        """What the runner itself printed: empty unless it met a bug."""
        return self.path / "runner.log"

    def job(self, step_id: str, attempt: int) -> Path:
        """The folder of one attempt."""
        path = self.path / "jobs" / step_id / str(attempt)
        if path.is_symlink() and not path.exists():
            # A job of a container; only a rehearsal's own sandbox knows its folder by that name.
            rehearsed = self.path.parents[1] / "rehearsals" / self.name / "root" / path.readlink().relative_to("/")
            return rehearsed if rehearsed.exists() else path
        return path

    def pass_folder(self, pass_id: str) -> Path:
        """Provenance, metrics and verdict of one pass (`series/label`)."""
        return self.path / "passes" / pass_id


def runs() -> list[RunFolder]:
    """All runs, newest first. Folders without state and journal are not runs."""
    try:
        entries = sorted((home() / "runs").iterdir(), reverse=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{home() / 'runs'} cannot be read: {error.strerror}") from error
    found = (RunFolder(entry) for entry in entries)
    return [run for run in found if run.state.exists() or run.journal.exists()]


def find(name: str | None) -> RunFolder:
    """The run with this id, a unique beginning of it, or its folder; without a name, the newest."""
    try:
        if name and (Path(name) / "journal.jsonl").exists():
            return RunFolder(Path(name).absolute())
    except OSError as error:
        raise UsageError(f"run {name[:200] if name else ''} cannot be read: {error.strerror}") from error
    known = runs()
    folder = RunFolder(home() / "runs" / name) if name and "/" not in name and name[0] != "." else None
    if folder is not None and folder.path.is_dir() and folder not in known:
        raise UsageError(f"no run begins with {name!r}: {folder.path} lacks its state.toml and its journal")
    if not known:
        raise UsageError(f"there are no runs in {home() / 'runs'}; start one with: omnitui run RUNBOOK")
    if name is None:
        return known[0]
    fits = [run for run in known if run.name == name] or [run for run in known if run.name.startswith(name)]
    if len(fits) != 1:
        fit = f"{len(fits)} runs begin" if fits else "no run begins"
        raise UsageError(f"{fit} with {name!r}; `omnitui runs` lists them")
    return fits[0]
