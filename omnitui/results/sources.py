"""Where passes come from: runs, and results that were taken in. One view of both, for comparing and exporting."""

import re
import tomllib
from collections.abc import Mapping
from datetime import datetime
from glob import escape
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from omnitui import store
from omnitui.errors import OmniError, UsageError
from omnitui.plan import lay_out
from omnitui.results.files import ResultError, read_json
from omnitui.results.keys import UNKNOWN, keys_of
from omnitui.results.passes import FILE, PassResult, judged, read_pass, stored
from omnitui.results.statistics import same_measurement
from omnitui.runbook.load import load
from omnitui.runbook.narrow import narrow, of_run
from omnitui.runbook.schema import Runbook
from omnitui.store import RunFolder

_ASIDE = re.compile(r"-incomplete(-\d+)?$")
IMPORTS = "imports"
IMPORT_FILE = "import.toml"


class Measured(Struct, frozen=True):
    """One pass, with what is known of how it was measured. `folder` is where that is stored."""

    run: str
    folder: Path
    result: PassResult
    known: Mapping[str, Any]

    @property
    def scope(self) -> str:
        """`series/label`."""
        return f"{self.result.series}/{self.result.label}"

    @property
    def keys(self) -> dict[str, str | None]:
        """Its provenance as flat keys."""
        rehearsal = {"rehearsal": True} if self.result.rehearsal else {}
        rates = ", ".join(f"{rate} Hz" for rate in self.result.rates)
        return {**keys_of({**self.known, **rehearsal}), "audio.rates": rates or UNKNOWN}

    def same_as(self, other: "Measured") -> bool:
        """Whether both are one measurement: one pass, or one that was taken in twice."""
        return self.folder == other.folder or same_measurement(self.result, other.result)

    @property
    def values(self) -> dict[str, str]:
        """The values that the paths of its result files may name, as far as they are known."""
        values = {name: str(value) for name, value in self.known.get("variables", {}).items()}
        return values | {"SERIES": self.result.series, "PASS": self.result.label, "OUT": str(self.out)}

    @property
    def out(self) -> Path | None:
        """Its output folder on this machine, or None when it is not there any more.

        A later run that writes to the same place moves it aside: whose folder it is, its `metrics.json` tells.
        """
        path = Path(str(self.known.get("out_here", "")))
        if not path.is_absolute() or not path.name:
            return None
        aside = sorted(path.parent.glob(f"{escape(path.name)}-earlier*"))
        told = {one: _page_of(one) for one in (path, *aside) if one.is_dir()}
        mine = [one for one, page in told.items() if page == dict(self.result.metrics)]
        if len(mine) > 1 and self.result.origin == "run":
            # Two that came out alike: a run writes it as it collects.
            mine.sort(key=lambda one: abs(_written(one / FILE) - _seconds(self.result.collected)))
        if mine:
            return mine[0]
        # What was taken in although its own `metrics.json` says otherwise is marked, and found all the same.
        told_so = self.result.origin != "run" and bool(self.result.marks)
        return path if path in told and (told[path] is None or told_so) else None


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _seconds(stamp: str) -> float:
    try:
        return datetime.fromisoformat(stamp).timestamp()
    except ValueError:
        return 0.0


def _page_of(out: Path) -> object:
    """The metrics that collecting wrote into an output folder; None when there are none."""
    try:
        page = read_json(out / FILE)
    except ResultError:
        return None
    return page.get("metrics") if isinstance(page, dict) else None


class Source(Struct, frozen=True):
    """A run or an import: its runbook as its variables make it, and its passes."""

    name: str
    title: str
    runbook: Runbook
    passes: tuple[Measured, ...]
    path: Path
    imported: bool = False


class ImportRecord(Struct, frozen=True, kw_only=True):
    """`import.toml` of results that were taken in."""

    schema: int = 1
    id: str
    runbook: str
    title: str
    created: str
    variables: Mapping[str, str] = {}
    passes: tuple[str, ...] = ()


def imports() -> list[Path]:
    """The folders of all imports, newest first."""
    folder = store.home() / IMPORTS
    try:
        found = [one for one in folder.iterdir() if not one.name.startswith(".")]
        return sorted((one for one in found if (one / IMPORT_FILE).is_file()), reverse=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}") from error


def find(name: str | None) -> Source:
    """The run or import with this id, or a unique beginning of it; else the newest. Raises `UsageError`."""
    if name is None and not store.runs() and (known := imports()):
        return of_import(known[0])
    taken_in = [one for one in imports() if name and one.name.startswith(name)]
    exact = [one for one in taken_in if one.name == name]
    runs = [run for run in store.runs() if name and run.name.startswith(name)]
    if exact or (len(taken_in) == 1 and not runs):
        return of_import((exact or taken_in)[0])
    if taken_in and not any(run.name == name for run in runs):
        fits = ", ".join([*(run.name for run in runs), *(one.name for one in taken_in)])
        raise UsageError(f"{len(runs) + len(taken_in)} runs and imports begin with {name!r}: {fits}")
    return of_folder(store.find(name))


def of_folder(run: RunFolder) -> Source:
    """A run's passes in schedule order."""
    state = store.read(run)
    runbook = of_run(run.runbook, state.variables)
    passes = tuple(
        Measured(state.run, folder, one, provenance_in(folder))
        for one in stored(run, state, runbook)
        for folder in (run.pass_folder(f"{one.series}/{one.label}"),)
    )
    return Source(state.run, state.title, runbook, passes, run.path)


def of_import(folder: Path) -> Source:
    """The passes of results that were taken in. Raises `OmniError`."""
    try:
        record = msgspec.toml.decode((folder / IMPORT_FILE).read_bytes(), type=ImportRecord)
    except (OSError, msgspec.MsgspecError) as error:
        raise OmniError(f"{folder / IMPORT_FILE} cannot be read: {error}") from error
    runbook = narrow(load(folder / "runbook"), record.variables)
    run = RunFolder(folder)
    passes = tuple(measured_in(run.pass_folder(scope), record.id) for scope in record.passes)
    return Source(record.id, record.title, runbook, passes, folder, imported=True)


def measured_in(folder: Path, run: str) -> Measured:
    """The pass in a folder, from its small files alone; one that cannot be read is there as incomplete."""
    result = in_folder(folder) or unreadable(folder, OmniError("the pass has not begun"))
    return Measured(run, folder, result, provenance_in(folder))


def in_folder(folder: Path) -> PassResult | None:
    """The pass in a folder, from its small files alone; None when it has not begun."""
    try:
        try:
            return standing(folder, read_pass(folder))
        except FileNotFoundError:
            return uncollected(folder)
    except (OSError, msgspec.MsgspecError, OmniError) as error:
        return unreadable(folder, error)


def standing(folder: Path, result: PassResult) -> PassResult:
    """The stored pass as it stands now: with its marks, and incomplete while a step of it is not done."""
    if folder.name != result.label:
        # The first of them: only some are told in a list.
        aside = ("moved aside: the pass was begun again", *result.reasons)
        return msgspec.structs.replace(result, complete=False, reasons=aside)
    if result.origin != "run":
        return result
    found = store.read_standing(folder)
    if found is None:
        return _from_state(folder, result)
    return judged(result, found, result.steps)


def uncollected(folder: Path) -> PassResult | None:
    """A pass that has left no metrics; None when it has not even begun."""
    found = store.read_standing(folder)
    if found is None or not found.began:
        return None
    label = _ASIDE.sub("", folder.name)
    aside = ("moved aside: the pass was begun again",) if label != folder.name else ()
    scored = _scored(folder, label) if found.scored is None else found.scored
    return PassResult(
        *(folder.parent.name, label, scored, False, {}),
        reasons=(*("not collected",) * scored, *aside),
        marks=found.marks,
        rehearsal=found.rehearsal,
        runbook=found.runbook,
        title=found.title,
        collected=found.began,
    )


def unreadable(folder: Path, error: Exception) -> PassResult:
    """A pass whose small files cannot be read: it is there, and incomplete."""
    label = _ASIDE.sub("", folder.name)
    # An error of ours names the file itself.
    reason = str(error) if isinstance(error, OmniError) else f"metrics.json: {error}"
    return PassResult(folder.parent.name, label, _scored(folder, label), False, {}, (reason,))


def _scored(folder: Path, label: str) -> bool:
    """Whether its runbook scores the pass; one that nobody can tell of is missed among those that are."""
    try:
        return label not in load(folder.parents[2] / "runbook").passes.unscored
    except OmniError:
        return True


def _from_state(folder: Path, result: PassResult) -> PassResult:
    """For passes without the small file: what the run's state says."""
    run = RunFolder(folder.parents[2])
    try:
        state = store.read(run)
        plan = lay_out(of_run(run.runbook, state.variables), state.schedule)
    except OmniError as error:
        return msgspec.structs.replace(result, complete=False, reasons=(*result.reasons, f"its run: {error}"))
    scope = f"{result.series}/{result.label}"
    steps = tuple(one.step.id for one in plan if one.scope == scope)
    return judged(result, store.standing_of(state, scope), steps)


def provenance_in(folder: Path) -> dict[str, Any]:
    """What is stored of how a pass was measured; empty when it cannot be read, and so not known."""
    try:
        return tomllib.loads((folder / "provenance.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
