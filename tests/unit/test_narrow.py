"""A runbook without the parts whose condition the run's variables do not meet."""

import pytest
from omnitui.errors import UsageError
from omnitui.runbook.gates import Output, Remedy
from omnitui.runbook.measured import Metric, Workload
from omnitui.runbook.narrow import narrow
from omnitui.runbook.remedies import remedies_of
from omnitui.runbook.schema import Command, Phase, Runbook, Serve, Server, Variable
from omnitui.runbook.variables import asked_for, chosen, holds

BOOK = Runbook(
    schema=1,
    title="T",
    summary="S",
    phases=(
        Phase(id="p", title="P", steps=(Command(id="a", title="A", run="true", when={"M": ("x",)}),)),
        Phase(id="q", title="Q", when={"M": ("y",)}, steps=(Command(id="b", title="B", run="true"),)),
    ),
    workloads=(Workload(id="w", title="W", file="f", rows="r", expect="1", when={"M": ("y",)}),),
    metrics=(Metric(id="m", file="f", path="p", when={"M": ("x", "y")}),),
)


@pytest.mark.parametrize(
    ("when", "value", "expected"),
    [
        ({}, "", True),
        ({"M": ("x",)}, "x", True),
        ({"M": ("x",)}, "y, x", True),
        ({"M": ("x",)}, "xy", False),
        ({"M": ("x",)}, "", False),
        ({"M": ("x", "y")}, "y", True),
        ({"M": ("x",), "N": ("z",)}, "x", False),
    ],
)
def test_a_condition_asks_for_one_of_its_values(
    when: dict[str, tuple[str, ...]], value: str, expected: bool
) -> None:
    assert holds(when, {"M": value}) is expected


@pytest.mark.parametrize(
    ("value", "phases", "workloads", "metrics"),
    [("x", ["p"], [], ["m"]), ("y", ["q"], ["w"], ["m"]), ("x,y", ["p", "q"], ["w"], ["m"]), ("z", [], [], [])],
)
def test_only_what_holds_is_left(value: str, phases: list[str], workloads: list[str], metrics: list[str]) -> None:
    seen = narrow(BOOK, {"M": value})
    assert [phase.id for phase in seen.phases] == phases
    assert [one.id for one in seen.workloads] == workloads
    assert [one.id for one in seen.metrics] == metrics


def test_a_variable_is_asked_for_only_when_its_condition_holds() -> None:
    variables = {
        "M": Variable(help="h", choices=("x", "y"), default="x", many=True),
        "N": Variable(help="h", when={"M": ("y",)}),
        "T": Variable(help="h", secret=True, when={"M": ("y",)}),
    }
    book = Runbook(schema=1, title="T", summary="S", variables=variables)
    assert chosen(book, {}) == {"M": "x", "N": ""}
    assert asked_for(book, {}) == {"M"}
    assert asked_for(book, {"M": "x,y"}) == {"M", "N", "T"}
    with pytest.raises(UsageError, match="variable N has no value"):
        chosen(book, {"M": "y"})


def test_a_remedy_is_offered_only_where_its_condition_holds() -> None:
    here, there = Remedy(say="here", when={"M": ("x",)}), Remedy(say="there", when={"M": ("y",)})
    steps = (
        Command(id="a", title="A", run="true", remedies=(here,), gates=(Output(word="W", remedies=(there,)),)),
        Serve(id="s", title="S", run="true", server="s"),
    )
    servers = {"s": Server(title="S", port="1", remedies=(here, there, Remedy(say="always")))}
    book = Runbook(
        schema=1, title="T", summary="S", servers=servers, phases=(Phase(id="p", title="P", steps=steps),)
    )
    for value, expected in (("x", ["here", "here", "always"]), ("y", ["there", "there", "always"])):
        seen = narrow(book, {"M": value})
        assert [one.say for step in seen.phases[0].steps for one in remedies_of(seen, step)] == expected
