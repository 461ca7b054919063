"""The pure parts of the results browser: which row is which pass, columns, dots, samples and their alignment."""

import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import soundfile as sf
from hypothesis import given
from hypothesis import strategies as st
from omnitui.results.alignment import align
from omnitui.results.catalog import Row
from omnitui.results.samples import Sample, sample_sets
from omnitui.results.waveform import waveform
from omnitui.runbook.measured import Samples, Workload
from omnitui.runbook.schema import Runbook
from omnitui.ui.browsing.columns import Column, at, fit, fitting
from omnitui.ui.browsing.dots import dots, scale
from omnitui.ui.browsing.pass_rows import Marked, columns, short, unknown
from omnitui.ui.browsing.pass_rows import state as pass_state
from omnitui.ui.browsing.sample_rows import Order, aligned_rows, ordered, sound_rows
from omnitui.ui.browsing.trends import Trend, on_scale, point_row
from omnitui.ui.browsing.view import BLOCK, GroupHead, Lines, View
from rich.cells import cell_len

# -- the list --------------------------------------------------------------------------------------------------


def test_no_two_metrics_have_one_short_name() -> None:
    assert short(["seedtts.wer.wer_corpus", "wer"]) == ["seed.wer_corpus", "wer"]
    assert short(["qwen3.en.wer", "qwen3.zh.wer", "fun.en.wer"]) == ["qwen.en.wer", "qwen.zh.wer", "fun.wer"]
    long = ["moss.movies.cer", "moss.movies_stream.cer"]
    assert short(long) == long


@given(st.lists(st.integers(1, 500), max_size=8), st.sets(st.integers(0, 7)))
def test_every_pass_that_is_not_folded_has_one_line(sizes: list[int], folded: set[int]) -> None:
    groups = [(str(n), size, 0) for n, size in enumerate(sizes)]
    lines = Lines(sum(sizes), groups, frozenset(str(n) for n in folded))
    places = [lines.at(index) for index in range(lines.total)]
    heads = [one.value for one in places if isinstance(one, GroupHead)]
    offsets = [one for one in places if isinstance(one, int)]
    assert heads == [name for name, _, _ in groups]
    starts = [sum(sizes[:n]) for n in range(len(sizes))]
    wanted = [o for n, size in enumerate(sizes) if n not in folded for o in range(starts[n], starts[n] + size)]
    assert offsets == (wanted if groups else list(range(sum(sizes))))
    found = [lines.of_group(one.value) if isinstance(one, GroupHead) else lines.of_pass(one) for one in places]
    assert found == list(range(lines.total))
    assert lines.of_pass(sum(sizes)) == (None if groups else 0)
    if lines.total:
        assert set(lines.blocks(0, lines.total)) == {offset // BLOCK for offset in offsets}


def test_the_same_column_again_turns_the_order_round() -> None:
    view = View().sorted_by("wer")
    assert (view.sort, view.descending) == ("wer", True)
    assert not view.sorted_by("wer").descending
    assert not view.sorted_by("commit").descending


def test_a_pass_is_on_one_side_only() -> None:
    one = frozenset({"x"})
    marked = Marked().toggled("a", one).toggled("b", one)
    assert (marked.of("x"), marked.a) == ("B", frozenset())
    assert marked.toggled("b", one) == Marked()


@pytest.mark.parametrize(
    ("scored", "complete", "left_out", "word"),
    [
        (True, True, "", "complete"),
        (False, True, "not scored", "not scored"),
        (True, False, "seedtts: 3 failed", "incomplete"),
        (True, False, "not collected", "no results"),
        (True, True, "edited: client", "marked"),
    ],
)
def test_how_a_pass_stands_is_a_sign_and_a_word(scored: bool, complete: bool, left_out: str, word: str) -> None:
    texts = dict.fromkeys(("folder", "run", "runbook", "series", "label", "title", "collected"), "x")
    texts |= dict.fromkeys(("revision", "gpu", "host"), "") | {"origin": "run", "left_out": left_out}
    known = Row(**texts, scored=scored, complete=complete, rehearsal=False, metrics={})
    assert pass_state(known).word == word
    assert pass_state(known).symbol


@given(st.text(max_size=30), st.integers(2, 12), st.booleans())
def test_a_cell_keeps_to_its_width(text: str, width: int, right: bool) -> None:
    shown = fit(text, width, right=right)
    assert cell_len(shown) == width
    assert not any(unicodedata.category(char) == "Cc" for char in shown)


def test_a_metric_has_its_whole_name_where_that_costs_no_column() -> None:
    def titles(width: int, *empty: str) -> list[str]:
        return [one.title for one in columns(("speech.throughput",), empty, width) if one.right]

    assert titles(83) == []
    assert titles(84) == titles(96) == ["spee.throughput"]
    assert titles(86) == titles(98) == titles(80, "commit", "gpu") == ["speech.throughput"]


def test_a_column_in_which_nothing_is_known_is_left_out_unless_it_sorts() -> None:
    row = measured("r", "main", "run1", "", 1.0)
    assert unknown([row], "collected") == {"commit"}
    assert unknown([row], "commit") == unknown([row, measured("r", "b", "run1", "5ed8a8d", 1.0)], "") == set()
    assert unknown([], "collected") == set()


def test_columns_of_a_high_rank_go_first_where_there_is_little_room() -> None:
    columns = (Column("a", "", 10), Column("b", "", 20, rank=2), Column("c", "", 10, rank=1, grows=True))
    assert [(one.key, one.width) for one in fitting(columns, 45)] == [("a", 10), ("b", 20), ("c", 15)]
    assert [one.key for one in fitting(columns, 25)] == ["a", "c"]
    found = at(columns, 10)
    assert found is not None and found.key == "b" and at(columns, 40) is None


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=12), st.integers(3, 40))
def test_dots_are_as_wide_as_asked_and_none_is_lost(values: list[float], cells: int) -> None:
    line = "".join(cell.text for cell in dots(values, scale(values, cells)))
    assert len(line) == cells
    counted = sum(int(mark) if mark.isdigit() else mark == "●" for mark in line)
    assert counted == len(values) or "#" in line


# -- samples ---------------------------------------------------------------------------------------------------


def test_an_alignment_of_the_beginning_only_says_so() -> None:
    found = align("a " * 4500, "a " * 4000 + "b " * 500)
    assert (found.cut, found.rate) == (True, 0.0)
    told = "".join(cell.text for cell in next(aligned_rows(found, 80)).left)
    assert told.startswith("the beginning only: 0 errors in 4000 words")
    whole = align("a b", "a b")
    assert not whole.cut
    assert "beginning" not in "".join(cell.text for cell in next(aligned_rows(whole, 80)).left)


def test_words_are_aligned_and_chinese_by_its_characters() -> None:
    found = align("the quick brown fox", "the quick fox")
    assert [one.op for one in found.pieces].count("equal") == 3
    assert (found.unit, found.rate) == ("words", 0.25)
    chinese = align("今天 天气很好", "今天天汽很好")
    assert chinese.unit == "characters"
    assert [(one.reference, one.hypothesis) for one in chinese.pieces if one.op != "equal"] == [("气", "汽")]


@pytest.mark.parametrize(
    ("reference", "hypothesis", "rate"), [("", "a b", None), ("a b", "", 1.0), ("", "", None)]
)
def test_an_empty_side_has_a_rule_of_its_own(reference: str, hypothesis: str, rate: float | None) -> None:
    found = align(reference, hypothesis)
    assert found.rate == rate
    assert len(found.pieces) == len((reference + hypothesis).split())


_words = st.text("ab 今气\u0301", max_size=12)


@given(_words, _words)
def test_an_alignment_holds_both_texts_whole(reference: str, hypothesis: str) -> None:
    found = align(reference, hypothesis)
    for side, text in (("reference", reference), ("hypothesis", hypothesis)):
        assert "".join(getattr(one, side) for one in found.pieces) == "".join(text.split())
    assert all((one.op == "equal") == (one.reference == one.hypothesis) for one in found.pieces)
    rows = list(aligned_rows(found, 30))
    assert all(sum(max(c.width, cell_len(c.text)) for c in row.left) <= 60 for row in rows[1:])


def book() -> Runbook:
    workload = Workload(
        id="tts", title="T", file="tts/speed.json", rows="per_request", expect="2", audio="tts/audio/*.wav"
    )
    wer = Samples(id="wer", file="tts/wer.json", rows="per_sample", value="wer")
    return Runbook(schema=1, title="T", summary="S", workloads=(workload,), samples=(wer,))


def test_a_sample_is_put_together_from_all_files_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "tts" / "audio").mkdir(parents=True)
    sf.write(tmp_path / "tts" / "audio" / "a.wav", np.ones(10) / 2, 8000)
    speed = [
        {"id": "a", "text": "one two", "is_success": True, "latency_s": 0.5, "wav_path": "/gone/a.wav"},
        {"id": "b", "is_success": False, "error": "HTTP 500", "latency_s": float("nan")},
    ]
    (tmp_path / "tts" / "speed.json").write_text(json.dumps({"per_request": speed}))
    wer = [{"id": "a", "wer": 1.5, "target_text": "one two", "whisper_text": "won", "text": None}, {"id": "c"}]
    (tmp_path / "tts" / "wer.json").write_text(json.dumps({"per_sample": wer}))
    (found,) = sample_sets(book(), tmp_path, {})
    a, b, c = found.samples
    assert (a.rate, a.latency_s, a.reference, a.hypothesis, a.there) == (1.5, 0.5, "one two", "won", True)
    assert (b.failed, b.rate, b.latency_s) == ("HTTP 500", None, None)
    assert (c.id, c.rate, c.wav, c.there) == ("c", None, "", False)
    (tmp_path / "tts" / "wer.json").unlink()
    (found,) = sample_sets(book(), tmp_path, {})
    assert found.unread == ("wer.json is missing",)
    assert len(found.samples) == 2


def one(name: str, rate: float | None) -> Sample:
    return Sample(name, rate, None, None, None, "", "", "", "", False, {})


def test_samples_without_the_figure_come_last_either_way() -> None:
    samples = [one("a", None), one("b", 0.1), one("c", 0.5)]
    assert [s.id for s in ordered(samples, Order())] == ["c", "b", "a"]
    assert [s.id for s in ordered(samples, Order(descending=False))] == ["b", "c", "a"]
    assert [s.id for s in ordered(samples, Order(text="B"))] == ["b"]


def test_a_sound_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    good, empty, broken = tmp_path / "good.wav", tmp_path / "empty.wav", tmp_path / "broken.wav"
    sf.write(good, np.concatenate([np.zeros(800), np.ones(800) / 2]), 8000)
    sf.write(empty, np.zeros(0), 8000)
    broken.write_bytes(b"RIFF")
    found = waveform(good, 4)
    assert found.seconds == pytest.approx(0.2)
    assert found.peaks == pytest.approx((0, 0, 0.5, 0.5), abs=1e-3)
    assert "is empty" in waveform(empty, 4).error
    assert "cannot be read" in waveform(broken, 4).error
    silent = tmp_path / "silent.wav"
    sf.write(silent, np.zeros(80), 8000)
    sample = Sample("x", None, None, None, None, "", "", "", str(silent), True, {})
    told = ["".join(cell.text for cell in row.left) for row in sound_rows(sample, waveform(silent, 4))]
    assert any("silent" in line for line in told)


# -- trends ----------------------------------------------------------------------------------------------------


def measured(run: str, series: str, label: str, commit: str, value: float) -> Row:
    places = (f"{run}/{series}/{label}", run, "speech", series, label, "Speech", f"2026-03-0{run[-1]}T08:00:00Z")
    return Row(*places, commit, "H200", "bench", "run", True, True, False, "", {"wer": value})


def test_passes_of_an_unknown_commit_have_no_place_among_the_commits() -> None:
    passes = (
        *(measured("r1", "a", f"run{n}", "", n) for n in (1, 2)),
        measured("r1", "b", "run1", "", 3),
        measured("r2", "main", "run1", "5ed8a8d", 4),
        measured("r3", "main", "run1", "070fc3b", 5),
        measured("r4", "main", "run1", "5ed8a8d", 6),
    )
    trend = Trend("speech", "H200", passes, 0)
    found = trend.points("wer")
    assert [one.commit for one in found] == ["5ed8a8d", "070fc3b", "", ""]
    assert [one.values for one in found] == [(4, 6), (5,), (1, 2), (3,)]
    assert [one.series for one in found] == ["r4 main", "r3 main", "r1 a", "r1 b"]
    told = [point_row(one, on_scale(found, 100)) for one in found]
    assert ["unknown commit" in "".join(cell.text for cell in row.left) for row in told] == [
        False,
        False,
        True,
        True,
    ]
    # A line for each pass is in the order of time, whether the commit is known or not.
    assert [one.values for one in trend.points("wer", each=True)] == [(1,), (2,), (3,), (4,), (5,), (6,)]
