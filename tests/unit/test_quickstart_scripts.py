"""The quickstart's programs: form parsing, resampling, percentiles, scoring rules."""

from __future__ import annotations

import io
import json
import math
import struct
import sys
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

SCRIPTS = Path(__file__).parents[2] / "runbooks" / "quickstart" / "scripts"
sys.path.insert(0, str(SCRIPTS))

import asr_server  # noqa: E402
import check_packages  # noqa: E402
import client  # noqa: E402
import score  # noqa: E402
import speech_audio  # noqa: E402
import speech_http  # noqa: E402
import speech_recogniser  # noqa: E402
import speech_results  # noqa: E402
from tts_server import wav_bytes  # noqa: E402

SAMPLE = speech_results.Sample("one", "alpha, bravo")


# --- multipart forms ------------------------------------------------------------------------------------------


def encoded(data: dict[str, str], files: dict[str, Any]) -> tuple[str, bytes]:
    request = httpx.Request("POST", "http://unused", data=data, files=files)
    return request.headers["Content-Type"], request.read()


awkward = st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"--", b"\x00", b"\xff", b"RIFF", b"--x--"])).map(
    b"".join
)


@settings(deadline=None, max_examples=200)
@given(content=st.one_of(st.binary(max_size=9000), awkward))
def test_a_form_gives_back_the_very_bytes_of_its_file(content: bytes) -> None:
    content_type, body = encoded({"model": "pocketsphinx"}, {"file": ("a.wav", content, "audio/wav")})
    fields = asr_server.parse_form(content_type, body)
    assert fields == {"model": b"pocketsphinx", "file": content}


def test_a_form_larger_than_the_parsers_chunks_is_not_changed() -> None:
    content = np.random.default_rng(1).integers(0, 256, 300_000, dtype=np.uint8).tobytes()
    content_type, body = encoded({}, {"file": ("a.wav", content, "audio/wav")})
    assert asr_server.parse_form(content_type, body)["file"] == content


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/json", b"{}"),
        ("", b""),
        ("multipart/form-data", b"--x\r\n\r\n--x--\r\n"),
        ("multipart/form-data; boundary=x", b""),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\ncut off'),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\nno name\r\n--x--\r\n"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n' * 2 + b"--x--\r\n",
        ),
    ],
)
def test_what_is_no_form_is_refused(content_type: str, body: bytes) -> None:
    with pytest.raises(speech_http.ApiError) as refused:
        asr_server.parse_form(content_type, body)
    assert refused.value.status == 400


# --- audio ----------------------------------------------------------------------------------------------------


def tone(frequency_hz: float, rate_hz: int, seconds: float = 1.0) -> speech_audio.Samples:
    times: speech_audio.Samples = np.arange(round(rate_hz * seconds)) / rate_hz
    wave: speech_audio.Samples = 0.5 * np.sin(2 * np.pi * frequency_hz * times)
    return wave


@pytest.mark.parametrize("from_hz", [8000, 22050, 44100, 48000])
def test_resampling_keeps_a_tone_in_pitch_level_and_time(from_hz: int) -> None:
    result = speech_audio.resample(tone(1000, from_hz), from_hz, 16_000)
    assert len(result) == 16_000
    inside = slice(1000, -1000)
    assert np.abs(result - tone(1000, 16_000))[inside].max() < 0.01


def test_resampling_down_removes_what_would_fold_back() -> None:
    result = speech_audio.resample(tone(9500, 22_050), 22_050, 16_000)
    assert np.abs(result[1000:-1000]).max() < 0.005


@settings(deadline=None, max_examples=60)
@given(length=st.integers(1, 5000), from_hz=st.sampled_from([8000, 11_025, 16_000, 22_050, 44_100]))
def test_resampling_gives_the_length_that_the_ratio_says(length: int, from_hz: int) -> None:
    result = speech_audio.resample(np.zeros(length), from_hz, 16_000)
    assert len(result) == math.ceil(length * 16_000 / from_hz)


def test_pcm_is_the_same_for_the_same_audio_and_never_digital_silence() -> None:
    silence = np.zeros(22_050)
    pcm = speech_audio.to_recogniser_pcm(silence, 22_050)
    assert pcm == speech_audio.to_recogniser_pcm(silence, 22_050)
    values = np.frombuffer(pcm, "<i2")
    assert len(values) == 16_000
    assert 5 < values.std() < 15


def audio_file(samples: speech_audio.Samples, subtype: str = "PCM_16") -> bytes:
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, 16_000, format="WAV", subtype=subtype)
    return buffer.getvalue()


def test_stereo_becomes_mono() -> None:
    both = np.stack([np.full(100, 0.5), np.full(100, -0.25)], axis=1)
    samples, rate_hz = speech_audio.read_audio(audio_file(both))
    assert rate_hz == 16_000
    assert samples == pytest.approx(np.full(100, 0.125), abs=1e-3)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "not audio"),
        (b"RIFF and more", "not audio"),
        (audio_file(np.zeros(0)), "no audio samples"),
        (audio_file(np.array([0.1, np.nan]), "FLOAT"), "NaN"),
        (audio_file(np.zeros(round(speech_audio.LONGEST_AUDIO_S * 16_000) + 1)), "longer than 120 s"),
    ],
    # A file of floats has the time in its header: workers that read it in two seconds would not agree on its name.
    ids=["empty", "other", "no samples", "NaN", "long"],
)
def test_unusable_audio_is_told(data: bytes, reason: str) -> None:
    with pytest.raises(speech_audio.UnusableAudio, match=reason):
        speech_audio.read_audio(data)


def claims_hours(frames: int) -> bytes:
    data = bytearray(audio_file(np.zeros(frames)))
    data[40:44] = struct.pack("<I", 0x7FFFFFF0)
    return bytes(data)


def test_a_header_that_claims_hours_does_not_make_audio_longer() -> None:
    samples, _ = speech_audio.read_audio(claims_hours(1600))
    assert len(samples) == 1600
    assert client.wav_duration_s(claims_hours(1600)) == pytest.approx(0.1)


@pytest.mark.parametrize(
    "data", [b"", b"not a wav file at all", wav_bytes(b"", 22_050), wav_bytes(b"\0\0" * 9, 22_050)[:30]]
)
def test_an_answer_without_audio_fails_the_request(data: bytes) -> None:
    with pytest.raises(client.RequestFailed):
        client.wav_duration_s(data)


# --- the test set ---------------------------------------------------------------------------------------------


def test_the_grammar_is_a_loop_that_knows_the_words_and_no_sentence() -> None:
    words = set((speech_recogniser.LETTERS + " " + speech_recogniser.DIGITS).split())
    samples = speech_results.read_samples(SCRIPTS / "samples.tsv", None)
    assert len(words) == 36
    assert 20 <= len(samples) <= 40
    assert {word for sample in samples for word in score.normalize(sample.text).split()} == words
    body = speech_recogniser.grammar().split("=")[1].strip()
    assert body.startswith("(")
    assert body.endswith(")+ ;")
    assert set(body[1 : -len(")+ ;")].split()) - {"|"} == words


def test_a_limit_takes_the_first_samples() -> None:
    samples = speech_results.read_samples(SCRIPTS / "samples.tsv", 3)
    assert [sample.id for sample in samples] == ["call_001", "call_002", "call_003"]


@pytest.mark.parametrize("content", ["", "id\ttext\n", "a\tb\n", "id\ttext\nx\n", "id\ttext\nx\ta\nx\tb\n"])
def test_a_broken_test_set_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "samples.tsv"
    path.write_text(content)
    with pytest.raises(speech_results.UnreadableSamples, match=r"samples\.tsv"):
        speech_results.read_samples(path, None)


# --- results --------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50),
    percent=st.sampled_from([0.0, 5.0, 50.0, 95.0, 100.0]),
)
def test_percentiles_agree_with_numpy(values: list[float], percent: float) -> None:
    expected = float(np.percentile(values, percent))
    assert speech_results.percentile(values, percent) == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_no_value_has_no_percentile_and_no_mean() -> None:
    assert speech_results.percentile([], 50) is None
    assert speech_results.mean([]) is None


def success(name: str, latency_s: float, audio_s: float) -> speech_results.Success:
    return speech_results.Success(speech_results.Sample(name, "alpha"), latency_s, audio_s, {"text": "alpha"})


def test_a_summary_counts_failures_and_leaves_them_out_of_the_means() -> None:
    failure = speech_results.Failure(SAMPLE, "gone", {"text": "alpha", "wav_path": None})
    outcomes: list[speech_results.Outcome] = [success("a", 1.0, 4.0), failure, success("b", 3.0, 4.0)]
    summary = speech_results.summarize(speech_results.Measurement(outcomes, 4.0, 2, 1))
    assert summary == {
        "total_requests": 3,
        "completed_requests": 2,
        "failed_requests": 1,
        "throughput_qps": 0.5,
        "latency_mean_s": 2.0,
        "latency_p50_s": 2.0,
        "latency_p95_s": pytest.approx(2.9),
        "rtf_mean": 0.5,
        "audio_duration_mean_s": 4.0,
        "audio_throughput_s_per_s": 2.0,
        "concurrency": 2,
        "warmup": 1,
    }


def test_without_an_answer_numbers_are_null_and_not_zero() -> None:
    failure = speech_results.Failure(SAMPLE, "gone", {})
    summary = speech_results.summarize(speech_results.Measurement([failure], 1.0, 1, 0))
    counts = {"total_requests", "completed_requests", "failed_requests", "concurrency", "warmup"}
    assert {name for name, value in summary.items() if value is not None} == counts


def test_rows_of_successes_and_failures_have_the_same_keys() -> None:
    speech = client.Speech("espeak-ng", "en-us")
    good = speech_results.to_row(
        speech_results.Success(SAMPLE, 0.5, 2.0, {"text": SAMPLE.text, "wav_path": "audio/one.wav"})
    )
    bad = speech_results.to_row(speech_results.Failure(SAMPLE, "HTTP 500", speech.unanswered(SAMPLE)))
    assert good.keys() == bad.keys()
    assert (good["rtf"], good["is_success"], good["error"]) == (0.25, True, None)
    assert (bad["latency_s"], bad["is_success"], bad["error"], bad["wav_path"]) == (None, False, "HTTP 500", None)


def test_a_result_file_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "new" / "speed_results.json"
    speech_results.write_once(path, {"a": 1})
    with pytest.raises(speech_results.AlreadyMeasured, match="never overwritten"):
        speech_results.write_once(path, {"a": 2})
    assert json.loads(path.read_text()) == {"a": 1}


def test_a_result_that_is_no_json_leaves_no_result_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        speech_results.write_once(tmp_path / "speed_results.json", {"a": math.inf})
    assert list(tmp_path.iterdir()) == []


def test_progress_is_one_physical_line() -> None:
    stream = io.StringIO()
    progress = speech_results.Progress(3, stream)
    for _ in range(3):
        progress.advance()
    progress.close()
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert [update.split()[0] for update in text.strip().split("\r")] == ["1/3", "2/3", "3/3"]


# --- scoring --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("X-ray, Seven. -- 'golf'!", "x-ray seven golf"),
        ("It's  fine\n", "it's fine"),
        ("ＡＬＰＨＡ", "alpha"),
        (" ,.- ", ""),
    ],
)
def test_normalisation(text: str, expected: str) -> None:
    assert score.normalize(text) == expected


def heard(sample_id: str, reference: str, hypothesis: str | None, good: bool = True) -> dict[str, Any]:
    error = None if good else "ConnectError: gone"
    return {"id": sample_id, "reference": reference, "hypothesis": hypothesis, "is_success": good, "error": error}


def test_errors_are_counted_by_kind() -> None:
    scored = score.score(heard("a", "alpha, bravo, golf, one", "alpha zulu golf two two"))
    assert isinstance(scored, score.Scored)
    assert (scored.substitutions, scored.deletions, scored.insertions, scored.hits) == (2, 0, 1, 2)
    assert scored.wer == 0.75


def test_an_empty_hypothesis_misses_every_word() -> None:
    scored = score.score(heard("a", "alpha, bravo", ""))
    assert isinstance(scored, score.Scored)
    assert (scored.deletions, scored.wer) == (2, 1.0)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (heard("a", " , ", "alpha"), "no words"),
        (heard("a", "alpha", None, good=False), "ConnectError: gone"),
        (heard("a", "alpha", "alpha", good=False), "ConnectError: gone"),
        (heard("a", "alpha", None), "no transcript"),
    ],
)
def test_what_cannot_be_scored_is_skipped_with_its_reason(row: dict[str, Any], reason: str) -> None:
    skipped = score.score(row)
    assert isinstance(skipped, score.Skipped)
    assert reason in skipped.reason


def test_the_corpus_rate_weighs_words_and_the_second_one_leaves_bad_samples_out() -> None:
    rows = [
        heard("a", "alpha bravo golf lima", "alpha bravo golf lima"),
        heard("b", "kilo", "golf lima"),
        heard("c", "one two", "one"),
        heard("d", "", "one"),
    ]
    assert score.summarize([score.score(row) for row in rows]) == {
        "wer_corpus": 3 / 7,
        "wer_below_50_corpus": 1 / 6,
        "n_above_50_pct_wer": 1,
        "evaluated": 3,
        "total": 4,
        "skipped": 1,
    }


def transcripts(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "speed_results.json"
    path.write_text(json.dumps({"summary": {}, "per_request": rows}))
    return path


def test_nothing_scored_is_null_and_exit_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "wer_results.json"
    assert score.run(transcripts(tmp_path, [heard("a", "alpha", None, good=False)]), output) == 1
    summary = json.loads(output.read_text())["summary"]
    assert (summary["wer_corpus"], summary["evaluated"], summary["skipped"]) == (None, 0, 1)
    assert capsys.readouterr().out.endswith("evaluated=0/1\n")


def test_scores_are_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, output = transcripts(tmp_path, [heard("a", "alpha", "alpha")]), tmp_path / "wer_results.json"
    assert score.run(source, output) == 0
    before = output.read_bytes()
    assert score.run(source, output) == 2
    assert output.read_bytes() == before
    assert "never overwritten" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "[]", '{"per_request": 1}', '{"per_request": [{"id": "a"}]}'])
def test_transcripts_that_cannot_be_read_leave_no_scores(content: str, tmp_path: Path) -> None:
    source = tmp_path / "speed_results.json"
    source.write_text(content)
    assert score.run(source, tmp_path / "wer_results.json") == 1
    assert not (tmp_path / "wer_results.json").exists()


# --- the rest -------------------------------------------------------------------------------------------------


def test_a_missing_package_is_named() -> None:
    (problem,) = check_packages.package_problems({"no-such-package": "no_such_module_anywhere"})
    assert problem.startswith("no-such-package is missing")


def test_errors_have_the_shape_of_openai() -> None:
    error = speech_http.ApiError(HTTPStatus.NOT_FOUND, "no", code="model_not_found", param="model")
    assert error.body == {
        "error": {"message": "no", "type": "invalid_request_error", "param": "model", "code": "model_not_found"}
    }
