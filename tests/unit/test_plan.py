import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from omnitui.errors import UsageError
from omnitui.model import Asking, Skipped, Status, Waiting
from omnitui.plan import (
    custom,
    find_step,
    heading,
    is_done,
    lay_out,
    named_step,
    next_step,
    outcome,
    passes_on,
    schedule_of,
    servers_at,
)
from omnitui.resumption import World, apply, resume
from omnitui.runbook.schema import Phase, Schedule, Serve, Stop
from tests.unit.builders import (
    AT,
    BOOK,
    CRASHED,
    DONE,
    IDS,
    NOT_DONE,
    ORDER,
    PLAN,
    STOPPED,
    WARM,
    WHOLE,
    at,
    green,
    red,
    runbook,
    running,
    state,
    step,
)

# -- the order of steps ----------------------------------------------------------------------------------------


def test_passes_follow_the_schedule_and_each_series_begins_once() -> None:
    assert [
        *("_/_/check", "_/_/venv"),
        "a/_/checkout",
        *(f"a/warm/{name}" for name in WARM),
        *(f"a/1/{name}" for name in WHOLE),
        "b/_/checkout",
        *(f"b/warm/{name}" for name in WARM),
        *(f"b/1/{name}" for name in WHOLE),
        *(f"b/2/{name}" for name in WHOLE),
        *(f"a/2/{name}" for name in WHOLE),
        *("_/_/look", "_/_/table"),
    ] == IDS


def test_a_step_knows_its_scope() -> None:
    client = find_step(PLAN, "a/warm/client")
    assert (client.series, client.label, client.phase, client.in_pass, client.scored) == (
        *("a", "warm", "measure"),
        *(True, False),
    )
    checkout = find_step(PLAN, "b/_/checkout")
    assert (checkout.series, checkout.label, checkout.in_pass) == ("b", "_", False)
    assert not find_step(PLAN, "_/_/table").in_pass
    assert find_step(PLAN, "b/2/client").scored
    with pytest.raises(UsageError, match="no step c/1/client"):
        find_step(PLAN, "c/1/client")


def test_a_step_may_be_named_by_the_end_of_its_id() -> None:
    for name in ("_/_/table", "table", "2/client"):
        wanted = "a/2/client" if name == "2/client" else "_/_/table"
        assert named_step(tuple(one for one in PLAN if one.series != "b"), name).id == wanted
    with pytest.raises(UsageError, match="6 steps are called client; say which: a/warm/client, "):
        named_step(PLAN, "client")
    with pytest.raises(UsageError, match="has no step clientt; did you mean client"):
        named_step(PLAN, "clientt")
    with pytest.raises(UsageError, match=r"has no step zzz$"):
        named_step(PLAN, "zzz")


def test_what_stands_above_the_steps_of_a_scope() -> None:
    assert [heading(scope) for scope in ("_/_", "a/_", "a/1")] == ["Run", "a", "a/1"]


def test_phases_of_the_run_between_passes_part_them_into_blocks() -> None:
    book = runbook(
        phases=(
            Phase(id="one", title="One", per="pass", steps=(step("x"),)),
            Phase(id="between", title="Between", steps=(step("y"),)),
            Phase(id="two", title="Two", per="series", steps=(step("z"),)),
        )
    )
    assert [one.id for one in lay_out(book, ("a/1", "a/2"))] == ["a/1/x", "a/2/x", "_/_/y", "a/_/z"]


def test_without_passes_only_the_run_remains() -> None:
    assert [one.id for one in lay_out(BOOK, ())] == ["_/_/check", "_/_/venv", "_/_/look", "_/_/table"]


_orders = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(("warm", "1", "2"))).map("/".join), unique=True, max_size=6
)


@given(_orders)
def test_every_step_stands_once_and_passes_stay_whole(order: list[str]) -> None:
    plan = lay_out(BOOK, order)
    ids = [one.id for one in plan]
    assert len(ids) == len(set(ids))
    scopes = [one.scope for one in plan if one.in_pass]
    assert list(dict.fromkeys(scopes)) == order
    assert scopes == sorted(scopes, key=order.index)
    for series in dict.fromkeys(entry.partition("/")[0] for entry in order):
        first = next(index for index, one in enumerate(plan) if one.in_pass and one.series == series)
        assert ids.index(f"{series}/_/checkout") == first - 1


def test_an_own_order_keeps_to_the_series_of_its_schedule() -> None:
    schedule = Schedule(id="s", title="S", order=("a/warm", "a/1"), series={"a": {"NAME": "n"}})
    assert custom(schedule, ("a/1", "a/9")) == replace(schedule, order=("a/1", "a/9"))
    for entries, reason in [
        (("b/1",), "'b/1' is no series/pass; the series of s are: a"),
        (("a",), "'a' is no series/pass"),
        (("a/1", "a/1"), "a/1 stands 2 times"),
        ((), "at least one pass, such as a/warm"),
    ]:
        with pytest.raises(UsageError, match=reason):
            custom(schedule, entries)


def test_schedules_are_chosen_by_name() -> None:
    one, two = (Schedule(id=name, title=name, order=(f"{name}/1",)) for name in ("one", "two"))
    book = runbook(schedules=(one, two))
    assert schedule_of(book, None) == one
    assert schedule_of(book, "two") == two
    with pytest.raises(UsageError, match="no schedule three; there are: one, two"):
        schedule_of(book, "three")
    assert schedule_of(BOOK, None).order == ()
    with pytest.raises(UsageError, match="there are: none"):
        schedule_of(BOOK, "one")


# -- where it stands -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", NOT_DONE)
def test_a_step_that_is_not_done_is_the_next_one(status: Status) -> None:
    assert not is_done(status)
    found = next_step(PLAN, at("a/1/client", status))
    assert found is not None
    assert found.id == "a/1/client"


@pytest.mark.parametrize("status", DONE)
def test_the_run_goes_on_past_a_step_that_is_done(status: Status) -> None:
    assert is_done(status)
    found = next_step(PLAN, at("a/1/client", status))
    assert found is not None
    assert found.id == "a/1/extra"


@given(st.lists(st.sampled_from((*NOT_DONE, *DONE)), min_size=len(IDS), max_size=len(IDS)))
def test_the_next_step_is_the_first_that_is_not_done(statuses: list[Status]) -> None:
    found = next_step(PLAN, state(dict(zip(IDS, statuses, strict=True))))
    first = next((name for name, status in zip(IDS, statuses, strict=True) if not is_done(status)), None)
    assert (found.id if found else None) == first


@pytest.mark.parametrize(
    ("status", "stands"),
    [
        (Waiting(), "held"),
        (running(), "interrupted"),
        (CRASHED, "interrupted"),
        (red(), "failed"),
        (STOPPED, "stopped"),
        (Asking(at=AT, question="?"), "asking"),
        (Skipped(at=AT, reason="no"), "held"),
        (green(), "held"),
    ],
)
def test_how_the_run_stands(status: Status, stands: str) -> None:
    there = at("a/1/client", status)
    assert outcome(PLAN, there, alive=False) == stands
    assert outcome(PLAN, there, alive=True) == "running"


def test_a_run_whose_steps_are_all_done_is_complete() -> None:
    everything = state(dict.fromkeys(IDS, green()))
    assert outcome(PLAN, everything, alive=False) == "complete"
    assert outcome((), state(), alive=False) == "complete"
    decided = resume(PLAN, everything, World())
    assert decided.kind == "complete"
    assert apply(everything, decided) == everything


# -- servers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step_id", "up"),
    [
        ("_/_/check", ()),
        ("a/warm/folder", ()),
        ("a/warm/serve", ()),
        ("a/warm/client", ("tts",)),
        ("a/warm/stop", ("tts",)),
        ("a/warm/score", ()),
        ("a/1/folder", ()),
        ("a/1/peek", ("tts",)),
        ("_/_/table", ()),
    ],
)
def test_servers_that_are_up_at_a_step(step_id: str, up: tuple[str, ...]) -> None:
    assert servers_at(PLAN, step_id) == up


def test_two_servers_and_one_stop() -> None:
    steps = (
        Serve(id="s1", title="S1", run="x", server="tts"),
        Serve(id="s2", title="S2", run="x", server="asr"),
        step("both"),
        Stop(id="t1", title="T1", server="tts"),
        step("one"),
        Serve(id="s3", title="S3", run="x", server="tts"),
        step("again"),
    )
    plan = lay_out(runbook(phases=(Phase(id="p", title="P", steps=steps),)), ())
    assert servers_at(plan, "_/_/both") == ("tts", "asr")
    assert servers_at(plan, "_/_/one") == ("asr",)
    assert servers_at(plan, "_/_/again") == ("asr", "tts")


def test_the_passes_that_rest_on_a_step() -> None:
    assert passes_on(PLAN, find_step(PLAN, "a/1/client")) == ("a/1",)
    assert set(passes_on(PLAN, find_step(PLAN, "b/_/checkout"))) == {"b/warm", "b/1", "b/2"}
    assert set(passes_on(PLAN, find_step(PLAN, "_/_/venv"))) == set(ORDER)
    assert passes_on(PLAN, find_step(PLAN, "_/_/table")) == ()
