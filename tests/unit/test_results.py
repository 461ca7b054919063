import csv
import hashlib
import io
import json
import math
import os
import statistics
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from omnitui.model import Passed, PassRecord, Skipped, Status, StepRecord, Waiting
from omnitui.plan import lay_out
from omnitui.results.collecting import read_output
from omnitui.results.files import content_of
from omnitui.results.keys import keys_of
from omnitui.results.passes import PassResult, read_metrics, stored
from omnitui.results.provenance import gpus, pinned, provenance, remedies, told
from omnitui.results.sources import Measured
from omnitui.results.statistics import Row, Summary, summarize
from omnitui.results.statistics import row as row_of
from omnitui.results.table import Format, number, render
from omnitui.runbook.measured import Known, Metric, Workload
from omnitui.runbook.schema import Runbook
from omnitui.samples import Gpu, GpuLook, Sample
from omnitui.store import RunFolder
from tests.unit.builders import AT, green, red, runbook, running, state

METRICS = (("rate", "req/s", "higher"), ("wer", "", "lower"), ("note", "s", "none"))

# -- metrics ---------------------------------------------------------------------------------------------------


def book(*paths: str, file: str = "${NAME}.json") -> Runbook:
    metrics = tuple(Metric(id=path.rpartition(".")[2], file=file, path=path) for path in paths)
    return Runbook(schema=1, title="T", summary="S", metrics=metrics)


def read(folder: Path, value: object) -> tuple[dict[str, float], tuple[str, ...]]:
    (folder / "r.json").write_text(json.dumps({"x": {"m": value}}))
    return read_metrics(book("x.m"), folder, {"NAME": "r"})


@pytest.mark.parametrize("value", [0, 0.0, -0.0, 1, -3, 2.5, 1e-300, 1.7e308, 12_345_678_901])
def test_a_finite_number_is_a_metric(tmp_path: Path, value: float) -> None:
    assert read(tmp_path, value) == ({"m": value}, ())


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (math.nan, "m: x.m is nan"),
        (math.inf, "m: x.m is inf"),
        (-math.inf, "m: x.m is -inf"),
        (10**400, "m: x.m is inf"),
        (None, "m: x.m is missing in r.json"),
        (True, "m: x.m is True, no number"),
        (False, "m: x.m is False, no number"),
        ("1.5", "m: x.m is '1.5', no number"),
        ("", "m: x.m is '', no number"),
        ([], "m: x.m is [], no number"),
        ({}, "m: x.m is {}, no number"),
    ],
)
def test_anything_else_is_no_number_and_never_0(tmp_path: Path, value: object, told: str) -> None:
    assert read(tmp_path, value) == ({}, (told,))


def test_missing_files_and_fields_are_told_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"a": 1, "c": 3}')
    assert read_metrics(book("a", "b", "c", "d.e"), tmp_path, {"NAME": "r"}) == (
        {"a": 1, "c": 3},
        ("b: b is missing in r.json", "e: d.e is missing in r.json"),
    )
    assert read_metrics(book("a"), tmp_path, {"NAME": "q"}) == ({}, ("a: q.json is missing",))
    assert read_metrics(book("["), tmp_path, {"NAME": "r"})[0] == {}
    (tmp_path / "r.json").write_text("{")
    assert read_metrics(book("a"), tmp_path, {"NAME": "r"})[1][0].startswith("a: r.json is not whole JSON")


@pytest.mark.parametrize("path", ["ceil(m)", "floor(m)", "[m][::0]"])
def test_a_function_that_a_number_does_not_fit_is_told(tmp_path: Path, path: str) -> None:
    (tmp_path / "r.json").write_text('{"m": NaN}')
    metrics, (told,) = read_metrics(book(path), tmp_path, {"NAME": "r"})
    assert metrics == {}
    assert f"the path {path!r} is wrong: " in told


def test_a_metric_of_a_file_that_is_older_than_the_pass_is_told(tmp_path: Path) -> None:
    for name in ("old", "new", "covered"):
        (tmp_path / name).write_text('{"a": 1, "b": 2}')
        os.utime(tmp_path / name, (2000.0, 2000.0) if name == "new" else (1000.0, 1000.0))
    metrics = tuple(
        Metric(id=f"{file}.{path}", file=file, path=path) for file in ("old", "new", "covered") for path in "ab"
    )
    workload = Workload(id="w", title="W", file="covered", count="a", expect="1")
    told = Runbook(schema=1, title="T", summary="S", metrics=metrics, workloads=(workload,))
    assert read_metrics(told, tmp_path, {}, not_before=2000.0)[1] == ("old is older than this pass",)
    found = read_output(told, tmp_path, {}, 2000.0)
    assert found.reasons == ("w: covered is older than this pass", "old is older than this pass")


_json: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(2**63), 2**63) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@given(_json)
def test_a_metric_is_exactly_the_finite_number_that_was_written(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    metrics, wrong = read(tmp_path_factory.getbasetemp(), value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    assert metrics == ({"m": value} if is_number else {})
    assert bool(wrong) == (not is_number)


# -- what is stored of a pass ----------------------------------------------------------------------------------


def result(
    label: str = "1",
    metrics: dict[str, float] | None = None,
    *,
    series: str = "a",
    scored: bool = True,
    complete: bool = True,
    reasons: tuple[str, ...] = (),
    marks: tuple[str, ...] = (),
) -> PassResult:
    return PassResult(series, label, scored, complete, metrics or {}, reasons, marks)


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (result(), ""),
        (result(scored=False), "not scored"),
        (result(scored=False, complete=False, reasons=("x",), marks=("y",)), "not scored"),
        (result(complete=False), "incomplete"),
        (result(complete=False, reasons=("seed: 19 of 20", "no audio")), "seed: 19 of 20; no audio"),
        (result(reasons=("rate: missing",)), "rate: missing"),
        (result(marks=("resumed in place at client",)), "resumed in place at client"),
        (result(complete=False, reasons=("short",), marks=("edited",)), "short; edited"),
    ],
)
def test_why_a_pass_is_left_out(one: PassResult, reason: str) -> None:
    assert one.left_out == reason


def test_stored_passes_come_in_schedule_order_with_the_marks_of_now(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    for label, data in {"a/1": result("1", {"rate": 2.0}, marks=("old",)), "a/2": result("2")}.items():
        run.pass_folder(label).mkdir(parents=True)
        (run.pass_folder(label) / "metrics.json").write_bytes(msgspec.json.encode(data))
    (run.pass_folder("a/2") / "metrics.json").write_bytes(b'{"series": "a"')
    there = state(
        {planned.id: green() for planned in lay_out(runbook(), ("a/1",))},
        order=("a/warm", "a/2", "a/1", "b/1"),
        passes={"a/1": PassRecord(marks=("new",))},
    )
    found = stored(run, there, runbook())
    assert [(one.series, one.label) for one in found] == [("a", "warm"), ("a", "2"), ("a", "1"), ("b", "1")]
    warm, broken, marked, missing = found
    assert (warm.left_out, warm.complete, warm.metrics) == ("not scored", False, {})
    assert broken.left_out.startswith("metrics.json: ")
    assert (marked.metrics, marked.left_out) == ({"rate": 2.0}, "new")
    assert (missing.left_out, missing.complete) == ("not collected", False)


def test_a_number_with_more_digits_than_python_reads_is_told(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"x": {"m": 1%s}}' % ("0" * 5000))
    metrics, (told,) = read_metrics(book("x.m"), tmp_path, {"NAME": "r"})
    assert metrics == {}
    assert told == "m: x.m is inf"


@pytest.mark.parametrize("status", [Waiting(), running(), red()])
@pytest.mark.parametrize("step", ["client", "collect"])
def test_a_pass_with_a_step_that_is_not_green_is_left_out(tmp_path: Path, step: str, status: Status) -> None:
    run = RunFolder(tmp_path)
    run.pass_folder("a/1").mkdir(parents=True)
    (run.pass_folder("a/1") / "metrics.json").write_bytes(msgspec.json.encode(result("1", {"rate": 2.0})))
    steps = {planned.id: green() for planned in lay_out(runbook(), ("a/1",))} | {f"a/1/{step}": status}
    (one,) = stored(run, state(steps, order=("a/1",)), runbook())
    assert (one.complete, one.left_out) == (False, f"step {step} has not passed")


def test_infinity_cannot_be_stored_as_a_metric(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.pass_folder("a/1").mkdir(parents=True)
    (run.pass_folder("a/1") / "metrics.json").write_bytes(
        b'{"series": "a", "label": "1", "scored": true, "complete": true, "metrics": {"rate": NaN}}'
    )
    (one,) = stored(run, state(order=("a/1",)), runbook())
    assert one.metrics == {}
    assert one.left_out


# -- statistics ------------------------------------------------------------------------------------------------


def rows(*passes: PassResult) -> dict[str, Row]:
    (summary,) = summarize(passes, METRICS)
    return {row.metric: row for row in summary.rows}


def test_mean_and_sample_deviation() -> None:
    found = rows(result("1", {"rate": 1.0}), result("2", {"rate": 2.0}), result("3", {"rate": 6.0}))
    assert found["rate"] == Row(
        "rate", "req/s", "higher", 3.0, math.sqrt((4 + 1 + 9) / 2), (1.0, 2.0, 6.0), ("1", "2", "3"), 1.0, 6.0
    )


def test_one_value_has_no_deviation_and_none_has_no_mean() -> None:
    found = rows(result("1", {"rate": 1.5}))
    assert (found["rate"].mean, found["rate"].stdev) == (1.5, None)
    assert (found["wer"].mean, found["wer"].stdev, found["wer"].values) == (None, None, ())


def test_what_is_left_out_is_named_with_its_reason() -> None:
    passes = [
        result("warm", {"rate": 99.0}, scored=False),
        result("1", {"rate": 1.0}),
        result("2", {"rate": 99.0}, complete=False, reasons=("seed: 19 of 20",)),
        result("3", {"rate": 99.0}, marks=("edited",)),
        result("4", {"rate": 2.0}),
        result("1", {"rate": 7.0}, series="b"),
    ]
    one, other = summarize(passes, METRICS)
    assert one.averaged == ("1", "4")
    assert one.rows[0].values == (1.0, 2.0)
    assert one.left_out == (("warm", "not scored"), ("2", "seed: 19 of 20"), ("3", "edited"))
    assert not one.complete
    assert (other.series, other.averaged, other.complete) == ("b", ("1",), True)


def test_a_series_is_complete_when_every_scored_pass_is_averaged() -> None:
    warm, good, short = result("warm", scored=False), result("1"), result("2", complete=False)
    assert [
        summarize(passes, ())[0].complete for passes in ([warm, good], [good], [warm], [good, short], [short])
    ] == [True, True, False, False, False]
    assert summarize((), METRICS) == ()


_figures = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e9, max_value=1e9)
_results = st.builds(
    PassResult,
    series=st.sampled_from("ab"),
    label=st.uuids().map(str),
    scored=st.booleans(),
    complete=st.booleans(),
    metrics=st.dictionaries(st.sampled_from(("rate", "wer")), _figures),
    reasons=st.sampled_from(((), ("short",))),
    marks=st.sampled_from(((), ("edited",))),
)


def sound(one: PassResult) -> bool:
    return one.scored and one.complete and not one.reasons and not one.marks


@given(st.lists(_results, max_size=8))
def test_only_whole_scored_passes_are_averaged(passes: list[PassResult]) -> None:
    for summary in summarize(passes, METRICS):
        mine = [one for one in passes if one.series == summary.series]
        assert summary.averaged == tuple(one.label for one in mine if sound(one))
        assert {label for label, _ in summary.left_out} == {one.label for one in mine if not sound(one)}
        assert all(reason for _, reason in summary.left_out)
        for row in summary.rows:
            values = [one.metrics[row.metric] for one in mine if sound(one) and row.metric in one.metrics]
            assert row.values == tuple(values)
            assert row.mean == (statistics.mean(values) if values else None)
            assert (row.stdev is None) == (len(values) < 2)


@given(st.lists(_results, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_passes_changes_only_the_order_of_values(passes: list[PassResult], random: Any) -> None:
    shuffled = random.sample(passes, len(passes))
    before = {one.series: one for one in summarize(passes, METRICS)}
    after = {one.series: one for one in summarize(shuffled, METRICS)}
    assert before.keys() == after.keys()
    for name, one in before.items():
        other = after[name]
        assert sorted(one.averaged) == sorted(other.averaged)
        assert sorted(one.left_out) == sorted(other.left_out)
        assert one.complete == other.complete
        for row, same in zip(one.rows, other.rows, strict=True):
            assert (row.mean, row.stdev) == (same.mean, same.stdev)
            assert sorted(zip(row.passes, row.values, strict=True)) == sorted(
                zip(same.passes, same.values, strict=True)
            )


# -- tables ----------------------------------------------------------------------------------------------------

SUMMARIES = summarize(
    [
        result("warm", {"rate": 9.0}, scored=False),
        result("1", {"rate": 1.0, "wer": 0.123456789}),
        result("2", {"rate": 2.0, "wer": 0.0}),
        result("1", {"rate": 12_345_678.0}, series="b"),
        result("2", {"rate": 5.0}, series="b", complete=False, reasons=("seed: 19 of 20",)),
    ],
    METRICS,
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (0.0, "0"), (1.5, "1.5"), (0.123456789, "0.123457"), (12_345_678.0, "1.23457e+07"), (-3, "-3")],
)
def test_a_figure_has_six_digits_and_a_missing_one_is_a_dash(value: float | None, shown: str) -> None:
    assert number(value) == shown


TABLE = f"""Bench · r1

Series a: 2 scored passes averaged (1, 2)

metric  unit        mean    std dev  min       max  values
{"─" * 63}
rate ↑  req/s        1.5   0.707107    1         2  1  2
wer ↓          0.0617284  0.0872971    0  0.123457  0.123457  0
note    s              –          –    –         –
warm is left out: not scored

Series b: 1 scored pass averaged (1)

metric  unit          mean  std dev          min          max  values
{"─" * 74}
rate ↑  req/s  1.23457e+07        –  1.23457e+07  1.23457e+07  1.23457e+07
wer ↓                    –        –            –            –
note    s                –        –            –            –
2 is left out: seed: 19 of 20"""


def test_the_table() -> None:
    assert render("r1", "Bench", SUMMARIES, "table") == TABLE


def test_markdown() -> None:
    text = render("r1", "Bench", SUMMARIES, "md")
    assert text.startswith("# Bench (r1)\n\n**Series a: 2 scored passes averaged (1, 2)**\n\n| metric | unit |")
    assert "|---|---|---:|---:|---:|---:|---|\n| rate ↑ | req/s | 1.5 | 0.707107 | 1 | 2 | 1  2 |\n" in text
    assert "\n- warm is left out: not scored" in text
    assert "| note | s | – | – | – | – |  |" in text


def test_csv_keeps_every_digit() -> None:
    read_back = list(csv.DictReader(io.StringIO(render("r1", "Bench", SUMMARIES, "csv"))))
    assert len(read_back) == 6
    assert [row["n"] for row in read_back] == ["2", "2", "0", "1", "0", "0"]
    wer = read_back[1]
    assert (wer["series"], wer["metric"], wer["direction"]) == ("a", "wer", "lower")
    assert wer["values"] == "0.123456789 0.0"
    assert (read_back[2]["mean"], read_back[2]["stdev"]) == ("", "")
    assert read_back[3]["stdev"] == ""


def test_json_says_what_is_missing() -> None:
    found = json.loads(render("r1", "Bench", SUMMARIES, "json"))
    assert (found["run"], found["title"]) == ("r1", "Bench")
    one, other = found["series"]
    assert (one["complete"], other["complete"]) == (True, False)
    assert other["left_out"] == [["2", "seed: 19 of 20"]]
    assert other["rows"][0]["stdev"] is None
    assert one["rows"][2] == {
        **{"metric": "note", "unit": "s", "direction": "none"},
        **{"mean": None, "stdev": None, "values": [], "passes": [], "minimum": None, "maximum": None},
    }


@pytest.mark.parametrize("form", ["table", "md", "csv", "json"])
@pytest.mark.parametrize(
    "summaries", [(), (Summary("a", (), (), ()),), summarize([result(complete=False)], METRICS)]
)
def test_every_form_bears_nothing(form: Format, summaries: tuple[Summary, ...]) -> None:
    text = render("r1", "Bench", summaries, form)
    assert ("r1" in text) == (form != "csv" or any(one.rows for one in summaries))


# -- provenance ------------------------------------------------------------------------------------------------


def test_provenance_names_the_run_and_what_was_edited_or_skipped() -> None:
    there = state({"a/1/client": green()})
    for step_id in ("a/1/score", "a/1/client", "a/10/client", "_/_/check"):
        there = there.with_step(step_id, StepRecord(edited="echo"))
    for step_id in ("_/_/models", "b/_/venv"):
        there = there.with_step(step_id, StepRecord(status=Skipped(at=AT, reason="there by hand")))
    found = provenance(there, "a/1")
    assert found["skipped"] == {"models": "there by hand"}
    assert keys_of(found)["skipped"] == "models"
    assert keys_of(provenance(there, "b/1"))["skipped"] == "models, venv"
    assert (found["run"], found["pass"]) == ("20260102-030405-bench", "a/1")
    assert found["edited_steps"] == ["_/_/check", "a/1/client", "a/1/score"]
    assert found["packages"]["pytest"]
    assert found["host"]["cpus"]


def test_provenance_tells_what_was_read_back_of_the_steps_of_its_pass() -> None:
    evidence = ("READY: 3 ms", "(pinned): 4 threads of 2 processes keep to CPUs 2-15")
    kept = Passed(attempt=1, at=AT, evidence=evidence)
    there = state({"a/1/serve": kept, "a/2/serve": kept, "a/1/client": green()})
    assert pinned(there, "a/1") == {"pinned": ["serve: 4 threads of 2 processes keep to CPUs 2-15"]}
    assert pinned(there, "b/1") == {}


def test_numbers_that_are_not_finite_are_told_apart_and_are_words(tmp_path: Path) -> None:
    (tmp_path / "args.json").write_text('{"a": NaN, "b": [Infinity, -Infinity, null, 1.0], "c": 1e16}')
    known = tuple(Known(id=name, file="args.json", path=name) for name in "abc")
    found = told(Runbook(schema=1, title="T", summary="S", provenance=known), tmp_path, {})
    assert found == {"a": "NaN", "b": '["Infinity","-Infinity",null,1.0]', "c": "1e16"}


def test_what_lacks_another_file_is_another_measurement_and_a_whole_one_is_what_it_was(tmp_path: Path) -> None:
    one, other, gone = tmp_path / "one", tmp_path / "other", tmp_path / "gone"
    one.write_text("x")
    other.write_text("x")
    assert content_of([one, gone]) != content_of([gone, one]) != content_of([one])
    digest = hashlib.sha256(b"x").digest()
    assert content_of([one, other]) == hashlib.sha256(digest + digest).hexdigest()
    assert content_of([gone, gone]) == ""


def test_remedies_that_a_pass_stands_on_are_told_with_their_ends() -> None:
    def remedy(event: str, step: str, say: str, **more: object) -> dict[str, object]:
        return {"event": event, "step": step, "remedy": say, "command": "true", **more}

    events: list[dict[str, object]] = [
        {"event": "runner_started"},
        remedy("remedy_begun", "_/_/check", "Mend it."),
        remedy("remedy_taken", "_/_/check", "Mend it.", exit=0),
        remedy("remedy_begun", "a/10/serve", "Not ours."),
        remedy("remedy_taken", "a/10/serve", "Not ours.", exit=1),
        remedy("remedy_begun", "a/1/serve", "Restart."),
    ]
    found = remedies(events, "a/1")
    assert [(one["step"], one.get("exit")) for one in found] == [("_/_/check", 0), ("a/1/serve", None)]
    told = keys_of({"remedies": found})["remedies"]
    assert told == "_/_/check: Mend it. (exit status 0); a/1/serve: Restart. (its end is not known)"
    assert (keys_of({"remedies": []})["remedies"], keys_of({})["remedies"]) == ("none", None)


def test_a_card_that_is_named_twice_is_one_card() -> None:
    cards = (Gpu("GPU-a", 0, "H200"), Gpu("GPU-b", 1, "H200"), Gpu("MIG-c", 0, "H200 MIG"))
    lines = [Sample(1.0, GpuLook(cards), 0.0)]
    assert gpus(lines, "1,0,1")["uuids"] == ["GPU-b", "GPU-a"]
    assert gpus(lines, "0,0")["count"] == 1
    assert gpus(lines, "0,2") == {}
    assert gpus(lines, "") == {"count": 0}


def test_values_too_far_apart_for_a_deviation_have_none() -> None:
    found = row_of(("m", "", "higher"), [result("1", {"m": 1.7e308}), result("2", {"m": -1.7e308})])
    assert (found.mean, found.stdev) == (0.0, None)


def test_the_output_of_a_later_run_in_the_same_place_is_not_that_of_the_earlier(tmp_path: Path) -> None:
    out = tmp_path / "run1"

    def measured(rate: float) -> Measured:
        return Measured("r", tmp_path / "p", result("1", {"rate": rate}), {"out_here": str(out)})

    out.mkdir()
    assert measured(1.0).out == out
    (out / "metrics.json").write_text('{"metrics": {"rate": 1.0}}')
    assert measured(1.0).out == out
    out.rename(tmp_path / "run1-earlier")
    out.mkdir()
    assert measured(1.0).out == tmp_path / "run1-earlier"
    (out / "metrics.json").write_text('{"metrics": {"rate": 2.0}}')
    assert (measured(1.0).out, measured(2.0).out) == (tmp_path / "run1-earlier", out)
    (tmp_path / "run1-earlier" / "metrics.json").unlink()
    assert measured(1.0).out is None


def test_of_two_folders_that_came_out_alike_each_run_has_its_own(tmp_path: Path) -> None:
    out, aside = tmp_path / "run1", tmp_path / "run1-earlier"
    for folder, written in ((aside, 1_000.0), (out, 2_000.0)):
        folder.mkdir()
        (folder / "metrics.json").write_text('{"metrics": {"rate": 1.0}}')
        os.utime(folder / "metrics.json", (written, written))

    def measured(collected: str) -> Path | None:
        one = replace(result("1", {"rate": 1.0}), collected=collected)
        return Measured("r", tmp_path / "p", one, {"out_here": str(out)}).out

    assert measured("1970-01-01T00:16:40Z") == aside
    assert measured("1970-01-01T00:33:20Z") == out


def test_a_pass_of_which_much_is_missing_is_told_in_few_words() -> None:
    reasons = tuple(f"m{number}: speed.json is missing" for number in range(40))
    few = PassResult("main", "run1", True, False, {}, reasons, ("swapping",)).left_out
    assert few == "; ".join([*reasons[:3], "and 37 more", "swapping"])
    assert PassResult("main", "run1", True, False, {}, reasons[:4]).left_out == "; ".join(reasons[:4])
