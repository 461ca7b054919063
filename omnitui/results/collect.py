"""Collect one pass: `python -m omnitui.results.collect RUN_DIR SERIES/PASS`, run as the job of a collect step.

Prints every metric, checks coverage and audio, and writes `metrics.json` into the pass's output folder and, with
the provenance beside it, into the run's folder of the pass. The last line is RUN_COMPLETE or RUN_INCOMPLETE.
"""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import msgspec
import tomli_w

from omnitui import store, telemetry
from omnitui.errors import OmniError, StoreError
from omnitui.model import MARKER, PassRecord, RunState
from omnitui.places import Output, output_at, places_of
from omnitui.plan import lay_out
from omnitui.readings import CoverageReading
from omnitui.results import catalog
from omnitui.results.collecting import Collected, read_output, sha256_of
from omnitui.results.keys import commit_of, gpu_of
from omnitui.results.passes import PassResult
from omnitui.results.provenance import definition_sha256, gpus, pinned, provenance, remedies, told
from omnitui.results.seen import summary
from omnitui.runbook.load import load
from omnitui.runbook.narrow import of_run
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import expand, secret_names
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
    found = read_output(runbook, output.host, values, _began(runbook, state, scope))
    _say(*found.lines())
    known = _provenance(runbook, run, state, scope, values, output)
    sha256 = sha256_of(load(run.runbook), output.host, values)
    result = _result(runbook, state, scope, found, known, sha256)
    _write(run, scope, result, found.coverage, known)
    _page_metrics(output, found)
    # Only a cache: what it lacks is found by whoever reads next.
    with suppress(OmniError):
        catalog.add(run.pass_folder(scope))
    _say("RUN_COMPLETE" if found.complete else "RUN_INCOMPLETE")
    return 0 if found.complete else 1


def _began(runbook: Runbook, state: RunState, scope: str) -> float:
    """When the pass's first step began its latest attempt, in epoch seconds."""
    first = next(planned for planned in lay_out(runbook, state.schedule) if planned.scope == scope)
    attempts = state.step(first.id).attempts
    return datetime.fromisoformat(attempts[-1].began).timestamp() if attempts else 0.0


def _provenance(
    runbook: Runbook, run: RunFolder, state: RunState, scope: str, values: Mapping[str, str], output: Output
) -> dict[str, object]:
    secret = {*secret_names(runbook), *state.secrets}
    # What no step has handed on in this run is empty, and known to be.
    own = {name: values.get(name, "") for name in runbook.variables if name not in secret}
    # Each run has a folder of its own: that it is another one is no difference.
    own = {name: value.replace(str(run.path), "${RUN_DIR}") for name, value in own.items()}
    lines = telemetry.read(run, _began(runbook, state, scope))
    return {
        **provenance(state, scope, own),
        **_containers(runbook, run, state),
        "remedies": remedies(store.events(run)[0], scope),
        "definition_sha256": definition_sha256(runbook, run.runbook),
        "gpus": gpus(lines, expand(runbook.resources.gpus, values)),
        "told": told(runbook, output.host, values),
        "out": output.path,
        "out_here": str(output.host),
        "monitor": {**summary(lines), **pinned(state, scope)},
    }


def _result(
    runbook: Runbook, state: RunState, scope: str, found: Collected, known: Mapping[str, object], sha256: str
) -> PassResult:
    series, _, label = scope.partition("/")
    return PassResult(
        series=series,
        label=label,
        scored=label not in runbook.passes.unscored,
        complete=found.complete,
        metrics=found.metrics,
        reasons=found.reasons,
        marks=state.passes.get(scope, PassRecord()).marks,
        rates=found.rates,
        rehearsal=state.rehearsal,
        steps=tuple(one.step.id for one in lay_out(runbook, state.schedule) if one.scope == scope),
        runbook=state.runbook,
        title=state.title,
        collected=store.now(),
        commit=commit_of(known),
        gpu=gpu_of(known),
        host=os.uname().nodename,
        sha256=sha256,
    )


def _write(
    run: RunFolder, scope: str, result: PassResult, coverage: CoverageReading, known: Mapping[str, object]
) -> None:
    folder = run.pass_folder(scope)
    store.make_folder(folder)
    stored = {"marker": os.environ.get(MARKER, ""), "reading": coverage}
    text = tomli_w.dumps({**known, "collected": result.collected})
    store.replace_file(folder / "provenance.toml", text.encode())
    store.replace_file(folder / "metrics.json", msgspec.json.encode(result))
    store.replace_file(folder / "coverage.json", msgspec.json.encode(stored))


def _page_metrics(output: Output, found: Collected) -> None:
    if output.host.is_dir():
        try:
            store.replace_file(output.host / "metrics.json", json.dumps(found.page).encode())
        except StoreError:
            # The folder may belong to the container's root.
            output.place.write(f"{output.path}/metrics.json", json.dumps(found.page))


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
