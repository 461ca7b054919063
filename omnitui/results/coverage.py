"""Coverage: whether every workload of a pass has all its samples, each once, none failed, from this pass."""

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omnitui.readings import CoverageReading, WorkloadReading
from omnitui.results.audio import AudioCheck, check_audio
from omnitui.results.files import ResultError, is_older, read_json, search
from omnitui.runbook.measured import Workload
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import expand

_SHOWN = 5
_MOST = 10**9
"""Samples that nobody has: such a count is nonsense, and may be too large to be stored."""


def read_coverage(
    runbook: Runbook, out: Path, values: Mapping[str, str], not_before: float
) -> tuple[CoverageReading, dict[str, AudioCheck]]:
    """The coverage of the pass whose output is in `out`; `not_before` (epoch seconds) is when it began."""
    audio: dict[str, AudioCheck] = {}
    found = tuple(_workload(workload, out, values, not_before, audio) for workload in runbook.workloads)
    return CoverageReading(found), audio


def _workload(
    workload: Workload, out: Path, values: Mapping[str, str], not_before: float, audio: dict[str, AudioCheck]
) -> WorkloadReading:
    wanted = expand(workload.expect, values)
    if not wanted.strip().isdecimal() or len(wanted.strip()) > len(str(_MOST)):
        return WorkloadReading(workload.id, 0, wrong=(f"the number of samples it expects is {wanted!r}",))
    expected = int(wanted)
    file = out / expand(workload.file, values)
    try:
        data = read_json(file)
        rows = search(workload.rows, data) if workload.rows else None
    except ResultError as error:
        return WorkloadReading(workload.id, expected, wrong=(str(error),))
    wrong = [f"{file.name} is older than this pass"] * is_older(file, not_before)
    if workload.rows and not isinstance(rows, list):
        return WorkloadReading(workload.id, expected, wrong=(*wrong, f"{workload.rows} is no list"))
    named: list[str] = []
    concerned: dict[str, tuple[str, ...]] = {}
    if isinstance(rows, list):
        keys = [row.get(workload.key) if isinstance(row, dict) else None for row in rows]
        wrong += _counts(rows, keys, expected, workload.key)
        named = [str(one) for one in keys if one is not None]
        concerned["twice"] = tuple(one for one, count in Counter(named).items() if count > 1)
        concerned["not finite"] = _not_finite(rows, keys, wrong)
        count, unique = len(rows), len(set(map(str, keys)))
    else:
        before = len(wrong)
        count = unique = _told(workload.count, data, wrong)
        if count != expected and len(wrong) == before:
            wrong.append(f"{count} of {expected} samples")
    failed, concerned["failed"] = _lost("failed", workload.failed, data, wrong)
    skipped, concerned["skipped"] = _lost("skipped", workload.skipped, data, wrong)
    wrong += _fields(workload, data, values, out, not_before)
    if workload.audio:
        files = sorted(out.glob(expand(workload.audio, values)))
        audio[workload.id] = checked = check_audio(files)
        concerned["no audio"] = _audio(checked, files, named, expected, wrong)
        wrong += _few(tuple(f"{one.name} is older than this pass" for one in files if is_older(one, not_before)))
    ids = {what: found for what, found in concerned.items() if found}
    # A list has the lost ones in it; a number tells how many are done.
    done = max(0, unique - failed - skipped) if workload.rows else count
    return WorkloadReading(workload.id, expected, count, unique, tuple(wrong), done, failed, skipped, ids)


def _audio(
    checked: AudioCheck, files: list[Path], named: list[str], expected: int, wrong: list[str]
) -> tuple[str, ...]:
    """The samples without a WAV: `wav_path` is of the machine that measured, so a file is found by its id."""
    silent = tuple(sorted(set(named) - {file.stem for file in files}))
    if checked.files != expected:
        wrong.append(f"{checked.files} of {expected} audio files")
    if silent:
        wrong.append(f"no audio for {_listed(silent)}")
    wrong += _few(checked.wrong)
    return silent


def told(reading: WorkloadReading) -> str:
    """How many samples were asked for, done, failed, skipped and are missing, with the ids, in one line."""
    if reading.done is None:
        return f"asked {reading.expected}, done unknown"
    parts = [f"asked {reading.expected}", f"done {reading.done}", f"failed {reading.failed}"]
    parts += [f"skipped {reading.skipped}", f"missing {reading.missing}"]
    ids = "".join(f"; {what}: {_listed(found)}" for what, found in reading.ids.items())
    return ", ".join(parts) + ids


def _not_finite(rows: list[Any], ids: list[Any], wrong: list[str]) -> tuple[str, ...]:
    """The samples with a NaN or an infinity: what is computed over all of them may have passed over these."""
    found = tuple(str(one) for one, row in zip(ids, rows, strict=True) if _is_not_finite(row))
    if found:
        wrong.append(f"{len(found)} with a number that is not finite: {_listed(found)}")
    return found


def _is_not_finite(row: Any) -> bool:
    """Whether a number anywhere in a sample is NaN or infinite."""
    left = [row]
    while left:
        value = left.pop()
        if isinstance(value, float) and not math.isfinite(value):
            return True
        if isinstance(value, dict | list):
            left += value.values() if isinstance(value, dict) else value
    return False


def _listed(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more


def _lost(what: str, path: str, data: Any, wrong: list[str]) -> tuple[int, tuple[str, ...]]:
    """How many samples failed or were skipped, and which if the file tells; none where nothing tells."""
    if not path:
        return 0, ()
    try:
        found = search(path, data)
    except ResultError as error:
        wrong.append(str(error))
        return 0, ()
    if isinstance(found, list):
        if found:
            wrong.append(f"{len(found)} {what}: {_listed(tuple(map(str, found)))}")
        return len(found), tuple(map(str, found))
    count = _count(path, found, wrong)
    if count:
        wrong.append(f"{count} {what}")
    return count, ()


def _told(path: str, data: Any, wrong: list[str]) -> int:
    """How many samples a file without rows says it has."""
    try:
        return _count(path, search(path, data), wrong)
    except ResultError as error:
        wrong.append(str(error))
        return 0


def _count(path: str, count: Any, wrong: list[str]) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or abs(count) > _MOST:
        wrong.append(f"{path} is {'missing' if count is None else repr(count)}, no number of samples")
        return 0
    return count


def _counts(rows: list[Any], ids: list[Any], expected: int, key: str) -> list[str]:
    wrong = []
    if len(rows) != expected:
        wrong.append(f"{len(rows)} of {expected} samples")
    if None in ids:
        wrong.append(f"{ids.count(None)} samples without {key}")
    twice = [str(one) for one, count in Counter(map(str, ids)).items() if count > 1]
    if twice:
        wrong.append(f"ids more than once: {', '.join(twice[:_SHOWN])}")
    return wrong


def _fields(workload: Workload, data: Any, values: Mapping[str, str], out: Path, not_before: float) -> list[str]:
    wrong = []
    for check in workload.checks:
        wanted = expand(check.equals, values)
        other = out / expand(check.file, values) if check.file else None
        try:
            value = search(check.path, read_json(other) if other else data)
        except ResultError as error:
            wrong.append(str(error))
            continue
        if other and is_older(other, not_before):
            wrong.append(f"{other.name} is older than this pass")
        elif value is None:
            wrong.append(f"{check.path} is missing")
        elif not _same(value, wanted):
            wrong.append(f"{check.path} is {value} instead of {wanted}")
    return wrong


def _same(value: object, wanted: str) -> bool:
    if isinstance(value, bool):
        return str(value).lower() == wanted
    if isinstance(value, int | float):
        try:
            return float(value) == float(wanted)
        except ValueError:
            return False
    return str(value) == wanted


def _few(reasons: tuple[str, ...]) -> list[str]:
    shown = list(reasons[:_SHOWN])
    if len(reasons) > _SHOWN:
        shown.append(f"and {len(reasons) - _SHOWN} more audio files")
    return shown
