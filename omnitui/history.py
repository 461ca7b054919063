"""How long earlier runs of a runbook took, for whoever plans another. What is not known is not guessed."""

from collections.abc import Iterable, Mapping
from statistics import median

from msgspec import Struct

from omnitui import store
from omnitui.errors import OmniError
from omnitui.model import Passed, RunState, StepRecord
from omnitui.plan import Plan

NEWEST = 20
"""How many runs of a runbook are read: 2 to 3 ms each."""


class Took(Struct, frozen=True):
    """The median of how long something took, in seconds, and over how many runs."""

    seconds: float
    runs: int


class Times(Struct, frozen=True):
    """How long a whole run took, and each of its passes (by `series/pass`), where that is known."""

    run: Took | None = None
    passes: Mapping[str, Took] = {}


def earlier(runbook: str) -> tuple[RunState, ...]:
    """The states of the newest runs of a runbook; those that cannot be read are left out."""
    found = []
    # A run's id ends in its runbook's id, and a few letters more.
    for run in [run for run in store.runs() if f"-{runbook}" in run.name][:NEWEST]:
        try:
            state = store.read(run)
        except OmniError:
            continue
        if state.runbook == runbook:
            found.append(state)
    return tuple(found)


def times(plan: Plan, states: Iterable[RunState]) -> Times:
    """What earlier runs took for the very steps of this plan: others had something else to do.

    Counted is the attempt that passed, so neither what went wrong nor the time that a run lay still. A run with a
    step that was skipped tells nothing, nor does a rehearsal.
    """
    states = [state for state in states if not state.rehearsal]
    scopes: dict[str, set[str]] = {}
    for planned in plan:
        if planned.in_pass:
            scopes.setdefault(planned.scope, set()).add(planned.id)
    passes = {
        scope: took
        for scope, steps in scopes.items()
        if (took := _took(steps, [_of_scope(state, scope) for state in states]))
    }
    return Times(_took({planned.id for planned in plan}, [state.steps for state in states]), passes)


def _of_scope(state: RunState, scope: str) -> dict[str, StepRecord]:
    return {key: record for key, record in state.steps.items() if key.startswith(f"{scope}/")}


def _took(steps: set[str], runs: Iterable[Mapping[str, StepRecord]]) -> Took | None:
    """Over those that have these steps alone, and have passed every one of them."""
    fits = [run for run in runs if run.keys() == steps]
    done = [run for run in fits if all(isinstance(record.status, Passed) for record in run.values())]
    sums = [sum(record.attempts[-1].seconds for record in run.values() if record.attempts) for run in done]
    return Took(median(sums), len(sums)) if sums else None
