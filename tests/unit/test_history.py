"""What is told of the time that earlier runs took, and what is not."""

import pytest
from msgspec.structs import replace
from omnitui.history import Took, times
from omnitui.model import SCHEMA, Passed, RunState, Skipped, StepRecord, ended_attempt
from omnitui.plan import Plan, lay_out
from omnitui.runbook.schema import Command, Phase, Runbook
from omnitui.ui.signs import spoken

BOOK = Runbook(
    schema=1,
    title="T",
    summary="S",
    phases=(
        Phase(id="p", title="P", steps=(Command(id="setup", title="A", run="true"),)),
        Phase(id="q", title="Q", per="pass", steps=(Command(id="client", title="B", run="true"),)),
    ),
)
PLAN: Plan = lay_out(BOOK, ("main/1", "main/2"))


def state(**seconds: float) -> RunState:
    """A run whose steps, by id, passed in so many seconds."""
    steps = {}
    for name, took in seconds.items():
        passed = Passed(attempt=1, at="", evidence=("done",))
        steps[name] = ended_attempt(StepRecord(), "", took, passed)
    return RunState(
        schema=SCHEMA,
        run="r",
        runbook="b",
        runbook_sha256="",
        title="T",
        created="",
        schedule=("main/1", "main/2"),
        variables={},
        steps=steps,
    )


def complete(setup: float, one: float, two: float) -> RunState:
    return state(**{"_/_/setup": setup, "main/1/client": one, "main/2/client": two})


def test_the_median_of_complete_runs_and_of_their_passes() -> None:
    told = times(PLAN, [complete(1, 10, 20), complete(2, 30, 40), complete(3, 50, 90)])
    assert told.run == Took(72, 3)
    assert told.passes == {"main/1": Took(30, 3), "main/2": Took(40, 3)}


def test_nothing_is_told_of_what_is_not_known() -> None:
    assert times(PLAN, []).run is None
    half = replace(complete(1, 10, 20), steps={"main/1/client": complete(1, 10, 20).step("main/1/client")})
    told = times(PLAN, [half])
    assert told.run is None
    assert told.passes == {"main/1": Took(10, 1)}


def test_a_rehearsal_tells_nothing_of_the_time_that_a_run_takes() -> None:
    rehearsed = replace(complete(1, 1, 1), rehearsal=True)
    assert times(PLAN, [rehearsed]).run is None
    assert times(PLAN, [rehearsed, complete(1, 10, 20)]).run == Took(31, 1)


def test_a_run_with_other_steps_or_a_skipped_one_does_not_count() -> None:
    whole = complete(1, 10, 20)
    more = whole.with_step("main/1/another", whole.step("main/1/client"))
    skipped = whole.with_step("main/1/client", StepRecord(status=Skipped(at="", reason="no")))
    told = times(PLAN, [more, skipped])
    assert told.run is None
    assert told.passes == {"main/2": Took(20, 2)}


def test_only_the_attempt_that_passed_counts() -> None:
    whole = complete(1, 10, 20)
    first = whole.step("main/1/client").attempts[0]
    tried = replace(whole.step("main/1/client"), attempts=(replace(first, seconds=900.0), first))
    assert times(PLAN, [whole.with_step("main/1/client", tried)]).run == Took(31, 1)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.2, "1 s"), (59.7, "1 min"), (360, "6 min"), (7200, "2 h"), (7800, "2 h 10 min"), (86400 * 3.2, "3 d 4 h")],
)
def test_durations_as_they_are_said(seconds: float, told: str) -> None:
    assert spoken(seconds) == told
