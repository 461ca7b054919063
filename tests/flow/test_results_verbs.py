"""Comparing, exporting and taking in what real runs left."""

import csv
import json
from pathlib import Path

from omnitui.store import RunFolder
from tests.flow.desk import Desk
from tests.waiting import until


def measured(desk: Desk, **values: str) -> RunFolder:
    """A complete run of two scored passes."""
    before = {path.name for path in (desk.home / "runs").glob("2*")}
    assert desk.process(*desk.mini(schedule="two", **values)).code == 0
    (fresh,) = {path.name for path in (desk.home / "runs").glob("2*")} - before
    return RunFolder(desk.home / "runs" / fresh)


def test_two_runs_are_compared_and_exported(desk: Desk, tmp_path: Path) -> None:
    one, other, fewer = measured(desk), measured(desk), measured(desk, SAMPLES="2")

    # Alike: there may be a verdict, and two against two show nothing.
    told = desk.omnitui("compare", one.name, other.name, "--json")
    assert told.code == 0, told
    found = json.loads(told.out)
    assert found["locked"] == ""
    assert {difference["kind"] for difference in found["differences"]} <= {"told"}
    (latency,) = [metric for metric in found["metrics"] if metric["primary"]]
    assert latency["verdict"] == "no difference shown"
    assert "cannot have a p below 0.33" in latency["reason"] or "overlap" in latency["reason"]
    assert len(latency["a"]["values"]) == 2

    # Another number of samples is another measurement, unless the operator insists.
    told = desk.omnitui("compare", one.name, f"{fewer.name}/mini")
    assert told.code == 1
    assert "Cannot be compared: variable.SAMPLES differs." in told.out
    assert told.out.index("what differs") < told.out.index("verdict\n")
    told = desk.omnitui("compare", one.name, fewer.name, "--despite", "variable.SAMPLES")
    assert told.code == 0
    assert "Compared despite: variable.SAMPLES." in told.out

    # The operator's rules decide the exit code.
    rules = tmp_path / "accept.toml"
    rules.write_text('[[accept]]\nmetric = "wer"\nat_most = "base + 0.0002"\n')
    assert desk.omnitui("compare", one.name, other.name, "--accept", str(rules)).code == 0
    rules.write_text('[[accept]]\nmetric = "wer"\nat_most = "0.5x"\n')
    told = desk.omnitui("compare", one.name, other.name, "--accept", str(rules))
    assert told.code == 1
    assert "0.25 > 0.125" in told.out

    # The catalog finds the same passes.
    told = desk.omnitui("compare", f"run={one.name}", f"run={other.name}", "--format", "csv")
    assert told.code == 0
    listed = json.loads(desk.omnitui("passes", "runbook=mini", "--json").out)
    assert len(listed) == 6
    assert {row["left_out"] for row in listed} == {""}

    # Several runs are one document, in the order in which they were named.
    told = desk.omnitui("results", one.name, other.name, "--json")
    assert told.code == 0
    assert [found["run"] for found in json.loads(told.out)] == [one.name, other.name]
    assert json.loads(desk.omnitui("results", one.name, "--json").out)["not_measured"] == []
    lines = list(csv.DictReader(desk.omnitui("results", one.name, other.name, "--format", "csv").out.splitlines()))
    assert {line["run"] for line in lines} == {one.name, other.name}
    assert all(float(line["mean"]) for line in lines if line["metric"] == "wer")
    told = desk.omnitui("results", one.name, other.name, "--format", "html")
    assert (told.code, told.out) == (2, "")

    # One series cannot tell a noise floor, and nothing is written over.
    refused = desk.omnitui("noise-floor", one.name)
    assert refused.code == 2 and "schedule noise-floor" in refused.err
    page = tmp_path / "report.html"
    assert desk.omnitui("export", one.name, "-o", str(page)).code == 0
    assert page.read_text().startswith("<!doctype html>")
    assert desk.omnitui("export", one.name, "-o", str(page)).code == 2
    assert desk.omnitui("export", one.name, other.name, "--format", "md").out.startswith("# Mini benchmark")

    # What was measured is taken in again as if by hand: never in silence beside what is known.
    out = one.path / "work" / "run1"
    told = desk.omnitui("collect", str(one.runbook), str(out), "--series", "hand")
    assert told.code == 0, told
    name = told.out.split("taken in as ")[1].split(";")[0]
    assert "Taken in" in desk.omnitui("results", name).out
    told = desk.omnitui("compare", one.name, name)
    assert told.code == 1
    assert "origin" in told.out


def test_a_mark_after_the_collecting_leaves_the_pass_out_everywhere(desk: Desk) -> None:
    run = measured(desk)
    assert [row["left_out"] for row in json.loads(desk.omnitui("passes", "--json").out)] == ["", ""]
    assert desk.omnitui("redo", run.name, "mini/run2").code == 0
    rows = json.loads(until(lambda: desk.omnitui("passes", "--json").out))
    assert [(row["label"], row["left_out"]) for row in rows if row["label"] == "run1"] == [("run1", "")]
    (aside,) = [row for row in rows if row["label"] == "run2"]
    assert "begun again" in aside["left_out"]
    assert desk.omnitui("results", run.name).code == 1
    told = json.loads(desk.omnitui("compare", run.name, run.name, "--json").out)
    assert [len(metric["a"]["values"]) for metric in told["metrics"]][:2] == [1, 1]
    assert told["a"]["left_out"][0][1] == "not collected"
