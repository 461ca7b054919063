"""Two commits turn by turn, orders of one's own, and runbooks of which a run takes only a part."""

import json
from pathlib import Path

import pytest
from omnitui import store
from tests.books import make_book
from tests.flow.desk import RUNBOOKS, Desk, Told

DUO = str(RUNBOOKS / "duo")


def run(desk: Desk, *arguments: str) -> Told:
    return desk.omnitui("run", DUO, "--headless", "--yes", *arguments)


def trace(desk: Desk) -> list[str]:
    return (desk.only_run().path / "trace.txt").read_text().splitlines()


def test_each_pass_finds_the_values_of_its_series(desk: Desk) -> None:
    told = run(desk, "--set=COMMIT_A=aaaa111", "--set=COMMIT_B=bbbb222", "--set=MODELS=fun")
    assert told.code == 0, told
    assert trace(desk) == [
        "a checkout aaaa111",
        "a/warm fun aaaa111 aaaa",
        "b checkout bbbb222",
        "b/warm fun bbbb222 bbbb",
        "a/1 fun aaaa111 aaaa",
        "b/1 fun bbbb222 bbbb",
    ]
    work = desk.only_run().path / "work"
    assert sorted(str(out.relative_to(work)) for out in work.glob("*/*")) == [
        "after/1",
        "after/warm",
        "before/1",
        "before/warm",
    ]


def test_an_own_order_keeps_the_values_of_the_schedules_series(desk: Desk) -> None:
    told = run(desk, "--schedule=two", "--order=b/1, a/2", "--set=MODELS=fun", "--set=COMMIT_B=bbbb222")
    assert told.code == 0, told
    assert store.read(desk.only_run()).schedule == ("b/1", "a/2")
    assert [line.split()[0] for line in trace(desk)] == ["b", "b/1", "a", "a/2"]
    assert "b/1 fun bbbb222 bbbb" in trace(desk)


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ("a/1,c/1", "'c/1' is no series/pass; the series of two are: a, b"),
        ("a/1,a", "'a' is no series/pass"),
        ("a/1,b/1,a/1", "a/1 stands 2 times; results would be overwritten"),
    ],
)
def test_an_own_order_that_does_not_fit_is_refused_and_nothing_is_made(
    desk: Desk, order: str, reason: str
) -> None:
    told = run(desk, f"--order={order}")
    assert (told.code, told.out) == (2, "")
    assert reason in told.err
    assert not store.runs()


def test_an_order_of_nothing_is_not_the_schedules_order(desk: Desk) -> None:
    told = run(desk, "--order=,")
    assert told.code == 2, told
    assert "names no pass" in told.err
    assert not store.runs()


def test_an_order_of_another_schedule_is_judged_by_that_schedule(desk: Desk) -> None:
    told = run(desk, "--schedule=one", "--order=b/1")
    assert told.code == 2
    assert "the series of one are: a" in told.err


def test_two_series_with_one_name_are_refused_before_they_share_a_folder(desk: Desk) -> None:
    told = run(desk, "--set=NAME_A=same", "--set=NAME_B=same")
    assert told.code == 2
    assert "passes a/warm and b/warm would share the output folder" in told.err
    assert "give their series different names" in told.err
    assert not store.runs()
    # The same commit under two names is a noise floor.
    told = run(desk, "--set=COMMIT_A=5ed8a8d", "--set=COMMIT_B=5ed8a8d", "--set=MODELS=fun")
    assert told.code == 0, told


def test_a_run_has_only_the_steps_that_its_values_leave(desk: Desk) -> None:
    told = run(desk, "--schedule=one", "--set=MODELS=qwen3")
    assert told.code == 0, told
    assert "Measure fun" not in told.out
    folder = desk.only_run()
    assert {step.rpartition("/")[2] for step in store.read(folder).steps} == {
        *("checkout", "out", "qwen3", "collect", "mended", "table")
    }
    # The model that was left out is missing neither from the coverage nor from the table.
    (series,) = json.loads(desk.omnitui("results", folder.name, "--json").out)["series"]
    assert [row["metric"] for row in series["rows"]] == ["qwen3.wer"]
    # Nor does the table pass for that of the whole page.
    assert "Not measured: fun. Coverage of the whole page is incomplete." in told.out


@pytest.mark.parametrize(
    ("models", "reason"),
    [
        ("qwen3,gpt", "MODELS=gpt: must be one of qwen3, fun, whisper"),
        ("", "MODELS: must name at least one of qwen3, fun, whisper"),
        (" , ", "MODELS: must name at least one of"),
        ("qwen3 fun", "MODELS=qwen3 fun: must be one of"),
    ],
)
def test_a_list_with_a_wrong_item_is_refused(desk: Desk, models: str, reason: str) -> None:
    told = run(desk, f"--set=MODELS={models}")
    assert told.code == 2
    assert reason in told.err
    assert not store.runs()


def test_a_list_may_be_written_with_spaces(desk: Desk) -> None:
    told = run(desk, "--schedule=one", "--set=MODELS=fun, qwen3")
    assert told.code == 0, told
    assert [line.split()[1] for line in trace(desk)] == ["checkout", "qwen3", "fun"]


PARTS = """
schema = 1
title = "Parts"
summary = "Each part is there only when it is asked for."

[variables.PART]
help = "Which."
default = "here"
choices = ["here", "nowhere"]

[[phases]]
id = "p"
title = "P"
when = { PART = ["here"] }

[[phases.steps]]
id = "s"
title = "S"
run = "true"
"""


def test_a_run_of_nothing_is_refused_and_not_green(desk: Desk, tmp_path: Path) -> None:
    book = make_book(tmp_path / "parts", PARTS)
    told = desk.omnitui("run", book, "--headless", "--set=PART=nowhere")
    assert (told.code, told.out) == (2, "")
    assert "leave no step of the runbook" in told.err
    assert store.runs() == []
