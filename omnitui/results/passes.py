"""What is stored of a pass: its metrics, whether they may be averaged, and why not if so."""

import math
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from omnitui.model import Passed, PassRecord, RunState, Skipped
from omnitui.plan import Plan, lay_out
from omnitui.results.files import ResultError, read_json, search
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import expand
from omnitui.store import RunFolder


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

    @property
    def left_out(self) -> str:
        """Why the pass is not averaged, or an empty string."""
        if not self.scored:
            return "not scored"
        return "; ".join((*self.reasons, *self.marks)) or ("" if self.complete else "incomplete")


def read_metrics(
    runbook: Runbook, out: Path, values: Mapping[str, str]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Every metric of the runbook, and what is wrong with those that have no finite number. Never a made-up 0."""
    metrics: dict[str, float] = {}
    wrong: list[str] = []
    for metric in runbook.metrics:
        file = expand(metric.file, values)
        try:
            value = search(metric.path, read_json(out / file))
        except ResultError as error:
            wrong.append(f"{metric.id}: {error}")
            continue
        if value is None:
            wrong.append(f"{metric.id}: {metric.path} is missing in {file}")
        elif isinstance(value, bool) or not isinstance(value, int | float):
            wrong.append(f"{metric.id}: {metric.path} is {value!r}, no number")
        elif isinstance(value, int) and abs(value) > sys.float_info.max:
            wrong.append(f"{metric.id}: {metric.path} is too large")
        elif not math.isfinite(value):
            wrong.append(f"{metric.id}: {metric.path} is {value}")
        else:
            metrics[metric.id] = value
    return metrics, tuple(wrong)


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
            data = (run.pass_folder(scope) / "metrics.json").read_bytes()
            result = msgspec.json.decode(data, type=PassResult)
            found.append(_judged(msgspec.structs.replace(result, marks=marks), plan, state))
        except FileNotFoundError:
            found.append(PassResult(series, label, scored, False, {}, ("not collected",) * scored, marks))
        except (OSError, msgspec.MsgspecError) as error:
            found.append(PassResult(series, label, scored, False, {}, (f"metrics.json: {error}",), marks))
    return [msgspec.structs.replace(one, rehearsal=state.rehearsal) for one in found]


def _judged(result: PassResult, plan: Plan, state: RunState) -> PassResult:
    # Files may be complete while a step of the pass is red, also one that comes after the collecting.
    scope = f"{result.series}/{result.label}"
    steps = (one for one in plan if one.scope == scope)
    red = [one.step.id for one in steps if not isinstance(state.step(one.id).status, Passed | Skipped)]
    if not red:
        return result
    reasons = (*result.reasons, f"step {red[0]} has not passed")
    return msgspec.structs.replace(result, complete=False, reasons=reasons)
