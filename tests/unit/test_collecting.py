"""Collecting what the pages' own clients write: the pages' own numbers come out, and what is missing is told."""

import json
import re
from pathlib import Path

import pytest
from omnitui.results.collecting import read_output
from omnitui.results.coverage import told
from omnitui.results.passes import PassResult
from omnitui.results.statistics import Row, summarize, told_metrics
from tests.unit.recorded import DATA, copied, mini, only, runbook

# -- the pages' own figures ------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", ["run1", "run2", "run3"])
def test_every_key_and_value_is_the_pages(tmp_path: Path, run: str) -> None:
    found = mini(copied(f"minicpmo/{run}", tmp_path))
    page = json.loads((DATA / "minicpmo" / f"{run}.metrics.json").read_text())
    assert found.reasons == ()
    assert found.page == page
    assert list(found.metrics) == list(page["metrics"])


def test_the_table_over_three_runs_is_the_pages(tmp_path: Path) -> None:
    passes = [
        PassResult("main", run, True, True, mini(copied(f"minicpmo/{run}", tmp_path)).metrics)
        for run in ("run1", "run2", "run3")
    ]
    book, _ = runbook("minicpmo-offline", {})
    (summary,) = summarize(passes, told_metrics(book.metrics, passes))
    lines = []
    for row in summary.rows:
        assert row.mean is not None
        assert row.stdev is not None
        lines.append(f"{row.metric} {round(row.mean, 6)} {round(row.stdev, 6)} {list(row.values)}")
    assert lines == (DATA / "minicpmo" / "three_runs.log").read_text().splitlines()


PAGE = {
    **{"corpus_wer": "wer", "throughput_samples_per_s": "throughput", "latency_mean_s": "latency_mean"},
    **{"latency_p95_s": "latency_p95", "rtf_mean": "rtf_mean"},
}


def test_the_summary_of_the_asr_page_is_ours() -> None:
    book, values = runbook("asr", {}, MODELS="qwen3")
    passes = []
    for run in ("run1", "run2", "run3"):
        found = read_output(book, DATA / "asr" / run, values)
        assert found.reasons == ()
        passes.append(PassResult("main", run, True, True, found.metrics))
    (summary,) = summarize(passes, told_metrics(book.metrics, passes))
    rows: dict[str, Row] = {row.metric: row for row in summary.rows}
    key, seen = "", 0
    for line in (DATA / "asr" / "summarize.log").read_text().splitlines():
        if head := re.match(r"qwen3/asr_(\w+)\.json  runs=3 complete=True", line):
            key = f"qwen3.{head[1]}"
        elif row := re.match(r"  (\S+) +mean (\S+)  min (\S+)  max (\S+)", line):
            ours = rows[f"{key}.{PAGE[row[1]]}"]
            assert [f"{value:.6f}" for value in (ours.mean, ours.minimum, ours.maximum)] == list(row.groups()[1:])
            seen += 1
    assert seen == 10


# -- what clients leave that ended with exit status 0 ----------------------------------------------------------


def test_dropped_requests_are_told_with_their_ids() -> None:
    book, values = runbook("minicpmo-offline", {"1088": "40"})
    workloads = ("seedtts-wer", "seedtts-sim", "seedtts-utmos")
    found = read_output(only(book, *workloads), DATA / "failed" / "some_dropped", values)
    assert not found.complete
    for one in found.coverage.workloads:
        assert (one.done, one.skipped, one.failed, one.missing) == (36, 4, 0, 0)
        assert len(one.ids["skipped"]) == 4
        assert told(one).startswith("asked 40, done 36, failed 0, skipped 4, missing 0; skipped: common_voice_en_")
        assert "36 of 40 samples" in one.wrong


def test_failed_requests_have_no_sound(tmp_path: Path) -> None:
    book, values = runbook("minicpmo-offline", {"1088": "40"})
    folder = copied("failed/some_dropped", tmp_path)
    found = read_output(only(book, "seedtts"), folder, values)
    (one,) = found.coverage.workloads
    assert (one.done, one.failed, one.missing) == (36, 4, 0)
    for name in one.ids["failed"]:
        (folder / "seedtts" / "audio" / f"{name}.wav").unlink()
    (one,) = read_output(only(book, "seedtts"), folder, values).coverage.workloads
    assert one.ids["no audio"] == tuple(sorted(one.ids["failed"]))
    assert "36 of 40 audio files" in one.wrong


def test_zeros_of_no_samples_are_no_figures() -> None:
    book, values = runbook("minicpmo-offline", {})
    found = read_output(only(book, "videoamme-wer"), DATA / "failed" / "asr_not_running", values)
    assert not any(name.startswith("videoamme.wer") for name in found.metrics if name != "videoamme.wer.skipped")
    assert found.metrics["videoamme.wer.skipped"] == 10
    assert "videoamme.wer.wer_corpus: wer_corpus is 0 of no samples: no figure" in found.reasons
    # That nothing was right is a figure: the requests were answered.
    assert "videoamme.accuracy" in found.metrics


def test_requests_that_timed_out_are_told_by_the_client_that_ended_well() -> None:
    book, values = runbook("minicpmo-offline", {})
    found = read_output(only(book, "videoamme-wer"), DATA / "failed" / "some_timeout", values)
    assert "videoamme-wer: 8 of 10 samples" in found.reasons
    assert "videoamme-wer: 2 skipped" in found.reasons


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("asr_some_http500", ("45 of 50 samples", "5 skipped")),
        (
            "asr_sweep3",
            ("150 of 50 samples", "length(results) is 3 instead of 1", "results[0].repeats is 3 instead of 1"),
        ),
    ],
)
def test_skipped_and_summed_counts_are_no_full_run(name: str, wrong: tuple[str, ...]) -> None:
    book, values = runbook("asr", {"1088": "50"}, MODELS="qwen3")
    (one,) = read_output(only(book, "qwen3.en"), DATA / "failed" / name, values).coverage.workloads
    assert all(reason in one.wrong for reason in wrong)


def test_a_diarization_that_lost_requests_names_them() -> None:
    book, values = runbook("asr", {}, MODELS="moss_td")
    name = "diarize_some_http500"
    (one,) = read_output(only(book, "moss_td.googletime"), DATA / "failed" / name, values).coverage.workloads
    assert (one.done, one.failed, one.expected) == (22, 3, 25)
    assert one.ids["failed"] == ("googletime_0007.wav", "googletime_0015.wav", "googletime_0023.wav")


def test_what_a_crashed_second_run_left_standing_is_older_than_the_pass(tmp_path: Path) -> None:
    folder = copied("minicpmo/run1", tmp_path)
    book, values = runbook("minicpmo-offline", {"1088": "6"})
    newest = max(file.stat().st_mtime for file in folder.rglob("*.json"))
    found = read_output(book, folder, values, newest + 10)
    assert not found.complete
    assert "seedtts: speed_results.json is older than this pass" in found.reasons


def test_sounds_in_deeper_folders_are_not_this_workloads(tmp_path: Path) -> None:
    folder = copied("minicpmo/run1", tmp_path)
    sound = next((folder / "seedtts" / "audio").iterdir())
    for nested in ("warmup/audio", "c4_r1/audio"):
        (folder / "seedtts" / nested).mkdir(parents=True)
        (folder / "seedtts" / nested / sound.name).write_bytes(sound.read_bytes())
    assert mini(folder).complete
    sound.write_bytes(sound.read_bytes()[:44])
    assert mini(folder).metrics["audio.empty_or_nan"] == 1
    assert not mini(folder).complete
