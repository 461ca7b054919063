"""Coverage: whether every workload of a pass has all its samples, each once, none failed, from this pass."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from omnitui.gates import CoverageReading, WorkloadReading
from omnitui.results.audio import AudioCheck, check_audio
from omnitui.results.files import ResultError, read_json, search
from omnitui.runbook.schema import Runbook, Workload
from omnitui.runbook.variables import expand

_SHOWN = 5


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
    if not wanted.strip().isdecimal():
        return WorkloadReading(workload.id, 0, wrong=(f"the number of samples it expects is {wanted!r}",))
    expected = int(wanted)
    file = out / expand(workload.file, values)
    try:
        data = read_json(file)
        rows = search(workload.rows, data) if workload.rows else None
    except ResultError as error:
        return WorkloadReading(workload.id, expected, wrong=(str(error),))
    wrong = []
    if file.stat().st_mtime < not_before:
        wrong.append(f"{file.name} is older than this pass")
    if workload.rows:
        if not isinstance(rows, list):
            return WorkloadReading(workload.id, expected, wrong=(*wrong, f"{workload.rows} is no list"))
        ids = [row.get(workload.key) if isinstance(row, dict) else None for row in rows]
        wrong += _counts(rows, ids, expected, workload.key)
        done, unique = len(rows), len(set(map(str, ids)))
    else:
        done = unique = _told(workload, data, wrong)
    wrong += _fields(workload, data, values, out, not_before)
    if workload.audio:
        checked = check_audio(sorted(out.glob(expand(workload.audio, values))))
        audio[workload.id] = checked
        if checked.files != expected:
            wrong.append(f"{checked.files} of {expected} audio files")
        wrong += _few(checked.wrong)
    return WorkloadReading(workload.id, expected, done, unique, tuple(wrong))


def _told(workload: Workload, data: Any, wrong: list[str]) -> int:
    """How many samples a file without rows says it has."""
    try:
        count = search(workload.count, data)
    except ResultError as error:
        wrong.append(str(error))
        return 0
    if isinstance(count, bool) or not isinstance(count, int):
        wrong.append(f"{workload.count} is {'missing' if count is None else repr(count)}, no number of samples")
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
        if other and other.stat().st_mtime < not_before:
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
