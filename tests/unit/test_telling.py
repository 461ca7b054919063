"""Telling results: no average over passes that were not measured alike, and pages that are whole and safe."""

import csv
import json
from pathlib import Path

import pytest
import tomli_w
from omnitui import comparing
from omnitui.results.sources import Source, find
from omnitui.results.telling import report
from tests.result_stores import known, result, take_in

OTHER = [{"image": "sha256:2", "gpus": ["GPU-a"], "cpuset": "2-15"}]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OMNITUI_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def three(**differs: object) -> Source:
    """A series of three passes, of which the last one has another provenance."""
    figures = {f"run{n}": {"speech.throughput": 4.0 + n, "wer": 0.02, "speech.tokens": 91.0} for n in (1, 2, 3)}
    passes = {f"main/{label}": result(label, 1, metrics) for label, metrics in figures.items()}
    home = take_in(passes, known("5ed8a8d", "main"))
    last = {**known("5ed8a8d", "main"), **differs}
    (home / "passes" / "main" / "run3" / "provenance.toml").write_text(tomli_w.dumps(last))
    return find(home.name)


@pytest.mark.parametrize(
    ("differs", "key"),
    [
        ({"containers": OTHER}, "containers"),
        ({"gpus": {"count": 1, "names": ["NVIDIA H200"], "uuids": ["GPU-b"], "driver": "575.57"}}, "gpu.uuids"),
        ({"gpus": {}}, "gpu.names"),
        ({"told": {"commit": "070fc3b"}}, "told.commit"),
    ],
)
def test_passes_that_may_not_be_compared_share_no_mean(differs: dict[str, object], key: str) -> None:
    (found,) = report.summaries_of(three(**differs))
    assert key in [one.key for one in found.unlike]
    assert {(row.mean, row.stdev) for row in found.rows} == {(None, None)}
    assert found.rows[0].values == (5.0, 6.0, 7.0)
    assert not found.complete


def test_what_is_told_only_and_what_nobody_knows_forbid_no_mean(home: Path) -> None:
    source = three(host={**known("", "")["host"], "boot": "c"}, remedies=[])  # type: ignore[dict-item]
    (found,) = report.summaries_of(source)
    assert (found.unlike, found.rows[0].mean, found.complete) == ((), 6.0, True)
    for one in source.passes:
        (one.folder / "provenance.toml").unlink()
    (found,) = report.summaries_of(find(source.name))
    assert (found.unlike, found.rows[0].mean) == ((), 6.0)


def test_every_form_says_why_there_is_no_mean() -> None:
    source = three(containers=OTHER)
    for form in ("table", "md"):
        told = comparing.exported(source.name, form)
        assert "no mean: 3 scored passes (run1, run2, run3) were not measured alike" in told
        assert told.index("containers differs: run1, run2: ") < told.index("speech.throughput")
        assert "sha256:2" in told
    (series,) = json.loads(comparing.exported(source.name, "json"))["series"]
    assert (series["unlike"][0]["key"], series["complete"], series["rows"][0]["mean"]) == (
        "containers",
        False,
        None,
    )
    line = next(csv.DictReader(comparing.exported(source.name, "csv").splitlines()))
    assert (line["mean"], line["unlike"], line["values"]) == ("", "containers", "5.0 6.0 7.0")
    page = comparing.exported(source.name, "html")
    assert page.index("containers differs") < page.index("speech.throughput")
    said: list[str] = []
    assert not comparing.tell_results([source.name], "table", said.append)
