"""Collect one pass: `python -m omnitui.results.collect RUN_DIR SERIES/PASS`, run as the job of a collect step.

Prints every metric, checks coverage and audio, and writes `metrics.json` into the pass's output folder and, with
the provenance beside it, into the run's folder of the pass. The last line is RUN_COMPLETE or RUN_INCOMPLETE.
"""

import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import msgspec
import tomli_w

from omnitui import store, telemetry
from omnitui.errors import OmniError, StoreError
from omnitui.gates import CoverageReading, Green, judge_coverage
from omnitui.model import MARKER, PassRecord, RunState
from omnitui.places import Output, output_at, places_of
from omnitui.plan import lay_out
from omnitui.results.audio import AudioCheck
from omnitui.results.coverage import read_coverage
from omnitui.results.passes import PassResult, read_metrics
from omnitui.results.provenance import provenance
from omnitui.results.seen import summary
from omnitui.results.table import number
from omnitui.runbook.narrow import of_run
from omnitui.runbook.schema import Runbook
from omnitui.store import RunFolder
from omnitui.values import of_scope


def main() -> int:
    """Collect, print, write. 0 when complete, 1 when not."""
    try:
        return collect(RunFolder(Path(sys.argv[1])), sys.argv[2])
    except OmniError as error:
        _say(f"error: {error}", "RUN_INCOMPLETE")
        return 1


def collect(run: RunFolder, scope: str) -> int:
    """Collect one pass of a run; 0 when it is complete."""
    state = store.read(run)
    runbook = of_run(run.runbook, state.variables)
    values = of_scope(runbook, state, scope, run.path)
    output = output_at(runbook, state, scope, run)
    out = output.host
    coverage, audio = read_coverage(runbook, out, values, _began(runbook, state, scope))
    metrics, missing = read_metrics(runbook, out, values)
    coverage = msgspec.structs.replace(coverage, missing=missing)
    verdict = judge_coverage(coverage)
    for name, value in metrics.items():
        _say(f"{name} {number(value)}")
    rates = sorted({rate for check in audio.values() for rate in check.rates})
    for name, check in audio.items():
        _say(f"audio.{name} {check.files} files, {', '.join(map(str, check.rates))} Hz")
    reasons = () if isinstance(verdict, Green) else tuple(verdict.reason.split("; "))
    for reason in reasons:
        _say(f"wrong: {reason}")
    complete = not reasons
    _say(f"coverage.complete {complete}: {verdict.reason}")
    series, _, label = scope.partition("/")
    scored = label not in runbook.passes.unscored
    marks = state.passes.get(scope, PassRecord()).marks
    result = PassResult(series, label, scored, complete, metrics, reasons, marks, tuple(rates))
    seen = summary(telemetry.read(run, _began(runbook, state, scope)))
    known = {**provenance(state, scope), **_containers(runbook, run, state), "out": output.path, "monitor": seen}
    _write(run, scope, result, coverage, known)
    _page_metrics(output, metrics, audio, complete=complete)
    _say("RUN_COMPLETE" if complete else "RUN_INCOMPLETE")
    return 0 if complete else 1


def _began(runbook: Runbook, state: RunState, scope: str) -> float:
    """When the pass's first step began its latest attempt, in epoch seconds."""
    first = next(planned for planned in lay_out(runbook, state.schedule) if planned.scope == scope)
    attempts = state.step(first.id).attempts
    return datetime.fromisoformat(attempts[-1].began).timestamp() if attempts else 0.0


def _write(
    run: RunFolder, scope: str, result: PassResult, coverage: CoverageReading, known: Mapping[str, object]
) -> None:
    folder = run.pass_folder(scope)
    store.make_folder(folder)
    stored = {"marker": os.environ.get(MARKER, ""), "reading": coverage}
    text = tomli_w.dumps({**known, "collected": store.now()})
    store.replace_file(folder / "provenance.toml", text.encode())
    store.replace_file(folder / "metrics.json", msgspec.json.encode(result))
    store.replace_file(folder / "coverage.json", msgspec.json.encode(stored))


def _page_metrics(
    output: Output, metrics: Mapping[str, float], audio: Mapping[str, AudioCheck], *, complete: bool
) -> None:
    """The pages' own `metrics.json`: the same keys, so that their scripts go on working."""
    figures = dict(metrics)
    if audio:
        figures["audio.files"] = sum(check.files for check in audio.values())
        figures["audio.empty_or_nan"] = sum(check.empty_or_nan for check in audio.values())
    rates = sorted({rate for check in audio.values() for rate in check.rates})
    body = {"metrics": figures, "rates": rates, "complete": complete}
    if output.host.is_dir():
        try:
            store.replace_file(output.host / "metrics.json", json.dumps(body).encode())
        except StoreError:
            # The folder may belong to the container's root.
            output.place.write(f"{output.path}/metrics.json", json.dumps(body))


def _containers(runbook: Runbook, run: RunFolder, state: RunState) -> dict[str, list[dict[str, object]]]:
    """What must be equal of the containers in which the pass was measured."""
    seen = [msgspec.to_builtins(place.container()) for place in places_of(runbook, state, run)]
    known = [{name: value for name, value in one.items() if value} for one in seen if not one["here"]]
    return {"containers": known} if known else {}


def _say(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sys.exit(main())
