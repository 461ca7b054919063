import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import soundfile as sf
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from omnitui.gates import Green, Red, judge_coverage
from omnitui.readings import CoverageReading, WorkloadReading
from omnitui.results.collecting import read_output
from omnitui.results.coverage import read_coverage
from omnitui.results.files import ResultError, read_json, search
from omnitui.runbook.measured import Check, Metric, Workload
from omnitui.runbook.schema import Runbook

WORKLOAD = Workload(
    id="seed",
    title="Seed",
    file="seed/${NAME}.json",
    rows="per_request",
    expect="${COUNT}",
    checks=(Check(path="summary.failed", equals="0"), Check(path="summary.name", equals="${NAME}")),
)
VALUES = {"NAME": "run", "COUNT": "3"}
GOOD: dict[str, Any] = {
    "summary": {"failed": 0, "name": "run", "request_rate": math.inf},
    "per_request": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
}


def book(*workloads: Workload) -> Runbook:
    return Runbook(schema=1, title="T", summary="S", workloads=workloads)


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., WorkloadReading]:
    """Write a result file, unless it is None, and read its coverage."""
    (tmp_path / "seed").mkdir()

    def reading(
        data: object, not_before: float = 0.0, workload: Workload = WORKLOAD, **values: str
    ) -> WorkloadReading:
        file = tmp_path / "seed" / "run.json"
        if data is not None:
            file.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())
            os.utime(file, (1000.0, 1000.0))
        found, _ = read_coverage(book(workload), tmp_path, {**VALUES, **values}, not_before)
        (one,) = found.workloads
        assert isinstance(judge_coverage(found), Red if one.wrong else Green)
        return one

    return reading


Read = Callable[..., WorkloadReading]


def changed(**changes: object) -> dict[str, Any]:
    return {**GOOD, **changes}


def rows(*ids: object) -> dict[str, Any]:
    return changed(per_request=[{"id": one} for one in ids])


def test_a_whole_file_is_complete(read: Read) -> None:
    assert read(GOOD) == WorkloadReading("seed", 3, 3, 3, done=3)


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (None, ("run.json is missing",)),
        (b"", ("run.json is not whole JSON (Expecting value: line 1 column 1 (char 0))",)),
        (rows("a", "b"), ("2 of 3 samples",)),
        (rows("a", "b", "c", "d"), ("4 of 3 samples",)),
        (rows("a", "b", "b"), ("ids more than once: b",)),
        (rows(1, "1", 2), ("ids more than once: 1",)),
        (rows("a", "b", None), ("1 samples without id",)),
        (rows("a", None, None), ("2 samples without id", "ids more than once: None")),
        (changed(per_request=["a", "b", "c"]), ("3 samples without id", "ids more than once: None")),
        (changed(per_request=[]), ("0 of 3 samples",)),
        (changed(per_request={"a": 1}), ("per_request is no list",)),
        (changed(per_request=None), ("per_request is no list",)),
        (changed(per_request="abc"), ("per_request is no list",)),
        ([], ("per_request is no list",)),
        (None, ("run.json is missing",)),
        (changed(summary={"failed": 2, "name": "run"}), ("summary.failed is 2 instead of 0",)),
        (changed(summary={"failed": 0.5, "name": "run"}), ("summary.failed is 0.5 instead of 0",)),
        (changed(summary={"failed": math.nan, "name": "run"}), ("summary.failed is nan instead of 0",)),
        (changed(summary={"failed": math.inf, "name": "run"}), ("summary.failed is inf instead of 0",)),
        (changed(summary={"failed": False, "name": "run"}), ("summary.failed is False instead of 0",)),
        (changed(summary={"failed": None, "name": "run"}), ("summary.failed is missing",)),
        (changed(summary={"failed": [], "name": "run"}), ("summary.failed is [] instead of 0",)),
        (changed(summary={"failed": 0, "name": 7}), ("summary.name is 7 instead of run",)),
        (changed(summary={}), ("summary.failed is missing", "summary.name is missing")),
        (changed(summary={"failed": 0.0, "name": "run"}), ()),
        (changed(summary={"failed": "0", "name": "run"}), ()),
    ],
)
def test_what_is_wrong_is_told(read: Read, data: object, wrong: tuple[str, ...]) -> None:
    assert read(data).wrong == wrong


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, [1.0, math.nan], {"a": {"b": [math.inf]}}])
def test_a_sample_with_a_number_that_is_not_finite_is_told(read: Read, odd: object) -> None:
    reading = read(changed(per_request=[{"id": "a", "s": 1.0}, {"id": "b", "s": odd}, {"id": "c", "s": "NaN"}]))
    assert reading.wrong == ("1 with a number that is not finite: b",)
    assert reading.ids == {"not finite": ("b",)}


def test_every_way_to_cut_a_file_is_seen(read: Read) -> None:
    data = json.dumps(GOOD).encode()
    for end in range(0, len(data), 7):
        (reason,) = read(data[:end]).wrong
        assert reason.startswith("run.json is not whole JSON")


def test_a_file_that_is_older_than_the_pass_is_stale(read: Read) -> None:
    assert read(GOOD, 999.0).wrong == ()
    assert read(GOOD, 1000.0).wrong == ()
    assert read(GOOD, 1000.5).wrong == ("run.json is older than this pass",)
    assert read(rows("a"), 2000.0).wrong == ("run.json is older than this pass", "1 of 3 samples")


@pytest.mark.parametrize("count", ["", "many", "-3", "3.0"])
def test_an_expectation_that_is_no_number_is_red(read: Read, count: str) -> None:
    assert read(GOOD, COUNT=count).wrong == (f"the number of samples it expects is {count!r}",)


def test_no_samples_of_none_expected_are_no_evidence(tmp_path: Path) -> None:
    (tmp_path / "seed").mkdir()
    (tmp_path / "seed" / "run.json").write_text(json.dumps(changed(per_request=[])))
    found, _ = read_coverage(book(WORKLOAD), tmp_path, {**VALUES, "COUNT": "0"}, 0.0)
    assert judge_coverage(found) == Red("seed: 0 of 0")


def test_another_key_names_the_samples(read: Read) -> None:
    keyed = Workload(id="s", title="S", file="seed/run.json", rows="[]", key="utt", expect="2")
    assert read([{"utt": 1}, {"utt": 2}], workload=keyed).wrong == ()
    assert read([{"utt": 1}, {"id": 2}], workload=keyed).wrong == ("1 samples without utt",)


def test_a_path_that_is_wrong_is_told(read: Read) -> None:
    bad = Workload(id="s", title="S", file="seed/run.json", rows="[", expect="2")
    assert read(GOOD, workload=bad).wrong[0].startswith("the path '[' is wrong")
    odd = Workload(id="s", title="S", file="seed/run.json", count="floor(summary.request_rate)", expect="3")
    assert read(GOOD, workload=odd).wrong[0].startswith("the path 'floor(summary.request_rate)' is wrong: ")
    check = Check(path="length(nothing)", equals="3")
    bad = Workload(id="s", title="S", file="seed/run.json", rows="per_request", expect="3", checks=(check,))
    assert read(GOOD, workload=bad).wrong[0].startswith("the path 'length(nothing)' is wrong")


@given(st.lists(st.none() | st.sampled_from("abcd") | st.integers(0, 2), max_size=6), st.integers(0, 5))
@settings(max_examples=60)
def test_complete_means_as_many_as_expected_each_once(
    tmp_path_factory: pytest.TempPathFactory, ids: list[object], expected: int
) -> None:
    folder = tmp_path_factory.mktemp("out")
    (folder / "r.json").write_text(json.dumps([{"id": one} for one in ids]))
    workload = Workload(id="w", title="W", file="r.json", rows="@", expect=str(expected))
    found, _ = read_coverage(book(workload), folder, {}, 0.0)
    whole = len(set(map(str, ids))) == len(ids) == expected > 0 and None not in ids
    assert isinstance(judge_coverage(found), Green) == whole


def test_workloads_are_read_each_for_itself(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"id": 1}]')
    found, _ = read_coverage(
        book(*(Workload(id=name, title=name, file=f"{name}.json", rows="@", expect="1") for name in "ab")),
        tmp_path,
        {},
        0.0,
    )
    assert [one.wrong for one in found.workloads] == [(), ("b.json is missing",)]
    assert judge_coverage(found) == Red("b: b.json is missing")


# -- audio of a workload ---------------------------------------------------------------------------------------

SPOKEN = Workload(id="s", title="S", file="r.json", rows="@", expect="2", audio="audio/*.wav")


def spoken(folder: Path, **files: float) -> WorkloadReading:
    (folder / "audio").mkdir(exist_ok=True)
    (folder / "r.json").write_text('[{"id": "a"}, {"id": "b"}]')
    for name, level in files.items():
        sf.write(folder / "audio" / f"{name}.wav", np.full(100, level), 16_000)
    found, audio = read_coverage(book(SPOKEN), folder, {}, 0.0)
    assert audio["s"].files == len(files)
    return found.workloads[0]


def test_each_sample_needs_its_sound(tmp_path: Path) -> None:
    assert spoken(tmp_path, a=0.5, b=0.5).wrong == ()
    assert spoken(tmp_path, a=0.5, b=0.5, c=0.5).wrong == ("3 of 2 audio files",)


def test_missing_and_silent_sounds_are_told(tmp_path: Path) -> None:
    reading = spoken(tmp_path, a=0.0)
    assert reading.wrong == ("1 of 2 audio files", "no audio for b", "a.wav is silent")
    assert reading.ids == {"no audio": ("b",)}


def test_sounds_are_found_by_the_ids_of_their_samples(tmp_path: Path) -> None:
    assert spoken(tmp_path, a=0.5, other=0.5).wrong == ("no audio for b",)


def test_sounds_of_an_earlier_pass_are_told(tmp_path: Path) -> None:
    spoken(tmp_path, a=0.5, b=0.5)
    os.utime(tmp_path / "audio" / "a.wav", (1000.0, 1000.0))
    found, _ = read_coverage(book(SPOKEN), tmp_path, {}, 2000.0)
    (reading,) = found.workloads
    assert reading.wrong == ("a.wav is older than this pass",)


def test_only_a_few_bad_sounds_are_named(tmp_path: Path) -> None:
    reading = spoken(tmp_path, **{f"x{number}": 0.0 for number in range(8)})
    assert reading.wrong == (
        "8 of 2 audio files",
        "no audio for a, b",
        *(f"x{number}.wav is silent" for number in range(5)),
        "and 3 more audio files",
    )


# -- result files ----------------------------------------------------------------------------------------------


def test_numbers_and_texts_that_nobody_could_store_are_read_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(
        '{"n": 1%s, "one": "\\ud800", "pair": "\\ud83d\\ude00", "\\udfff": ["\\\\ud800"]}' % ("0" * 400)
    )
    found = read_json(file)
    assert found == {"n": math.inf, "one": "\ufffd", "pair": "\U0001f600", "\ufffd": ["\\ud800"]}
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(ResultError, match="it is no file"):
        read_json(tmp_path / "pipe.json")


@pytest.mark.parametrize("number", ["1" + "0" * 400, "1e17", "-100000000000000000000"])
def test_a_number_that_is_too_large_is_no_count(tmp_path: Path, number: str) -> None:
    (tmp_path / "a.json").write_text(f'{{"rate": {number}, "count": {number}}}')
    metric = Metric(id="rate", file="a.json", path="rate")
    workload = Workload(
        id="w", title="W", file="a.json", count="count", expect="3", checks=(Check(path="count", equals="3"),)
    )
    found = read_output(structs.replace(book(workload), metrics=(metric,)), tmp_path, {})
    assert all(map(math.isfinite, found.metrics.values()))
    assert not found.complete
    msgspec.json.encode((found.coverage, found.metrics))


def test_json_that_only_python_reads_is_read(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text('{"a": NaN, "b": Infinity, "c": -Infinity}')
    found = read_json(file)
    assert math.isnan(found["a"])
    assert (found["b"], found["c"]) == (math.inf, -math.inf)
    assert search("nothing.here", found) is None


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"\0\0\0", b'{"a": 1} x', b"[1,]"])
def test_a_file_that_is_not_whole_is_told(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "r.json"
    file.write_bytes(data)
    with pytest.raises(ResultError, match=r"r\.json"):
        read_json(file)
    with pytest.raises(ResultError, match="cannot be read"):
        read_json(tmp_path)


def test_a_file_that_is_nested_too_deeply_is_told(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(b"[" * 100_000)
    with pytest.raises(ResultError, match="is not whole JSON"):
        read_json(tmp_path / "r.json")


TOLD = Workload(
    id="told",
    title="Told",
    file="seed/run.json",
    count="results[0].evaluated",
    expect="3",
    checks=(Check(path="config.limit == `null` && contains(keys(config), 'limit')", equals="true"),),
)


@pytest.mark.parametrize(
    ("evaluated", "config", "wrong"),
    [
        (3, {"limit": None}, ()),
        (2, {"limit": None}, ("2 of 3 samples",)),
        (None, {"limit": None}, ("results[0].evaluated is missing, no number of samples",)),
        ("3", {"limit": None}, ("results[0].evaluated is '3', no number of samples",)),
        (True, {"limit": None}, ("results[0].evaluated is True, no number of samples",)),
        (3.0, {"limit": None}, ("results[0].evaluated is 3.0, no number of samples",)),
        (3, {"limit": 65536}, ("is False instead of true",)),
        (3, {}, ("is False instead of true",)),
    ],
)
def test_a_file_may_only_tell_how_many_samples_it_has(
    tmp_path: Path, evaluated: object, config: object, wrong: tuple[str, ...]
) -> None:
    (tmp_path / "seed").mkdir()
    (tmp_path / "seed" / "run.json").write_text(
        json.dumps({"results": [{"evaluated": evaluated}], "config": config})
    )
    found, _ = read_coverage(book(TOLD), tmp_path, {}, 0.0)
    (one,) = found.workloads
    assert len(one.wrong) == len(wrong)
    assert all(reason in said for said, reason in zip(one.wrong, wrong, strict=True))
    assert isinstance(judge_coverage(found), Red if wrong else Green)


@pytest.mark.parametrize(
    ("speed", "age", "wrong"),
    [
        ({"failed": 0}, 1000.0, ()),
        ({"failed": 1}, 1000.0, ("failed is 1 instead of 0",)),
        (None, 1000.0, ("speed.json is missing",)),
        ({"failed": 0}, 100.0, ("speed.json is older than this pass",)),
    ],
)
def test_a_check_may_look_into_another_file(
    read: Read, tmp_path: Path, speed: object, age: float, wrong: tuple[str, ...]
) -> None:
    check = Check(file="seed/speed.json", path="failed", equals="0")
    two = Workload(id="two", title="Two", file="seed/run.json", rows="per_request", expect="3", checks=(check,))
    if speed is not None:
        (tmp_path / "seed" / "speed.json").write_text(json.dumps(speed))
        os.utime(tmp_path / "seed" / "speed.json", (age, age))
    assert read(GOOD, 500.0, two).wrong == wrong


def test_a_metric_without_a_number_is_not_covered(read: Read) -> None:
    whole = CoverageReading((read(GOOD),), missing=("wer: summary.wer is missing in run.json",))
    assert judge_coverage(whole) == Red("wer: summary.wer is missing in run.json")
