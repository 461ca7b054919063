"""Results that were measured by hand: taken in, marked, and never compared in silence."""

import json
import os
import shutil
from pathlib import Path

import pytest
from msgspec import structs
from omnitui import comparing
from omnitui.errors import OmniError, UsageError
from omnitui.results import catalog, groups
from omnitui.results.catalog import Query
from omnitui.results.importing import Asked, TakenIn, label_of, take_in
from omnitui.results.judging.compare import Comparison, Group, compare, measure_floor
from omnitui.results.judging.noise import NoFloor, machine_of
from omnitui.results.keys import roles_of
from omnitui.results.passes import PassResult
from omnitui.results.sources import find, of_import
from omnitui.results.statistics import TWICE, each_once
from omnitui.results.table import REHEARSAL
from omnitui.results.telling import report
from omnitui.results.telling.comparison import render
from omnitui.results.telling.page import comparison_page
from omnitui.runbook.load import files_of, load
from omnitui.ui.browsing import trends
from omnitui.ui.browsing.comparison_rows import about_rows
from tests.unit.recorded import DATA, RUNBOOKS, copied


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OMNITUI_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


BOOK = """
schema = 1
title = "Speech"
summary = "Cut down."

[variables.SEED]
default = "0"
help = "Seed."

[variables.PORT]
default = "8000"
compare = "told"
help = "Port."

[passes]
out = "/results/run${PASS}"
unscored = ["0"]

[[workloads]]
id = "seedtts"
title = "seed-tts"
file = "seedtts/speed_results.json"
rows = "per_request"
expect = "6"
failed = "per_request[?is_success != `true`].id"

[[metrics]]
id = "rate"
file = "seedtts/speed_results.json"
path = "summary.throughput_qps"
unit = "req/s"
direction = "higher"
primary = true

[[samples]]
id = "latency"
file = "seedtts/speed_results.json"
rows = "per_request"
value = "latency_s"
unit = "s"
direction = "lower"

[[provenance]]
id = "commit"
file = "commit.txt"
compare = "subject"
"""
KNOWN = {
    **{"gpu.names": "NVIDIA H200", "gpu.uuids": "GPU-1", "gpu.driver": "570", "host.name": "node"},
    **{"host.cpu": "AMD", "host.cpus": "0-15"},
}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "speech"
    folder.mkdir()
    (folder / "runbook.toml").write_text(BOOK)
    return folder


def measured(book: Path, run: str) -> Path:
    """A measurement of its own: no other one lies in that folder, and its files differ by a space."""
    number = len(list(book.parent.glob("by-hand-*")))
    folder = Path(shutil.copytree(DATA / "minicpmo" / run, book.parent / f"by-hand-{number}" / run))
    with (folder / "seedtts" / "speed_results.json").open("a") as file:
        file.write(" " * number)
    return folder


def taken(book: Path, series: str, **facts: str) -> tuple[Group, list[TakenIn]]:
    folders = [measured(book, run) for run in ("run1", "run2", "run3")]
    where, found = take_in(book, folders, Asked(series=series, variables={"SEED": "0"}, facts={**KNOWN, **facts}))
    return groups.group(where.name), found


def compared(a: Group, b: Group, *despite: str) -> Comparison:
    return compare(a, b, despite=despite)


def test_what_was_taken_in_is_marked_and_kept(book: Path) -> None:
    group, found = taken(book, "mine")
    assert [(one.result.label, one.result.complete) for one in found] == [("1", True), ("2", True), ("3", True)]
    assert [one.result.metrics["rate"] for one in group.good] == [79.301, 75.532, 94.349]
    assert {one.result.origin for one in group.passes} == {"import"}
    assert all(one.result.commit.startswith("070fc3b5") for one in group.passes)
    source = of_import(group.passes[0].folder.parents[2])
    assert "Taken in" in report.as_table(source, "table")
    assert find(source.name[:8]).name == source.name
    assert find(None).name == source.name


def test_it_is_never_compared_in_silence(book: Path) -> None:
    (a, _), (b, _) = taken(book, "a"), taken(book, "b")
    found = compared(a, b)
    blocking = {one.key for one in found.differences if one.blocks}
    # Nobody has said whether a command was edited or a step skipped, what the containers were, or on which port.
    assert blocking == {"edited", "skipped", "containers"}
    assert {one.verdict for one in found.metrics} == {"cannot be compared"}
    assert "edited is not known" in render(found, "table")
    waved = compared(a, b, "unknown")
    assert waved.locked == ""
    assert "Compared despite: containers, edited, skipped." in render(waved, "md")
    (rate,) = waved.metrics
    assert (rate.verdict, rate.p) == ("no difference shown", 1.0)


def test_another_gpu_cannot_be_waved_through_as_unknown(book: Path) -> None:
    (a, _), (b, _) = taken(book, "a"), taken(book, "b", **{"gpu.names": "NVIDIA H100"})
    assert compared(a, b, "unknown").locked == "gpu.names differs"
    assert compared(a, b, "unknown", "gpu.names").locked == ""


def test_a_variable_that_nobody_told_is_not_known(book: Path) -> None:
    folders = [DATA / "minicpmo" / "run1"]
    where, _ = take_in(book, folders, Asked(facts=KNOWN))
    group = groups.group(where.name)
    assert "variable.SEED" in {one.key for one in compared(group, group).differences if one.blocks}


def test_numbers_of_ci_never_stand_beside_scored_ones(book: Path) -> None:
    a, _ = taken(book, "a")
    asked = Asked(variables={"SEED": "0"}, facts=KNOWN, ci=True)
    where, _ = take_in(book, [measured(book, "run1")], asked)
    found = compared(a, groups.group(where.name), "unknown")
    assert found.locked == "origin differs"
    assert [one.final for one in found.differences if one.key in ("origin", "edited")] == [True, False]
    with pytest.raises(UsageError, match="origin: never"):
        compared(a, groups.group(where.name), "unknown", "origin")


def test_samples_are_paired_and_told(book: Path) -> None:
    (a, _), (b, _) = taken(book, "a"), taken(book, "b")
    (paired,) = compared(a, b, "unknown").samples
    assert (paired.pairs, paired.equal) == (6, 6)
    assert "latency" in render(compared(a, b, "unknown"), "table")


def test_every_form_of_a_comparison(book: Path) -> None:
    (a, _), (b, _) = taken(book, "a"), taken(book, "b")
    found = compared(a, b, "unknown")
    assert json.loads(render(found, "json"))["metrics"][0]["a"]["values"] == [79.301, 75.532, 94.349]
    head, line = render(found, "csv").splitlines()
    assert head.startswith("metric,unit,direction,primary,verdict")
    assert line.endswith("containers edited skipped,")
    page = comparison_page(found)
    assert page.count("<svg") == 1
    assert "<script" not in page
    assert "://" not in page
    assert report.as_page(find(a.name.partition("/")[0])).count("<svg") == 1


def test_a_rule_on_what_was_not_measured_cannot_be_judged_and_one_on_nothing_is_an_error(
    book: Path, home: Path
) -> None:
    slow = '\n[[metrics]]\nid = "slow"\nfile = "x.json"\npath = "x"\nwhen = { SEED = ["1"] }\n'
    (book / "runbook.toml").write_text(BOOK + slow)
    (book / "accept.toml").write_text('[[accept]]\nmetric = "rate"\nat_least = "1.02x"\nwhy = "faster"\n')
    (a, _), (b, _) = taken(book, "a"), taken(book, "b")
    beside = compared(a, b, "unknown")
    assert [(one.metric, one.ruling, one.why) for one in beside.rules] == [("rate", "refused", "faster")]
    own = home / "accept" / "speech.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[[accept]]\nmetric = "slow"\nat_most = "1"\n')
    found = compared(a, b, "unknown")
    assert (found.rules_from, found.accepted) == (str(own), False)
    assert [(one.ruling, one.reason) for one in found.rules] == [("cannot be judged", "not measured here")]
    assert "slow" in render(found, "csv").splitlines()[-1]
    own.write_text('[[accept]]\nmetric = "rates"\nat_most = "1"\n')
    with pytest.raises(UsageError, match="did you mean rate"):
        compared(a, b)


def test_what_comes_from_outside_is_escaped(book: Path) -> None:
    (a, _), (b, _) = taken(book, "a", **{"host.cpu": "<script>"}), taken(book, "b")
    page = comparison_page(compared(Group("<b>a", a.runbook, a.passes), b))
    assert "<script>" not in page
    assert "&lt;b&gt;a" in page


def test_a_path_of_samples_that_is_not_known_is_told_and_hides_no_metric(book: Path) -> None:
    text = BOOK.replace('id = "latency"\nfile = "seedtts/', 'id = "latency"\nfile = "${PORT}/${SERIES}/')
    (book / "runbook.toml").write_text(text)
    (a, _), (b, _) = taken(book, "a"), taken(book, "b")
    found = compared(a, b, "unknown")
    assert found.metrics[0].a.mean is not None
    assert "PORT has no value" in found.samples[0].unread[0]


def test_two_commits_tell_no_noise_floor(book: Path) -> None:
    (a, _) = taken(book, "a")
    known: dict[str, object] = {"edited": {}, "skipped": {}, "containers": []}
    sides: list[Group] = []
    for commit in ("070fc3b", "5ed8a8d"):
        passes = tuple(
            structs.replace(
                one,
                result=structs.replace(one.result, commit=commit),
                known={**one.known, **known, "variables": {"SEED": "0", "COMMIT": commit}},
            )
            for one in a.passes
        )
        sides.append(Group(commit, a.runbook, passes))
    assert measure_floor("x", sides[0], sides[0], "now").passes == 6
    with pytest.raises(NoFloor, match="commit not the same"):
        measure_floor("x", sides[0], sides[1], "now")


def test_it_tells_no_noise_floor(book: Path) -> None:
    (a, _), (b, _) = taken(book, "a"), taken(book, "b")
    with pytest.raises(NoFloor, match="edited"):
        measure_floor("x", a, b, "now")


def test_a_page_of_its_own_that_says_otherwise_marks_the_pass(tmp_path: Path) -> None:
    folder = copied("minicpmo/run1", tmp_path)
    page = json.loads((DATA / "minicpmo" / "run1.metrics.json").read_text())
    (folder / "metrics.json").write_text(json.dumps({**page, "metrics": {**page["metrics"], "seedtts.sim": 1.0}}))
    _, (one,) = take_in(RUNBOOKS / "minicpmo-offline", [folder], Asked(series="x"))
    assert one.result.marks == ("its own metrics.json differs in seedtts.sim",)
    assert not one.result.complete
    assert any("6 of 1088 samples" in reason for reason in one.result.reasons)


def test_labels_come_from_the_folders_names() -> None:
    asr, mini = load(RUNBOOKS / "asr"), load(RUNBOOKS / "minicpmo-offline")
    assert label_of(asr, "runwarm") == ("warm", False)
    assert label_of(asr, "other") == ("other", False)
    assert label_of(mini, "run0") == ("run0", False)
    assert label_of(mini, "run4-incomplete-2") == ("run4-incomplete-2", True)


def test_what_cannot_be_taken_in_is_refused(book: Path, tmp_path: Path) -> None:
    run = DATA / "minicpmo" / "run1"
    with pytest.raises(UsageError, match="no workloads"):
        take_in(RUNBOOKS / "vllm-minicpmo-serving", [run], Asked())
    with pytest.raises(UsageError, match="is no folder"):
        take_in(book, [tmp_path / "nowhere"], Asked())
    with pytest.raises(UsageError, match="take them in apart"):
        take_in(book, [measured(book, "run1"), run], Asked(series="x"))
    with pytest.raises(UsageError, match="names= says nothing"):
        take_in(book, [run], Asked(facts={"gpu.names": " "}))
    with pytest.raises(UsageError, match="the output itself says 070fc3b5"):
        take_in(book, [run], Asked(facts={"commit": "5ed8a8d"}))
    with pytest.raises(UsageError, match="not one of"):
        take_in(book, [run], Asked(facts={"gpu": "H200"}))
    with pytest.raises(OmniError):
        groups.group("runbook=nothing")


def test_groups_are_chosen_from_the_catalog(book: Path) -> None:
    one, _ = taken(book, "a")
    taken(book, "b")
    found = groups.group("runbook=speech,series=a")
    assert len(found.passes) == 3
    assert {one.result.series for one in found.passes} == {"a"}
    with pytest.raises(UsageError, match="no pass has"):
        groups.group("runbook=speech,commit=ffff")
    run = one.name.partition("/")[0]
    for given, missing in (("run1", "series run1"), ("a/9", "pass a/9")):
        with pytest.raises(UsageError, match=f"has no {missing}; its passes: a/1, "):
            groups.group(f"{run}/{given}")


# -- a measurement counts once ---------------------------------------------------------------------------------


def test_a_folder_that_is_named_twice_is_refused_also_through_a_link(book: Path, tmp_path: Path) -> None:
    run = measured(book, "run1")
    (tmp_path / "run2").symlink_to(run)
    for again in (run, tmp_path / "run2"):
        with pytest.raises(UsageError, match="a measurement counts once"):
            take_in(book, [run, again], Asked())


def test_what_was_taken_in_twice_counts_once_on_a_side(book: Path) -> None:
    folders = [measured(book, run) for run in ("run1", "run2", "run3")]
    for _ in range(2):
        take_in(book, folders, Asked(series="main", variables={"SEED": "0"}, facts=KNOWN))
    (other, _) = taken(book, "other")
    found = compared(groups.group("series=main"), other, "unknown")
    assert (len(found.a.passes), len(found.a.left_out), found.locked) == (3, 3, "")
    assert {reason for _, reason in found.a.left_out} == {"the same measurement as another one"}
    assert found.metrics[0].a.values == (79.301, 75.532, 94.349)


PARTED = """
[variables.PARTS]
default = "seedtts,again"
choices = ["seedtts", "again"]
many = true
help = "What was measured."

[[workloads]]
when = { PARTS = ["again"] }
id = "again"
title = "Once more"
file = "again.json"
rows = "per_request"
expect = "6"
failed = "per_request[?is_success != `true`].id"
"""


def test_a_folder_that_is_taken_in_for_other_parts_is_the_same_measurement(book: Path) -> None:
    with (book / "runbook.toml").open("a") as file:
        file.write(PARTED)
    run = measured(book, "run1")
    (run / "again.json").write_bytes((run / "seedtts" / "speed_results.json").read_bytes())
    both, one = (
        groups.group(take_in(book, [run], Asked(variables={"PARTS": parts}, facts=KNOWN))[0].name)
        for parts in ("seedtts,again", "seedtts")
    )
    assert both.passes[0].result.complete and one.passes[0].result.complete
    found = compared(both, one, "unknown", "definition", "variable.PARTS")
    assert found.locked == "passes on both sides"


def test_a_copy_that_is_taken_in_counts_once_wherever_passes_are_pooled(book: Path) -> None:
    run = measured(book, "run1")
    copy = Path(shutil.copytree(run, book.parent / "backup" / "run7"))
    asked = Asked(series="main", variables={"SEED": "0"}, facts=KNOWN)
    take_in(book, [run], asked)
    where, _ = take_in(book, [copy, measured(book, "run2")], asked)
    found = groups.group("series=main")
    assert sorted(one.result.label for one in found.passes) == ["1", "2", "7"]
    assert sorted(one.result.label for one in found.good) == ["1", "2"]
    trend = trends.read("speech", "NVIDIA H200")
    assert sorted(one.label for one in trend.passes) == ["1", "2"] and trend.left_out == 1
    # On the two sides of a comparison it is one measurement as well.
    one, two = (
        Group(label, found.runbook, tuple(one for one in found.passes if one.result.label == label))
        for label in ("1", "7")
    )
    assert compared(one, two, "unknown").locked == "passes on both sides"
    # Named with its original, its import has it once too.
    both, _ = take_in(book, [run, copy], asked)
    table = report.as_table(find(both.name), "table")
    assert "1 scored pass" in table and "7 is left out: the same measurement as another one" in table
    assert len(find(where.name).passes) == 2
    page = report.as_page(find(both.name))
    assert page.count("✔ averaged") == 1 and page.count("the same measurement as another one") == 1


def test_what_is_said_to_be_averaged_is_what_the_means_are_of(book: Path) -> None:
    run = measured(book, "run1")
    copy = Path(shutil.copytree(run, book.parent / "backup" / "run7"))
    asked = Asked(series="main", variables={"SEED": "0"}, facts=KNOWN)
    (where, _), _ = take_in(book, [run, measured(book, "run2")], asked), take_in(book, [copy], asked)
    (_, _, averaged) = catalog.groups("series", Query())[0]
    assert averaged == len(groups.group("series=main").good) == 2
    assert [count for _, _, count in catalog.groups("run", Query())] == [2, 1]
    said: list[str] = []
    comparing.tell_passes({"series": "main"}, "label", 50, said.append, ascending=True, as_json=True)
    assert [(one["label"], one["left_out"]) for one in json.loads(said[0])] == [("1", ""), ("2", ""), ("7", TWICE)]
    comparing.tell_passes({"run": where.name}, "label", 50, said.append, ascending=True, as_json=False)
    assert said[1].count("averaged") == 2
    lines: list[str] = []
    comparing.collect(str(book), [run, copy], asked, lines.append)
    told = [line.strip() for line in lines if line.startswith(("  averaged", "  left out"))]
    assert told == ["averaged", f"left out of the averages: {TWICE}"]


def test_passes_of_runs_are_never_one_measurement() -> None:
    def one(label: str, origin: str, sha256: str = "a") -> PassResult:
        return PassResult("main", label, True, True, {"rate": 1.0}, origin=origin, sha256=sha256)

    passes = [one("1", "run"), one("2", "run"), one("3", "import"), one("4", "ci"), one("5", "import", "b")]
    assert [found.label for found in each_once(passes)] == ["1", "2", "5"]
    unknown = [one("1", "import", ""), one("2", "import", "")]
    assert each_once(unknown) == unknown


def test_thousands_of_runs_that_wrote_the_same_are_told_apart_at_once() -> None:
    class One:
        sha256 = "a"
        looks = 0

        def __init__(self, origin: str) -> None:
            self._origin = origin

        @property
        def origin(self) -> str:
            One.looks += 1
            return self._origin

    runs = [One("run") for _ in range(1000)]
    assert each_once([*runs, One("import")]) == runs
    assert One.looks < 10 * len(runs)


def test_nothing_is_compared_with_itself(book: Path) -> None:
    (a, _) = taken(book, "a")
    rule = book / "rule.toml"
    rule.write_text('[[accept]]\nmetric = "rate"\nat_least = "1.0x"\n')
    part = Group("part", a.runbook, a.passes[2:])
    found = compare(a, part, despite=["unknown"], accept=rule)
    assert found.locked == "passes on both sides"
    assert [one.ruling for one in found.rules] == ["cannot be judged"]
    with pytest.raises(UsageError, match="never"):
        compare(a, part, despite=["unknown", "passes"])


def test_a_selector_means_the_series_of_that_name(book: Path) -> None:
    taken(book, "a")
    taken(book, "ab")
    assert {one.result.series for one in groups.group("series=a").passes} == {"a"}
    assert {one.result.series for one in groups.group("runbook=spe").passes} == {"a", "ab"}


def test_passes_that_were_not_measured_alike_share_no_mean_in_a_comparison(book: Path) -> None:
    (a, _), (b, _) = taken(book, "a"), taken(book, "b", **{"gpu.names": "NVIDIA H100"})
    mixed = Group("mixed", a.runbook, (*a.passes, *b.passes))
    (other, _) = taken(book, "other")
    found = compared(mixed, other, "unknown")
    assert (found.metrics[0].a.mean, found.metrics[0].a.stdev, len(found.metrics[0].a.values)) == (None, None, 6)
    assert found.metrics[0].b.mean is not None
    assert comparison_page(found).count('class="mean"') == 1
    drawn = ["".join(cell.text for cell in row.left) for row in about_rows(found.metrics[0], found, 60)]
    assert ["│" in line for line in drawn if "─" in line] == [False, True]
    waved = compared(mixed, other, "unknown", "gpu.names")
    assert waved.metrics[0].a.mean is not None


def test_a_run_and_its_folder_taken_in_through_a_link_are_one_measurement(book: Path, tmp_path: Path) -> None:
    (a, _) = taken(book, "a")
    (tmp_path / "link").symlink_to(book.parent)
    out = tmp_path / "link" / Path(str(a.passes[0].known["out_here"])).relative_to(book.parent)
    configured = structs.replace(
        a.passes[0],
        folder=tmp_path / "p",
        result=structs.replace(a.passes[0].result, origin="run"),
        known={**a.passes[0].known, "out_here": str(out)},
    )
    assert configured.same_as(a.passes[0])
    assert not configured.same_as(a.passes[1])


def test_the_samples_of_a_later_run_in_the_same_folder_are_not_those_that_were_taken_in(book: Path) -> None:
    run = measured(book, "run1")
    where, _ = take_in(book, [run], Asked())
    assert groups.group(where.name).passes[0].out == run
    run.rename(run.with_name("run1-earlier"))
    run.mkdir()
    (run / "metrics.json").write_text('{"metrics": {"rate": 1.0}}')
    assert groups.group(where.name).passes[0].out is None
    (run.with_name("run1-earlier") / "metrics.json").write_text('{"metrics": {"rate": 79.301}}')
    assert groups.group(where.name).passes[0].out == run.with_name("run1-earlier")


def test_what_a_rehearsal_left_stays_rehearsed(book: Path, home: Path) -> None:
    made_up = home / "rehearsals" / "20260101-000000-speech" / "root" / "results" / "run1"
    shutil.copytree(measured(book, "run1"), made_up)
    where, (one,) = take_in(book, [made_up], Asked(series="x", variables={"SEED": "0"}, facts=KNOWN))
    assert one.result.rehearsal
    assert REHEARSAL in report.as_table(find(where.name), "table")
    (real, _) = taken(book, "real")
    assert compared(real, groups.group(where.name), "unknown").locked == "rehearsal differs"


# -- what shows nothing says nothing ---------------------------------------------------------------------------


def test_a_side_without_a_pass_that_counts_is_compared_with_nothing(book: Path) -> None:
    (a, _) = taken(book, "a")
    nothing = Group("nothing", a.runbook, ())
    found = compared(nothing, a)
    assert found.locked == "no complete, scored pass in A"
    assert compared(nothing, nothing).locked == "no complete, scored pass in A and B"
    assert json.loads(render(found, "json"))["accepted"] is None
    assert "nothing differs" not in render(found, "table")
    assert "Nothing differs" not in comparison_page(found)


def test_the_floor_of_one_host_is_not_that_of_two(book: Path) -> None:
    (a, _), (b, _) = taken(book, "a"), taken(book, "b", **{"host.name": "other"})
    assert compared(a, a, "unknown").noise.startswith("no noise floor is stored")
    assert "not one" in compared(a, b, "unknown").noise
    (kept_for, *_) = a.passes
    machine = machine_of(kept_for.keys, roles_of(a.runbook))
    assert machine is not None
    assert machine["variable.SEED"] == "0"


def test_the_floor_of_one_setting_is_not_that_of_another_one_which_was_waved_through(book: Path) -> None:
    (a, _), (b, _) = taken(book, "a"), taken(book, "b", **{"gpu.uuids": "GPU-other"})
    assert compared(a, b, "unknown", "gpu.uuids").noise == (
        "no noise floor: the machine and the settings are not wholly known, or not one"
    )


# -- hostile folders -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["[" * 3000, '{"metrics": [[1, 2]]}', '{"metrics": null}', "3", "", "{"])
def test_a_page_of_its_own_that_cannot_be_read_marks_the_pass(book: Path, text: str) -> None:
    run = measured(book, "run1")
    (run / "metrics.json").write_text(text)
    _, (one,) = take_in(book, [run], Asked())
    assert one.result.marks == ("its own metrics.json cannot be read",)


@pytest.mark.parametrize("complete", ["false", "null", '"false"', "0"])
def test_a_page_of_its_own_that_is_not_complete_marks_the_pass(book: Path, complete: str) -> None:
    run = measured(book, "run1")
    (run / "metrics.json").write_text(f'{{"metrics": {{"rate": 79.301}}, "complete": {complete}}}')
    _, (one,) = take_in(book, [run], Asked())
    assert one.result.marks == ("its own metrics.json says that it is incomplete",)


def test_names_that_are_no_utf8_are_refused_or_told(book: Path) -> None:
    run = measured(book, "run1")
    odd = Path(os.fsdecode(os.fsencode(run) + b"\xff"))
    run.rename(odd)
    with pytest.raises(UsageError, match="no UTF-8"):
        take_in(book, [odd], Asked())


def test_an_import_is_whole_or_not_there(book: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken(book, "a")
    (before,) = sorted((home / "imports").iterdir())
    (book / "more.sh").symlink_to("nowhere")
    files = [*files_of(book), book / "more.sh"]
    monkeypatch.setattr("omnitui.results.importing.files_of", lambda folder: files)
    with pytest.raises(OmniError):
        taken(book, "b")
    assert sorted((home / "imports").iterdir()) == [before]


@pytest.mark.parametrize("series", ["../x", "a/b", ".hidden", "a b", "\x1b[2J"])
def test_a_series_is_a_name(book: Path, series: str) -> None:
    with pytest.raises(UsageError, match="a name has letters"):
        take_in(book, [measured(book, "run1")], Asked(series=series))


def test_folders_are_found_again_whatever_their_path_and_names_are(
    book: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = measured(book, "run1")
    monkeypatch.chdir(run)
    odd = book / ".hid den" / "run.\x1b[2J漢 字"
    shutil.copytree(run, odd)
    for folder in (Path(".."), Path("../run1"), Path("../run1/../run1"), odd, Path()):
        where, found = take_in(book, [folder], Asked())
        (one,) = groups.group(where.name).passes
        assert one.folder.parents[1] == home / "imports" / where.name / "passes"
        assert one.result == found[0].result
        catalog.refresh()
        assert [row.folder for row in catalog.page(Query((("run", where.name),)))[0]] == [str(one.folder)]
    assert "hid-den/2J漢-字" in {f"{row.series}/{row.label}" for row in catalog.page(Query())[0]}
