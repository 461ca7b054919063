"""Telling results: no average over passes that were not measured alike, and pages that are whole and safe."""

import csv
import json
import stat
from html.parser import HTMLParser
from pathlib import Path

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st
from omnitui import comparing
from omnitui.results.passes import PassResult
from omnitui.results.sources import Source, find
from omnitui.results.statistics import row
from omnitui.results.table import values_of
from omnitui.results.telling import report
from omnitui.results.telling.plots import strip
from omnitui.results.telling.writing import AlreadyThere, write
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


# -- every form says the same, and no text breaks out of it ------------------------------------------------------


def broken() -> tuple[Source, str]:
    """A run of which one pass is left out, for a reason that has lines and markup of its own."""
    reason = "2 of 3: `a|b`\n| <b>x</b> | *y* _z_ a_b\x1b[2J"
    passes = {
        f"main/run{n}": result(f"run{n}", 1, {"wer": 0.02}, **({"marks": (reason,)} if n == 3 else {}))
        for n in (1, 2, 3)
    }
    home = take_in(passes, known("5ed8a8d", "main"))
    return find(home.name), reason


def test_every_form_names_who_is_left_out_and_why() -> None:
    source, reason = broken()
    seen = "2 of 3: `a|b` ⏎ | <b>x</b> | *y* _z_ a_b"
    assert f"run3 is left out: {seen}" in comparing.exported(source.name, "table").splitlines()
    escaped = r"2 of 3: \`a\|b\` ⏎ \| \<b>x\</b> \| \*y\* \_z\_ a_b"
    assert f"- run3 is left out: {escaped}" in comparing.exported(source.name, "md").splitlines()
    (series,) = json.loads(comparing.exported(source.name, "json"))["series"]
    assert series["left_out"] == [["run3", reason]]
    for line in csv.DictReader(comparing.exported(source.name, "csv").splitlines()):
        assert line["left_out"] == f"run3: {seen}"
    assert seen in Page(comparing.exported(source.name, "html")).text("td")
    found = comparing.compared(f"{source.name}/main", f"{source.name}/main")
    for line in csv.DictReader(comparing.told(found, "csv").splitlines()):
        assert line["left_out"] == " | ".join(f"{side} {source.name} main/run3: {seen}" for side in "AB")
        assert line["rehearsal"] == "false"


def test_a_command_of_several_lines_stays_in_its_cell() -> None:
    source = three(edited={"client": "cd x && \\\n  a | b"})
    for form in ("table", "md"):
        told = comparing.exported(source.name, form)
        (line,) = [line for line in told.splitlines() if "edited differs" in line]
        assert "run3: client = cd x" in line
        assert line.endswith(("b", "b; run1, run2: (empty)"))
    found_too = comparing.compared(f"{source.name}/main/run1", f"{source.name}/main/run3")
    rows = [line for line in comparing.told(found_too, "md").splitlines() if "| edited |" in line]
    assert [line.replace(r"\|", "").count("|") for line in rows] == [6]


def test_long_values_are_shown_where_they_differ() -> None:
    common = "package-of-a-long-list 1.0, " * 9
    one, other, *rest = values_of(
        [f"{common}torch 2.9", f"{common}torch 2.8 and much more that is not shown here", None, "torch 2.7"], 60
    )
    assert rest == ["not known", "torch 2.7"]
    assert one.startswith("…")
    assert one.endswith("torch 2.9")
    assert "torch 2.8" in other
    assert max(len(one), len(other)) <= 60
    assert values_of([common], 60) == values_of([common, common], 60)[:1]


# -- one HTML page ---------------------------------------------------------------------------------------------

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "ul", "li", "table", "thead"),
    *("tbody", "tr", "th", "td", "figure", "figcaption", "svg", "text", "line", "circle", "rect"),
}
VOID = {"meta", "line", "circle", "rect"}
EVIL = "<script src=//evil>&amp;\"'</title></style></td><img onerror=x>\x1b[2J\u202e"
SEEN = "<script src=//evil>&amp;\"'</title></style></td><img onerror=x>"
"""The same as a reader sees it: nothing is lost but what a terminal or a line of text would obey."""


class Page(HTMLParser):
    """Whatever a browser would see: every tag closed, and none that is not ours."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.parts: list[tuple[str, str]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        assert self.open or not data.strip()
        self.parts.append((self.open[-1] if self.open else "", data))

    def text(self, *tags: str) -> list[str]:
        return [data for tag, data in self.parts if not tags or tag in tags]


def hostile() -> Source:
    """Passes of every kind, with texts from logs and files that would break out of a page."""
    labels = ("run0", "run1", "run2", "run3", "run4")
    figures: dict[str, dict[str, float]] = {
        label: {"speech.throughput": 4.0 + n, "wer": 0.02 + n / 100} for n, label in enumerate(labels)
    }
    stands: dict[str, dict[str, object]] = {
        "run3": {"complete": False, "reasons": (f"speech: 2 of 3, {EVIL}",)},
        "run4": {"marks": (f"foreign process 911 ({EVIL})",), "gpu": EVIL, "commit": EVIL},
    }
    passes: dict[str, PassResult] = {
        f"main/{label}": result(label, n, figures[label], **stands.get(label, {}))
        for n, label in enumerate(labels)
    }
    home = take_in(passes, known("5ed8a8d", "main", containers=[{"image": EVIL}], told={EVIL: EVIL}))
    (home / "passes" / "main" / "run0" / "provenance.toml").unlink()
    file = home / "import.toml"
    file.write_text(file.read_text().replace('title = "Speech, two ways"', f"title = {json.dumps(EVIL)}"))
    return find(home.name)


def exported_pages() -> list[Page]:
    name = hostile().name
    compared = comparing.compared(f"{name}/main/run1", f"{name}/main/run2", ["unknown"])
    return [Page(comparing.exported(name, "html")), Page(comparing.told(compared, "html"))]


def test_a_page_loads_nothing_and_runs_nothing() -> None:
    for page in exported_pages():
        names = {name for _, name, _ in page.attributes}
        assert not names & {"src", "href", "xlink:href", "action", "data", "srcset", "style"}
        assert not [name for name in names if name.startswith("on")]
        (style,) = page.text("style")
        assert not [word for word in ("url(", "@import", "http", "expression") if word in style]
        assert ("meta", "content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes


def test_what_comes_from_outside_is_text_and_is_not_lost() -> None:
    results, compared = exported_pages()
    assert results.text("title")[0] == results.text("h1")[0] == SEEN
    assert f"speech: 2 of 3, {SEEN}" in results.text("td")
    assert f"foreign process 911 ({SEEN})" in results.text("td")
    assert f"told.{SEEN}" in results.text("td") + compared.text("td")
    for page in (results, compared):
        assert not [text for text in page.text() if "\x1b" in text or "\u202e" in text]


def test_a_page_has_every_pass_with_its_reason_and_what_differs_before_any_number() -> None:
    source = hostile()
    text = comparing.exported(source.name, "html")
    page = Page(text)
    heads = page.text("h2")
    assert heads.index("What differs between them") < heads.index(
        "Series main: 2 scored passes averaged (run1, run2)"
    )
    cells = page.text("td")
    for label, why in (("run0", "not scored"), ("run1", "✔ averaged"), ("run3", f"speech: 2 of 3, {SEEN}")):
        at = cells.index(f"main/{label}")
        assert why in cells[at : at + 3]
    assert "Nothing is known of how these were measured: main/run0." in page.text("p")
    assert {"metric", "unit", "mean", "std dev", "run1", "run2"} <= set(page.text("th"))
    assert {"speech.throughput ↑", "req/s", "5.5", "0.707107", "5", "6"} <= set(cells)
    assert [name for tag, name, _ in page.attributes if tag == "svg" and name == "viewbox"] == ["viewbox"] * 2
    assert len([tag for tag, name, _ in page.attributes if (tag, name) == ("circle", "cx")]) == 4


def test_what_nobody_knows_is_not_called_the_same() -> None:
    source = three()
    for one in source.passes:
        (one.folder / "provenance.toml").unlink()
    told = Page(comparing.exported(source.name, "html")).text("p")
    assert "Nothing differs in how they were measured." not in told
    assert any(text.startswith("Nothing is known of how these were measured") for text in told)


def test_a_comparison_page_has_both_sides_verdicts_and_plots() -> None:
    _, page = exported_pages()
    assert [text for text in page.text("td") if text in ("A", "B")] == ["A", "B"]
    assert "= no difference shown" in page.text("td")
    assert [text for text in page.text("figcaption") if text.startswith("wer: no difference shown")]
    assert any("primary: only these have a verdict" in text for text in page.text("li"))
    assert any("unknown" not in text and "Compared despite:" in text for text in page.text("p"))


_figure = st.floats(allow_nan=False, allow_infinity=False)
_figures = st.lists(_figure | st.sampled_from((5e-324, -1.7e308, 1.7e308)), max_size=4)


@given(_figures, _figures, st.none() | st.floats(0))
def test_every_value_has_a_place_on_a_plot(a: list[float], b: list[float], floor: float | None) -> None:
    groups = [
        (name, row(("m", "", "none"), [result("run1", 1, {"m": value}) for value in values]))
        for name, values in (("A", a), ("B", b))
    ]
    page = Page(strip(groups, "s", floor))
    places = [float(value) for _, name, value in page.attributes if name in ("cx", "x1", "x2", "width", "x")]
    assert all(0 <= place <= 460 for place in places)
    assert len([name for _, name, _ in page.attributes if name == "cx"]) == len(a) + len(b)


# -- into files of the operator's ------------------------------------------------------------------------------


def test_what_replaces_a_file_has_its_mode_and_stands_where_a_link_leads(tmp_path: Path) -> None:
    there = tmp_path / ("n" * 250 + ".md")
    there.write_text("before")
    there.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(there)
    with pytest.raises(AlreadyThere):
        write(link, "after")
    write(link, "after", over=True)
    assert (there.read_text(), stat.S_IMODE(there.stat().st_mode)) == ("after\n", 0o640)
    assert link.is_symlink()
    assert len(list(tmp_path.iterdir())) == 2
