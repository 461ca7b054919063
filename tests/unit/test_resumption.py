import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from omnitui.errors import UsageError
from omnitui.model import (
    Asking,
    Attempt,
    Crashed,
    Failed,
    Passed,
    PassRecord,
    Running,
    RunState,
    Skipped,
    Status,
    StepRecord,
    Stopped,
    Waiting,
    ended_attempt,
)
from omnitui.plan import find_step, is_done, lay_out, next_step
from omnitui.resumption import JobFact, Resume, World, apply, edit_mark, redo, redo_of, resume
from omnitui.runbook.schema import Phase, Runbook, Serve, Server
from tests.unit.builders import (
    AT,
    CRASHED,
    DONE,
    IDS,
    NOT_DONE,
    ORDER,
    PLAN,
    STOPPED,
    WHOLE,
    at,
    green,
    red,
    running,
    state,
    step,
)

UP = World(live_servers=frozenset({"tts"}))


# -- resuming --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [Waiting(), Asking(at=AT, question="?")])
@pytest.mark.parametrize("in_place", [None, True, False])
def test_a_step_that_has_not_begun_is_gone_on_at(status: Status, in_place: bool | None) -> None:
    before = at("a/1/client", status)
    decided = resume(PLAN, before, UP, in_place)
    assert (decided.kind, decided.at, decided.reset, decided.mark) == ("go_on", "a/1/client", (), "")
    assert decided.lines == ("Go on at a/1: “Client”.",)
    assert apply(before, decided) == before


def test_a_run_of_which_nothing_is_done_is_begun() -> None:
    assert resume(PLAN, state(), UP).lines == ("Begin at “Check”.",)


@pytest.mark.parametrize(("job", "told"), [("alive", "is still running"), ("ended", "ended meanwhile")])
@pytest.mark.parametrize("in_place", [None, True, False])
def test_a_job_that_outlived_its_runner_is_adopted(job: JobFact, told: str, in_place: bool | None) -> None:
    before = at("a/1/client", running())
    decided = resume(PLAN, before, World(job, UP.live_servers), in_place)
    assert (decided.kind, decided.at, decided.reset, decided.mark) == ("adopt", "a/1/client", (), "")
    assert told in decided.lines[0]
    assert apply(before, decided) == before


@pytest.mark.parametrize("job", ["alive", "ended"])
def test_a_server_that_is_starting_is_adopted_though_no_server_is_ready(job: JobFact) -> None:
    assert resume(PLAN, at("a/1/serve", running()), World(job)).kind == "adopt"


@pytest.mark.parametrize("job", ["alive", "ended"])
def test_a_client_whose_server_is_gone_is_not_adopted(job: JobFact) -> None:
    decided = resume(PLAN, at("a/1/client", running()), World(job))
    assert decided.kind == "redo_pass"


@pytest.mark.parametrize("status", [red(), STOPPED, CRASHED, running()])
def test_a_pass_is_redone_from_its_start(status: Status) -> None:
    decided = resume(PLAN, at("a/1/client", status), World("lost", UP.live_servers))
    assert (decided.kind, decided.at, decided.move_aside) == ("redo_pass", "a/1/folder", "a/1")
    assert decided.reset == ("a/1/folder", "a/1/serve", "a/1/client")
    assert decided.stop_servers == ("tts",)
    assert decided.mark == ""
    assert decided.lines == (
        "Stop server tts.",
        "Move the output of a/1 aside as -incomplete; nothing is deleted.",
        "Begin pass a/1 again at its first step (Folder).",
    )


def test_a_server_that_died_between_two_steps_costs_the_pass() -> None:
    decided = resume(PLAN, at("a/1/client", Waiting()), World())
    assert (decided.kind, decided.at) == ("redo_pass", "a/1/folder")
    assert decided.stop_servers == ()


def test_in_place_retries_only_the_step_and_marks_the_pass() -> None:
    before = at("a/1/client", red())
    decided = resume(PLAN, before, UP, in_place=True)
    assert (decided.kind, decided.at, decided.reset) == ("retry", "a/1/client", ("a/1/client",))
    assert decided.mark == "resumed in place at client"
    assert decided.lines[-1] == "Pass a/1 is then left out of the averages: resumed in place at client."
    after = apply(before, decided)
    assert after.passes == {"a/1": PassRecord(round=1, marks=("resumed in place at client",))}
    assert apply(after, decided).passes == after.passes


def test_in_place_starts_a_lost_server_again_first() -> None:
    before = at("a/1/client", red())
    decided = resume(PLAN, before, World(), in_place=True)
    assert decided.reset == ("a/1/serve", "a/1/client")
    assert decided.lines[0] == "Start server tts again: it is gone."
    found = next_step(PLAN, apply(before, decided))
    assert found is not None
    assert found.id == "a/1/serve"


def test_a_pass_that_is_not_scored_needs_no_mark() -> None:
    assert resume(PLAN, at("a/warm/client", red()), UP, in_place=True).mark == ""


@pytest.mark.parametrize("name", ["peek", "stop", "collect"])
def test_what_only_stops_or_reads_is_done_again_in_place(name: str) -> None:
    decided = resume(PLAN, at(f"a/1/{name}", red()), UP)
    assert (decided.kind, decided.reset, decided.mark) == ("retry", (f"a/1/{name}",), "")
    whole = resume(PLAN, at(f"a/1/{name}", red()), UP, in_place=False)
    assert (whole.kind, whole.at) == ("redo_pass", "a/1/folder")


def test_a_stop_step_does_not_need_its_server() -> None:
    assert resume(PLAN, at("a/1/stop", Waiting()), World()).kind == "go_on"
    assert resume(PLAN, at("a/1/stop", running()), World()).kind == "retry"


@pytest.mark.parametrize("in_place", [None, True, False])
@pytest.mark.parametrize("status", [red(), STOPPED, CRASHED, running()])
@pytest.mark.parametrize("step_id", ["_/_/venv", "b/_/checkout", "_/_/look"])
def test_setup_resumes_at_its_failed_step(step_id: str, status: Status, in_place: bool | None) -> None:
    decided = resume(PLAN, at(step_id, status), World("lost"), in_place)
    assert (decided.kind, decided.at, decided.reset) == ("retry", step_id, (step_id,))
    assert (decided.mark, decided.move_aside) == ("", "")


def test_a_changed_runbook_is_said_first() -> None:
    for there in (at("a/1/client", Waiting()), at("a/1/client", red()), at("a/1/peek", red())):
        decided = resume(PLAN, there, replace(UP, runbook_changed=True))
        assert decided.lines[0].startswith("The runbook has changed since this run began")


def test_where_a_step_begins_again() -> None:
    assert [redo_of(find_step(PLAN, f"a/1/{name}")) for name in WHOLE] == [
        *("pass", "pass", "pass", "pass"),
        *("step", "step", "pass", "step"),
    ]
    assert redo_of(find_step(PLAN, "a/_/checkout")) == "step"


def test_the_operator_redoes_a_pass() -> None:
    done = state(dict.fromkeys(IDS, green()))
    decided = redo(PLAN, done, "b/1")
    assert (decided.kind, decided.at, decided.move_aside) == ("redo_pass", "b/1/folder", "b/1")
    # The table over the passes is of yesterday then.
    assert decided.reset == (*(f"b/1/{name}" for name in WHOLE), "_/_/table")
    for wrong in ("b/9", "b/_", "_/_", "b"):
        with pytest.raises(UsageError, match="no pass"):
            redo(PLAN, done, wrong)


# -- what a decision does to the state -------------------------------------------------------------------------


def attempt(n: int) -> Attempt:
    return Attempt(n=n, began=AT, seconds=1.0, outcome="failed", reason="because")


def test_attempts_and_edits_outlive_a_redo_and_say_so_on_the_pass() -> None:
    record = StepRecord(status=red(2), attempts=(attempt(1), attempt(2)), edited="echo mine", confirmed=True)
    before = at("a/1/client", red()).with_step("a/1/client", record)
    marked = replace(before, passes={"a/1": PassRecord(round=2, marks=(edit_mark("a/1/client"), "skipped"))})
    after = apply(marked, resume(PLAN, marked, UP))
    assert after.step("a/1/client") == StepRecord(attempts=record.attempts, edited="echo mine")
    assert after.step("a/1/folder") == StepRecord()
    # A skip or a resume in place is undone by the redo; the operator's own command runs again.
    assert after.passes == {"a/1": PassRecord(round=3, marks=("the command of client was edited",))}


_statuses = st.dictionaries(st.sampled_from(IDS), st.sampled_from((*NOT_DONE, *DONE)), max_size=len(IDS))
_worlds = st.builds(
    World,
    st.sampled_from((None, "alive", "ended", "lost")),
    st.sampled_from((frozenset(), frozenset({"tts"}))),
    st.booleans(),
)
_in_place = st.sampled_from((None, True, False))


def untouched(before: RunState, after: RunState, ids: list[str]) -> bool:
    return all(before.step(name) == after.step(name) for name in ids)


@given(_statuses, _worlds, _in_place)
def test_a_resume_never_resets_what_setup_has_earned(
    statuses: dict[str, Status], world: World, in_place: bool | None
) -> None:
    before = state(statuses)
    after = apply(before, resume(PLAN, before, world, in_place))
    setup = [one.id for one in PLAN if not one.in_pass and is_done(before.step(one.id).status)]
    assert untouched(before, after, setup)


@given(_statuses, _worlds, _in_place)
def test_a_resume_touches_only_the_pass_it_is_about(
    statuses: dict[str, Status], world: World, in_place: bool | None
) -> None:
    before = state(statuses, passes={"a/2": PassRecord(round=4, marks=("m",))})
    decided = resume(PLAN, before, world, in_place)
    after = apply(before, decided)
    scope = decided.at.rpartition("/")[0]
    assert untouched(before, after, [one.id for one in PLAN if one.scope != scope])
    assert all(after.passes.get(name) == record for name, record in before.passes.items() if name != scope)
    assert all(name == scope for name in after.passes if name not in before.passes)
    assert set(decided.reset) <= {one.id for one in PLAN if one.scope == scope}
    assert replace(after, steps={}, passes={}) == replace(before, steps={}, passes={})


@given(_statuses, _worlds, _in_place)
def test_a_resume_leads_to_the_step_it_names(
    statuses: dict[str, Status], world: World, in_place: bool | None
) -> None:
    before = state(statuses)
    decided = resume(PLAN, before, world, in_place)
    found = next_step(PLAN, apply(before, decided))
    if decided.kind == "complete":
        assert found is None
    elif decided.kind == "retry":
        # A lost server's own step comes first.
        assert found is not None
        assert found.id == decided.reset[0]
        assert decided.reset[-1] == decided.at
    else:
        assert found is not None
        assert found.id == decided.at
    assert decided.lines


@given(_statuses, st.sampled_from(ORDER))
def test_a_redo_touches_only_its_pass(statuses: dict[str, Status], scope: str) -> None:
    records = {name: StepRecord(status=one, attempts=(attempt(1),)) for name, one in statuses.items()}
    before = replace(state(), steps=records)
    after = apply(before, redo(PLAN, before, scope))
    mine = [name for name in records if name.rpartition("/")[0] == scope]
    assert all(after.step(name) == StepRecord(attempts=(attempt(1),)) for name in mine)
    assert untouched(before, after, [name for name in records if name not in mine])
    assert after.passes == {scope: PassRecord(round=2)}


def test_rounds_are_counted() -> None:
    there = at("a/1/client", red())
    for number in (2, 3, 4):
        there = apply(there, resume(PLAN, there, UP))
        assert there.passes["a/1"].round == number
        there = replace(there, steps=at("a/1/client", red()).steps)


def test_a_resume_of_nothing_changes_nothing() -> None:
    assert apply(state(), Resume("go_on", "_/_/check")) == state()


# -- what ends an attempt --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ended", "row"),
    [
        (Passed(attempt=3, at=AT, evidence=("OK",)), ("passed", 3, "")),
        (Failed(attempt=3, at=AT, reason="no"), ("failed", 3, "no")),
        (Stopped(attempt=3, at=AT, reason="x"), ("stopped", 3, "x")),
        (Crashed(attempt=3, at=AT, reason="gone"), ("crashed", 3, "gone")),
        (Skipped(at=AT, reason="later"), ("skipped", 0, "later")),
    ],
)
def test_an_ended_attempt_joins_the_history(
    ended: Passed | Failed | Stopped | Crashed | Skipped, row: tuple[str, int, str]
) -> None:
    record = StepRecord(status=Running(attempt=3, since=AT), attempts=(attempt(1),), edited="echo")
    after = ended_attempt(record, AT, 1.23456, ended)
    assert after.status == ended
    assert after.attempts[:-1] == record.attempts
    last = after.attempts[-1]
    assert (last.outcome, last.n, last.reason) == row
    assert (last.seconds, last.edited, last.began) == (1.235, True, AT)


def test_a_server_in_setup_is_started_again_when_it_is_lost() -> None:
    steps = (Serve(id="serve", title="Serve", run="x", server="tts"), step("ask"))
    book = Runbook(
        schema=1,
        title="T",
        summary="S",
        servers={"tts": Server(title="TTS", port="1")},
        phases=(Phase(id="p", title="P", steps=steps),),
    )
    plan = lay_out(book, ())
    decided = resume(plan, state({"_/_/serve": green()}), World())
    assert (decided.kind, decided.reset) == ("retry", ("_/_/serve", "_/_/ask"))


def test_a_redo_keeps_what_an_edited_step_of_its_series_says_of_a_pass() -> None:
    edited = StepRecord(status=green(), edited="echo other")
    mark = "the command of checkout was edited"
    before = replace(
        state({"a/1/folder": green()}, passes={"a/1": PassRecord(marks=(mark, "resumed in place at client"))}),
    ).with_step("a/_/checkout", edited)
    after = apply(before, redo(PLAN, before, "a/1"))
    assert after.passes["a/1"].marks == (mark,)
