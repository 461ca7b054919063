"""What is stored of a pass: its metrics, whether they may be averaged, and why not if so."""

import math
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from omnitui.model import PassRecord, RunState
from omnitui.plan import Plan, lay_out
from omnitui.readings import CoverageReading
from omnitui.results.files import ResultError, is_older, read_json, search
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import expand
from omnitui.store import PassStanding, RunFolder, standing_of

FILE = "metrics.json"
AUDIO = {"audio.files": "WAV files of the pass.", "audio.empty_or_nan": "Those that are empty or not finite."}
"""Metrics of every pass with audio, under the pages' names."""

_TOLD = 3
"""So many reasons are told wherever the pass is; the pass itself tells all."""


class PassResult(Struct, frozen=True):
    """`passes/<series>/<label>/metrics.json`. A metric that could not be read is not in `metrics`."""

    series: str
    label: str
    scored: bool
    complete: bool
    metrics: Mapping[str, float]
    reasons: tuple[str, ...] = ()
    """Why it is incomplete, or which metrics are missing."""
    marks: tuple[str, ...] = ()
    """Why it is left out of the averages though its files are complete."""
    rates: tuple[int, ...] = ()
    rehearsal: bool = False
    """Its programs were stand-ins; such a pass is never beside a real one."""
    steps: tuple[str, ...] = ()
    """The ids of its steps: it is whole only when all of them are done."""
    runbook: str = ""
    title: str = ""
    origin: str = "run"
    collected: str = ""
    commit: str = ""
    gpu: str = ""
    host: str = ""
    sha256: str = ""
    """Of what its result files hold, wherever they lie; empty when none could be read."""

    @property
    def left_out(self) -> str:
        """Why the pass is not averaged, or an empty string."""
        if not self.scored:
            return "not scored"
        more = len(self.reasons) - _TOLD
        few = self.reasons if more < 2 else (*self.reasons[:_TOLD], f"and {more} more")
        return "; ".join((*few, *self.marks)) or ("" if self.complete else "incomplete")


def read_metrics(
    runbook: Runbook,
    out: Path,
    values: Mapping[str, str],
    coverage: CoverageReading | None = None,
    not_before: float = 0.0,
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Every metric of the runbook, and what is wrong with those that have no finite number. Never a made-up 0.

    Some clients write 0 for the mean of nothing: a 0 from a file that has no sample done is no figure. A file that
    is older than the pass, which began at `not_before` (epoch seconds), is of another one.
    """
    metrics: dict[str, float] = {}
    wrong = _stale(runbook, out, values, not_before)
    nothing = _without_samples(runbook, values, coverage)
    for metric in runbook.metrics:
        file = expand(metric.file, values)
        try:
            value = search(metric.path, read_json(out / file))
        except ResultError as error:
            wrong.append(f"{metric.id}: {error}")
            continue
        if reason := _refused(value):
            wrong.append(f"{metric.id}: {metric.path} {reason}" + (f" in {file}" if value is None else ""))
        elif value == 0 and file in nothing:
            wrong.append(f"{metric.id}: {metric.path} is 0 of no samples: no figure")
        else:
            metrics[metric.id] = value
    return metrics, tuple(wrong)


def _stale(runbook: Runbook, out: Path, values: Mapping[str, str], not_before: float) -> list[str]:
    """The files of metrics that are older than the pass, but for those that its coverage tells."""
    covered = {expand(workload.file, values) for workload in runbook.workloads}
    covered |= {expand(check.file, values) for workload in runbook.workloads for check in workload.checks}
    files = dict.fromkeys(expand(metric.file, values) for metric in runbook.metrics)
    return [
        f"{file} is older than this pass"
        for file in files
        if file not in covered and is_older(out / file, not_before)
    ]


def _refused(value: object) -> str:
    """Why a value is no metric."""
    if value is None:
        return "is missing"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"is {value!r}, no number"
    return "" if math.isfinite(value) else f"is {value}"


def _without_samples(runbook: Runbook, values: Mapping[str, str], coverage: CoverageReading | None) -> set[str]:
    """The result files in which no sample was done."""
    readings = {one.id: one for one in coverage.workloads} if coverage else {}
    done = [(expand(w.file, values), readings[w.id].done) for w in runbook.workloads if w.id in readings]
    return {file for file, _ in done if all(count == 0 for name, count in done if name == file)}


def stored(run: RunFolder, state: RunState, runbook: Runbook) -> list[PassResult]:
    """All passes of a run in schedule order; one without stored metrics is there as incomplete."""
    found = []
    plan = lay_out(runbook, state.schedule)
    # The run's variables may leave no step of a pass: then it is none.
    begun = {planned.scope for planned in plan}
    for scope in (scope for scope in state.schedule if scope in begun):
        series, _, label = scope.partition("/")
        scored = label not in runbook.passes.unscored
        marks = state.passes.get(scope, PassRecord()).marks
        try:
            result = read_pass(run.pass_folder(scope))
            found.append(judged(result, standing_of(state, scope), _steps(plan, scope)))
        except FileNotFoundError:
            found.append(PassResult(series, label, scored, False, {}, ("not collected",) * scored, marks))
        except (OSError, msgspec.MsgspecError) as error:
            found.append(PassResult(series, label, scored, False, {}, (f"metrics.json: {error}",), marks))
    return [msgspec.structs.replace(one, rehearsal=state.rehearsal) for one in found]


def _steps(plan: Plan, scope: str) -> tuple[str, ...]:
    return tuple(one.step.id for one in plan if one.scope == scope)


def read_pass(folder: Path) -> PassResult:
    """What was stored of a pass. Raises `OSError` or `msgspec.MsgspecError`."""
    return _DECODER.decode((folder / FILE).read_bytes())


_DECODER = msgspec.json.Decoder(PassResult)


def judged(result: PassResult, standing: PassStanding, steps: tuple[str, ...]) -> PassResult:
    """The pass with its marks of now; incomplete while one of its steps is not done.

    Files may be complete while a step of the pass is red, also one that comes after the collecting.
    """
    done = set(standing.done)
    red = next((step for step in steps if step not in done), "")
    if not red:
        return msgspec.structs.replace(result, marks=standing.marks)
    reasons = (*result.reasons, f"step {red} has not passed")
    return msgspec.structs.replace(result, marks=standing.marks, complete=False, reasons=reasons)
