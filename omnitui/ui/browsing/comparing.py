"""Two sides of passes and their comparison. Read in threads."""

from collections.abc import Iterable
from pathlib import Path

from omnitui.errors import UsageError
from omnitui.results.judging.compare import Comparison, Group, compare
from omnitui.results.sources import IMPORTS, Measured, measured_in, of_folder, of_import
from omnitui.runbook.schema import Runbook
from omnitui.store import RunFolder


def compared(a: Iterable[str], b: Iterable[str], despite: Iterable[str] = ()) -> Comparison:
    """The comparison of the passes in these folders. Raises `OmniError`."""
    return compare(_side("A", a), _side("B", b), despite=despite)


def _side(name: str, folders: Iterable[str]) -> Group:
    passes = tuple(sorted(map(_measured, folders), key=lambda one: (one.result.collected, one.run, one.scope)))
    if not passes:
        raise UsageError(f"side {name} has no pass: put passes on it with {name.lower()} or {name}")
    series = dict.fromkeys(f"{one.run}/{one.result.series}" for one in passes)
    told = next(iter(series)) if len(series) == 1 else f"{len(passes)} passes of {len(series)} series"
    return Group(told, _runbook(passes[-1].folder.parents[2]), passes)


def _measured(folder: str) -> Measured:
    path = Path(folder)
    return measured_in(path, path.parents[2].name)


def _runbook(path: Path) -> Runbook:
    return (of_import(path) if path.parent.name == IMPORTS else of_folder(RunFolder(path))).runbook
