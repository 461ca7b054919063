"""Taking in results that were measured before OmniTUI was there. What is not known of them stays unknown."""

import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import tomli_w
from msgspec import Struct

from omnitui import store
from omnitui.errors import OmniError, StoreError, UsageError
from omnitui.results import catalog
from omnitui.results.collecting import Collected, read_output, sha256_of
from omnitui.results.files import ResultError, read_json
from omnitui.results.keys import commit_of, gpu_of
from omnitui.results.passes import FILE, PassResult
from omnitui.results.provenance import definition_sha256, told
from omnitui.results.sources import IMPORT_FILE, IMPORTS, ImportRecord
from omnitui.runbook.load import digest, files_of, load
from omnitui.runbook.narrow import narrow
from omnitui.runbook.schema import Runbook, Variable
from omnitui.runbook.variables import BUILT_IN, chosen, names_in, resolved
from omnitui.store import RunFolder

_ASIDE = re.compile(r"-(incomplete|earlier)(-\d+)?$")
_NAME = re.compile(r"\w[\w.-]*")
FACTS = ("gpu.names", "gpu.uuids", "gpu.driver", "host.name", "host.cpu", "host.cpus", "host.boot", "commit")
"""What the operator may tell of results that were measured by hand."""


class TakenIn(Struct, frozen=True):
    """One folder as it was taken in."""

    folder: Path
    result: PassResult
    lines: tuple[str, ...]


_Read = tuple[TakenIn, dict[str, Any], Collected]
"""One folder, with its provenance and all that was read of it."""


class Asked(Struct, frozen=True, kw_only=True):
    """What the operator says about the folders."""

    series: str = ""
    variables: Mapping[str, str] = {}
    facts: Mapping[str, str] = {}
    ci: bool = False
    """They come from CI: another setup, never beside scored passes."""


def take_in(runbook_folder: Path, folders: Sequence[Path], asked: Asked) -> tuple[Path, list[TakenIn]]:
    """Read the folders as passes of a runbook and store them as one import: where, each. Raises `OmniError`."""
    whole = load(runbook_folder)
    if not whole.workloads:
        raise UsageError(f"{runbook_folder.name} measures nothing that could be collected: it has no workloads")
    if wrong := next((name for name in asked.facts if name not in FACTS), ""):
        raise UsageError(f"--fact {wrong}=...: not one of {', '.join(FACTS)}")
    if empty := next((name for name, value in asked.facts.items() if not value.strip()), ""):
        raise UsageError(f"--fact {empty}= says nothing; leave out what is not known")
    values = _values(whole, asked.variables)
    runbook = narrow(whole, values)
    if asked.series and not _NAME.fullmatch(asked.series):
        raise UsageError(
            f"--series {asked.series}: a name has letters, digits, and . _ - behind the first of them"
        )
    _refuse(folders)
    # Their names are read, so `..` has none; a link keeps its own.
    read = [
        _one(whole, runbook_folder, Path(os.path.abspath(one)), values, asked)  # noqa: PTH100
        for one in folders
    ]
    found = [one for one, _, _ in read]
    scopes = tuple(f"{one.result.series}/{one.result.label}" for one in found)
    if twice := next((scope for scope in scopes if scopes.count(scope) > 1), ""):
        raise UsageError(f"two of the folders would be {twice}; take them in apart, with --series")
    home = _named(runbook_folder.name)
    # Nobody sees it before it is whole.
    fresh = home.with_name(f".{home.name}")
    try:
        _fill(fresh, runbook_folder, runbook, values, read)
        fresh.rename(home)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        home.rmdir()
        raise
    _index(home, scopes)
    return home, found


def _named(runbook: str) -> Path:
    """An empty folder for a new import, with a name that nobody else has."""
    stamp = re.sub(r"\D", "", store.now())[:14]
    parent = store.home() / IMPORTS
    store.make_folder(parent)
    for name in _names(f"{stamp[:8]}-{stamp[8:]}-{runbook}"):
        try:
            (parent / name).mkdir(mode=0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise StoreError(f"{parent / name} cannot be made: {error.strerror}") from error
        return parent / name
    raise AssertionError


def _fill(
    home: Path, runbook_folder: Path, runbook: Runbook, values: Mapping[str, str], read: Sequence[_Read]
) -> None:
    """Write the import's runbook, its passes, and what it is."""
    for file in files_of(runbook_folder):
        copy = home / "runbook" / file.relative_to(runbook_folder)
        store.make_folder(copy.parent)
        try:
            shutil.copyfile(file, copy)
        except OSError as error:
            raise StoreError(f"{copy} cannot be written: {error.strerror}") from error
    name = home.name.removeprefix(".")
    for one in read:
        _write(RunFolder(home), name, *one)
    record = ImportRecord(
        id=name,
        runbook=runbook_folder.name,
        title=runbook.title,
        created=store.now(),
        variables=dict(values),
        passes=tuple(f"{one.result.series}/{one.result.label}" for one, _, _ in read),
    )
    store.replace_file(home / IMPORT_FILE, tomli_w.dumps(msgspec.to_builtins(record)).encode())


def _refuse(folders: Sequence[Path]) -> None:
    """Refuse what is no folder, one that is named twice, and a name that cannot be stored."""
    seen: dict[Path, Path] = {}
    for folder in folders:
        if not folder.is_dir():
            raise UsageError(f"{folder} is no folder")
        try:
            str(folder.absolute()).encode()
        except UnicodeEncodeError as error:
            raise UsageError(f"{str(folder)!r} is no UTF-8: rename it, or name a link to it") from error
        where = folder.resolve()
        if where in seen:
            raise UsageError(f"{folder} and {seen[where]} are one folder: a measurement counts once")
        seen[where] = folder


def _index(home: Path, scopes: Iterable[str]) -> None:
    try:
        for scope in scopes:
            catalog.add(RunFolder(home).pass_folder(scope))
    except OmniError:
        # Only a cache: the next refresh finds them.
        return


def _values(runbook: Runbook, given: Mapping[str, str]) -> dict[str, str]:
    """The values under which the folders are read: what is given, else the defaults. Handed ones are not known."""
    # What has no default and is not told stays without a value; who needs it for the reading asks for it.
    needed = {name: variable for name, variable in runbook.variables.items() if variable.default is None}
    freed = {
        name: Variable(help="", default="")
        for name, variable in needed.items()
        if name not in given and not (variable.secret or variable.handed)
    }
    own = chosen(msgspec.structs.replace(runbook, variables={**runbook.variables, **freed}), given)
    own = {name: value for name, value in own.items() if name not in freed}
    later = [
        *BUILT_IN,
        *freed,
        *(name for name, variable in runbook.variables.items() if variable.handed or variable.secret),
    ]
    found = resolved(own, {name: f"${{{name}}}" for name in later})
    return {name: found[name] for name in own if not names_in(found[name])}


def _names(base: str) -> Iterable[str]:
    yield base
    number = 2
    while True:
        yield f"{base}-{number}"
        number += 1


def _one(whole: Runbook, runbook_folder: Path, folder: Path, values: Mapping[str, str], asked: Asked) -> _Read:
    runbook = narrow(whole, values)
    label, aside = label_of(runbook, folder.name)
    series = asked.series or named(folder.parent.name) or "imported"
    label = named(label) or "pass"
    here = {**values, "OUT": str(folder), "SERIES": series, "PASS": label}
    found = read_output(runbook, folder, here)
    marks = (*((f"its folder is called {folder.name}",) if aside else ()), *_own_metrics(folder, found))
    known = _provenance(runbook, runbook_folder, folder, here, asked)
    result = PassResult(
        series=series,
        label=label,
        scored=label not in runbook.passes.unscored,
        complete=found.complete,
        metrics=found.metrics,
        reasons=found.reasons,
        marks=marks,
        rates=found.rates,
        rehearsal=known["rehearsal"],
        runbook=runbook_folder.name,
        title=runbook.title,
        origin=known["origin"],
        collected=store.now(),
        commit=commit_of(known),
        gpu=gpu_of(known),
        host=known.get("host", {}).get("name", ""),
        sha256=sha256_of(whole, folder, here),
    )
    return TakenIn(folder, result, tuple(found.lines())), known, found


def named(text: str) -> str:
    """A folder's name as the name of a series or a pass, which is a folder again; empty when nothing is left."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")


def label_of(runbook: Runbook, name: str) -> tuple[str, bool]:
    """The pass that an output folder's name stands for, and whether the name says that it was moved aside."""
    shape = re.escape(Path(runbook.passes.out).name or "${PASS}").replace(re.escape("${PASS}"), "(?P<label>.+)", 1)
    match = re.fullmatch(shape, name) if "(?P<label>" in shape else None
    label = match["label"] if match else name
    return label, bool(_ASIDE.search(label))


def _own_metrics(folder: Path, found: Collected) -> list[str]:
    """How the `metrics.json` that already lies there differs from what its files say now."""
    file = folder / "metrics.json"
    if not file.exists():
        return []
    try:
        body = read_json(file)
    except ResultError:
        body = None
    theirs = body.get("metrics") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(theirs, dict):
        return ["its own metrics.json cannot be read"]
    other = sorted(
        key for key in theirs.keys() | found.metrics.keys() if theirs.get(key) != found.metrics.get(key)
    )
    marks = [f"its own metrics.json differs in {', '.join(other[:3])}"] if other else []
    return [
        *marks,
        *(["its own metrics.json says that it is incomplete"] if body.get("complete", True) is not True else []),
    ]


def _provenance(
    runbook: Runbook, runbook_folder: Path, folder: Path, values: Mapping[str, str], asked: Asked
) -> dict[str, Any]:
    given = {name: value for name, value in asked.variables.items() if name in values}
    facts = asked.facts
    known: dict[str, Any] = {
        "runbook": runbook_folder.name,
        "runbook_sha256": digest(runbook_folder),
        "definition_sha256": definition_sha256(runbook, runbook_folder),
        "origin": "ci" if asked.ci else "import",
        "rehearsal": _is_rehearsed(folder),
        # Only what the operator has said: a default may not be what was used.
        "variables": given,
        "told": _told(told(runbook, folder, values), facts),
        "out": str(folder),
        "out_here": str(folder.resolve()),
    }
    for table in ("host", "gpu"):
        name = {"gpu": "gpus"}.get(table, table)
        if said := {key.partition(".")[2]: value for key, value in facts.items() if key.startswith(f"{table}.")}:
            known[name] = {key: [value] if key in ("names", "uuids") else value for key, value in said.items()}
    return known


def _is_rehearsed(folder: Path) -> bool:
    """Whether the folder is of a rehearsal, whose stand-ins made its figures up."""
    home = store.home().resolve()
    for one in folder.resolve().parents:
        if one.parent == home / "rehearsals":
            return True
        if one.parent == home / "runs":
            return store.read(RunFolder(one)).rehearsal
    return False


def _told(output: dict[str, str], facts: Mapping[str, str]) -> dict[str, str]:
    """What the output tells, and the commit that the operator does. Raises `UsageError` where they disagree."""
    commit = facts.get("commit")
    if commit is None:
        return output
    seen = output.get("commit") or commit
    if not (seen.startswith(commit) or commit.startswith(seen)):
        raise UsageError(f"--fact commit={commit}: the output itself says {seen}")
    return {**output, "commit": max(seen, commit, key=len)}


def _write(run: RunFolder, name: str, taken: TakenIn, known: Mapping[str, Any], found: Collected) -> None:
    folder = run.pass_folder(f"{taken.result.series}/{taken.result.label}")
    store.make_folder(folder)
    text = tomli_w.dumps({**known, "run": name, "collected": taken.result.collected})
    store.replace_file(folder / "provenance.toml", text.encode())
    store.replace_file(folder / FILE, msgspec.json.encode(taken.result))
    stored = {"marker": "", "reading": found.coverage}
    store.replace_file(folder / "coverage.json", msgspec.json.encode(stored))
