"""What must be equal for two numbers to be compared, as far as this host can tell."""

import hashlib
import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

import omnitui
from omnitui.model import PINNED, RUN_WIDE, Passed, RunState, Skipped
from omnitui.places.local import boot_id
from omnitui.results.files import ResultError, read_json, search, worded
from omnitui.runbook.load import files_of
from omnitui.runbook.measured import Known
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import expand
from omnitui.samples import Gpu, Line, Sample, is_wanted, wanted_of

_LONG = 200
"""A text that is longer is told by its SHA-256."""


def provenance(state: RunState, scope: str, variables: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The provenance of one pass, ready for TOML. Secrets are never among the variables.

    `variables` are those of the pass, resolved, with the values that its series has for itself.
    """
    series = scope.partition("/")[0]
    below = {key: record for key, record in sorted(state.steps.items()) if key.startswith(_scopes(scope))}
    edited = [key for key, record in below.items() if record.edited]
    handed = {key: dict(value) for key, value in state.handed.items() if f"{key}/".startswith(_scopes(scope))}
    return {
        "runbook": state.runbook,
        "runbook_sha256": state.runbook_sha256,
        "run": state.run,
        "pass": scope,
        "origin": "run",
        "omnitui": omnitui.__version__,
        "variables": dict({**state.variables, **state.series.get(series, {})} if variables is None else variables),
        "series": dict(state.series.get(series, {})),
        "handed": handed,
        "edited_steps": edited,
        "edited": {key.rpartition("/")[2]: below[key].edited for key in edited},
        "skipped": {
            key.rpartition("/")[2]: record.status.reason
            for key, record in below.items()
            if isinstance(record.status, Skipped)
        },
        "rehearsal": state.rehearsal,
        "host": host(),
        "packages": packages(),
    }


def pinned(state: RunState, scope: str) -> dict[str, list[str]]:
    """What was read back of the pass's steps that were to keep to CPUs of their own; nothing without any."""
    steps = ((key, record.status) for key, record in state.steps.items() if key.startswith(_scopes(scope)))
    told = [
        f"{key.rpartition('/')[2]}: {evidence.removeprefix(f'{PINNED}: ')}"
        for key, status in steps
        if isinstance(status, Passed)
        for evidence in status.evidence
        if evidence.startswith(f"{PINNED}: ")
    ]
    return {"pinned": told} if told else {}


def remedies(events: Iterable[Mapping[str, Any]], scope: str) -> list[dict[str, Any]]:
    """The remedies taken at steps which the pass stands on, as the journal tells; `exit` where it is known."""
    found: list[dict[str, Any]] = []
    for event in events:
        if not str(event.get("step", "")).startswith(_scopes(scope)):
            continue
        what = {name: str(event.get(name, "")) for name in ("step", "remedy", "command")}
        if event["event"] == "remedy_begun":
            found.append(what)
        elif event["event"] == "remedy_taken" and found and isinstance(event.get("exit"), int):
            # One at a time holds the run's lock, so the last that began is the one that ended.
            found[-1]["exit"] = event["exit"]
    return found


def host() -> dict[str, Any]:
    """This machine."""
    return {
        "name": platform.node(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu": _cpu_model(),
        "cpus": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [],
        "boot": boot_id(),
        "python": platform.python_version(),
    }


def gpus(lines: Iterable[Line], wanted: str) -> dict[str, Any]:
    """The cards of the run (indices or UUIDs, separated by commas) as the monitor saw them; empty: not known."""
    names = wanted_of(wanted)
    if not names:
        return {"count": 0}
    seen: dict[str, Gpu] = {}
    for line in lines:
        if isinstance(line, Sample):
            seen |= {card.uuid: card for card in line.gpu.cards}
    cards = [card for name in names for card in seen.values() if is_wanted((name,), card.uuid, card.index)]
    if len(cards) != len(names):
        return {}
    known = {"count": len(cards), "names": [card.name for card in cards], "uuids": [card.uuid for card in cards]}
    return known | ({"driver": driver} if (driver := _driver()) else {})


def _driver() -> str:
    with suppress(OSError):
        # `NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  ...`
        for word in Path("/proc/driver/nvidia/version").read_text().split():
            if word[:1].isdigit() and word.count(".") >= 1:
                return word
    return ""


def definition_sha256(runbook: Runbook, folder: Path) -> str:
    """SHA-256 of what the runbook measures and how: the passes' steps, shells, workloads, metrics, scripts.

    What only describes (titles, notes, remedies, references) is not in it, nor are phases outside of passes.
    """
    measured: dict[str, object] = {
        "steps": [
            (step.id, step.env, getattr(step, "run", ""), getattr(step, "server", ""))
            for phase in runbook.phases
            if phase.per == "pass"
            for step in phase.steps
        ],
        "environments": runbook.environments,
        "workloads": [
            (w.id, w.file, w.rows, w.key, w.count, w.expect, w.audio, w.checks) for w in runbook.workloads
        ],
        "metrics": [(m.id, m.file, m.path, m.unit) for m in runbook.metrics],
        "unscored": runbook.passes.unscored,
    }
    sha = hashlib.sha256(msgspec.json.encode(measured, order="deterministic"))
    for file in sorted(files_of(folder)):
        # Rules on the numbers do not change the numbers.
        if file.suffix != ".toml":
            sha.update(os.fsencode(file.relative_to(folder)) + b"\0" + file.read_bytes())
    return sha.hexdigest()


def told(runbook: Runbook, out: Path, values: Mapping[str, str]) -> dict[str, str]:
    """What the pass's output tells of how it was measured. What cannot be read is not in it."""
    found = {}
    for one in runbook.provenance:
        with suppress(ResultError):
            if (value := _one(one, out, values)) is not None:
                found[one.id] = value
    return found


def _one(known: Known, out: Path, values: Mapping[str, str]) -> str | None:
    if known.value:
        return expand(known.value, values)
    if known.from_step:
        return values.get(known.from_step)
    file = out / expand(known.file, values)
    if known.path:
        value = search(known.path, read_json(file))
        return None if value is None else _short(msgspec.json.encode(worded(value)).decode().strip('"'))
    try:
        return _short(file.read_text(encoding="utf-8", errors="replace").strip())
    except OSError as error:
        raise ResultError(f"{file.name} cannot be read: {error.strerror}") from error


def _short(text: str) -> str:
    if len(text) <= _LONG and "\n" not in text:
        return text
    return f"{len(text.splitlines())} lines, sha256 {hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _scopes(scope: str) -> tuple[str, ...]:
    """The pass itself and the wider scopes whose steps it stands on."""
    return (f"{scope}/", f"{scope.partition('/')[0]}/{RUN_WIDE}/", f"{RUN_WIDE}/{RUN_WIDE}/")


def _cpu_model() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def packages() -> dict[str, str]:
    """The freeze list of this interpreter."""
    return dict(sorted((d.metadata["Name"], d.version) for d in metadata.distributions() if d.metadata["Name"]))
