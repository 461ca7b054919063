"""The checks of the vLLM-Omni serving page: what they refuse, and why."""

from __future__ import annotations

import json
import math
import struct
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

SCRIPTS = Path(__file__).parents[2] / "runbooks" / "vllm-minicpmo-serving" / "scripts"
sys.path.insert(0, str(SCRIPTS))

import check_answer  # noqa: E402
import check_daily_omni  # noqa: E402
import check_duplex_input  # noqa: E402
import check_duplex_session  # noqa: E402
import check_eval_responses  # noqa: E402
import check_eval_scores  # noqa: E402
import check_gpu_layout  # noqa: E402
import check_installation  # noqa: E402
import check_serving_settings  # noqa: E402
import duplex_context  # noqa: E402
from serving_said import last_object  # noqa: E402
from serving_wav import UnreadableWav, input_problems, read_wav, speech_problems  # noqa: E402


def write_wav(
    path: Path, *, rate: int = 16_000, channels: int = 1, width: int = 2, frames: int = 160, level: int = 9
) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(bytes([level]) * frames * channels * width)
    return path


def float_wav(path: Path, samples: list[float], rate: int = 24_000) -> Path:
    data = struct.pack(f"<{len(samples)}f", *samples)
    fmt = struct.pack("<HHIIHH", 3, 1, rate, rate * 4, 4, 32)
    chunks = b"fmt " + struct.pack("<I", len(fmt)) + fmt + b"data" + struct.pack("<I", len(data)) + data
    path.write_bytes(b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks)
    return path


# -- WAVs ------------------------------------------------------------------------------------------------------


def test_a_16_khz_mono_pcm16_wav_may_be_streamed(tmp_path: Path) -> None:
    assert input_problems(write_wav(tmp_path / "in.wav")) == []


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ({"rate": 8000}, "8000 Hz instead of 16000"),
        ({"channels": 2}, "2 channels instead of 1"),
        ({"width": 3}, "24-bit PCM instead of 16-bit PCM"),
        ({"frames": 0}, "no sound"),
    ],
)
def test_another_format_is_refused_with_what_it_is(kind: dict[str, int], reason: str, tmp_path: Path) -> None:
    (problem,) = input_problems(write_wav(tmp_path / "in.wav", **kind))
    assert "must be 16 kHz mono 16-bit PCM" in problem
    assert reason in problem


def test_float_samples_are_no_pcm(tmp_path: Path) -> None:
    assert "32-bit float instead of 16-bit PCM" in input_problems(float_wav(tmp_path / "in.wav", [0.1], 16_000))[0]


def test_a_wav_that_is_not_there_or_none_is_named(tmp_path: Path) -> None:
    assert "No such file" in input_problems(tmp_path / "gone.wav")[0]
    (tmp_path / "text.wav").write_text("hello")
    assert "is no WAV file" in input_problems(tmp_path / "text.wav")[0]


def test_a_wav_that_is_cut_off_is_told(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "in.wav")
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(UnreadableWav, match="cut off"):
        read_wav(path)


@pytest.mark.parametrize("length", [0, 0x7FFFFFFF, 0xFFFFFFFF])
def test_a_streamed_wav_does_not_know_its_length(length: int, tmp_path: Path) -> None:
    path = write_wav(tmp_path / "in.wav", frames=160)
    data = bytearray(path.read_bytes())
    data[40:44] = struct.pack("<I", length)
    path.write_bytes(data)
    assert read_wav(path).frames == 160


@given(st.binary(max_size=120))
def test_no_bytes_break_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("wav") / "x.wav"
    for head in (b"", b"RIFF\0\0\0\0WAVE", b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0"):
        path.write_bytes(head + data)
        try:
            read_wav(path)
        except UnreadableWav:
            continue


def test_speech_must_be_24_khz_mono_and_heard(tmp_path: Path) -> None:
    good = write_wav(tmp_path / "good.wav", rate=24_000)
    silent = write_wav(tmp_path / "silent.wav", rate=24_000, level=0)
    assert speech_problems([good]) == []
    assert speech_problems([good, silent]) == []
    assert "nothing can be heard" in speech_problems([silent])[0]
    assert "16000 Hz" in speech_problems([write_wav(tmp_path / "slow.wav")])[0]
    assert "is empty" in speech_problems([write_wav(tmp_path / "none.wav", rate=24_000, frames=0)])[0]
    assert "no numbers" in speech_problems([float_wav(tmp_path / "nan.wav", [0.1, math.nan])])[0]


# -- the context -----------------------------------------------------------------------------------------------


def test_the_rates_are_the_pages() -> None:
    assert duplex_context.tokens_per_second(video=True) == 79
    assert duplex_context.tokens_per_second(video=True, stack_frames=5) == 277
    assert duplex_context.tokens_per_second(video=True, stack_frames=2) == 277
    assert duplex_context.tokens_per_second(video=False) == 79 - 66 == 277 - 264
    assert duplex_context.tokens_per_second(video=True, video_fps=2.0) > 79
    minutes = [duplex_context.CONTEXT_TOKENS / rate / 60 for rate in (277, 79)]
    assert minutes == pytest.approx([2.5, 8.5], abs=0.2)


@pytest.mark.parametrize(
    ("seconds", "rate", "fits"), [(147, 277, True), (148, 277, False), (518, 79, True), (519, 79, False)]
)
def test_a_clip_fits_or_is_refused_with_what_would(seconds: float, rate: int, fits: bool) -> None:
    problems = duplex_context.context_problems(seconds, rate)
    assert (problems == []) is fits
    if not fits:
        assert "the context has 40960" in problems[0]
        assert f"at most {40_960 // rate} s fit" in problems[0]


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan, math.inf])
def test_a_length_that_is_none_does_not_fit(seconds: float) -> None:
    assert duplex_context.context_problems(seconds, 79)


def test_a_length_that_nobody_can_tell_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clip = tmp_path / "clip.mp4"
    clip.write_bytes(b"no video")
    monkeypatch.setenv("PATH", str(tmp_path))
    arguments = ["--video", str(clip), "--python", str(tmp_path / "none")]
    assert check_duplex_input.main(arguments) == 1
    assert "set CLIP_SECONDS" in capsys.readouterr().out
    assert check_duplex_input.main([*arguments, "--clip-seconds", "264"]) == 0
    assert "20856 of 40960 tokens" in capsys.readouterr().out
    assert check_duplex_input.main([*arguments, "--clip-seconds", "264", "--stack-frames", "5"]) == 1
    assert "73128 tokens" in capsys.readouterr().out


def test_a_soundtrack_that_outlasts_its_clip_is_what_must_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clip, sound = tmp_path / "clip.mp4", write_wav(tmp_path / "sound.wav")
    clip.write_bytes(b"no video")
    monkeypatch.setenv("PATH", str(tmp_path))
    long = read_wav(sound).seconds
    arguments = ["--video", str(clip), "--soundtrack", str(sound), "--python", str(tmp_path / "none")]
    assert check_duplex_input.main([*arguments, "--clip-seconds", f"{long / 2}"]) == 0
    assert f"{long:.1f} s at 79 tokens" in capsys.readouterr().out


def test_inputs_are_judged_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = write_wav(tmp_path / "good.wav"), write_wav(tmp_path / "bad.wav", rate=44_100)
    assert check_duplex_input.main(["--ref-audio", str(bad), "--wav", str(good)]) == 0
    assert {"REF_AUDIO: ok", "INPUT_WAV: ok", "CONTEXT: ok"} <= set(capsys.readouterr().out.splitlines())
    assert check_duplex_input.main(["--wav", str(bad)]) == 1
    assert "INPUT_WAV: " in (said := capsys.readouterr().out)
    assert "44100 Hz" in said
    assert "CONTEXT" not in said


# -- GPUs ------------------------------------------------------------------------------------------------------

LISTING = "".join(f"{n}, GPU-{n:04d}, NVIDIA H200\n" for n in range(8))


def gpus(number: int) -> list[check_gpu_layout.Gpu]:
    return check_gpu_layout.parse_gpus(LISTING)[:number]


@pytest.mark.parametrize(
    ("deploy", "needed"),
    [
        ("minicpmo_4_5.yaml", 1),
        ("minicpmo_4_5_2gpu.yaml", 2),
        ("minicpmo_4_5_3gpu.yaml", 3),
        ("minicpmo_4_5_8x4090.yaml", 8),
    ],
)
def test_a_layout_needs_its_number_of_gpus(deploy: str, needed: int) -> None:
    names = [str(index) for index in range(needed)]
    assert check_gpu_layout.layout_problems(deploy, names, gpus(needed)) == []
    short = check_gpu_layout.layout_problems(deploy, names[:-1], gpus(8))
    assert f"needs {needed} GPU" in short[0]
    assert f"GPUS names {needed - 1}" in short[0]
    assert "8 are visible" in short[0]
    hidden = check_gpu_layout.layout_problems(deploy, names, gpus(needed - 1))
    assert f"{needed - 1} {'is' if needed == 2 else 'are'} visible" in hidden[0]


def test_gpus_are_known_by_index_and_uuid_and_counted_once() -> None:
    layout = "minicpmo_4_5_2gpu.yaml"
    assert check_gpu_layout.layout_problems(layout, ["GPU-0001", "0"], gpus(2)) == []
    assert "names a GPU twice" in check_gpu_layout.layout_problems(layout, ["0", "0"], gpus(2))[0]
    assert "not visible: 7" in check_gpu_layout.layout_problems(layout, ["0", "7"], gpus(2))[0]
    assert "JUDGE_GPU names 0" in check_gpu_layout.layout_problems("judge", [], gpus(2))[0]


def test_gpus_that_cannot_be_read_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check_gpu_layout.main("minicpmo_4_5.yaml", "0") == 1
    assert "GPU_LAYOUT: the GPUs cannot be read" in capsys.readouterr().out


# -- the installation ------------------------------------------------------------------------------------------


def test_nothing_is_installed_where_vllm_omni_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "examples/online_serving/minicpmo").mkdir(parents=True)
    assert check_installation.main(["--before", str(tmp_path), "minicpmo_4_5.yaml", "no-such-program"]) == 1
    said = capsys.readouterr().out
    assert "no-such-program is not on the PATH; vllm is not installed; vllm-omni is not installed" in said
    assert "stepaudio2" not in said
    assert "vllm_omni/deploy/minicpmo_4_5.yaml is not there" in said
    assert check_installation.main([str(tmp_path), "minicpmo_4_5.yaml"]) == 1
    assert "stepaudio2-minicpmo is not installed" in capsys.readouterr().out


# -- settings --------------------------------------------------------------------------------------------------

BODY = '{"modalities":["text"],"chat_template_kwargs":{"enable_thinking":false}}'
SOFT = {
    "PARTS": "soft-interrupt",
    "SOFT_INTERRUPT_CMD": "python driver.py",
    "SOFT_INTERRUPT_MODES": "model-policy",
}


@pytest.mark.parametrize("text", ["", '{"0": {"gpu_memory_utilization": 0.55}}', '{"1": {}, "2": {"a": [1]}}'])
def test_stage_overrides_that_are_sound(text: str) -> None:
    assert list(check_serving_settings.overrides_problems(text)) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{0: {}}", "is no JSON"),
        ("[]", "must be an object of stages"),
        ("{}", "must be an object of stages"),
        ('{"3": {}}', "there are 0, 1 and 2"),
        ('{"0": 0.55}', "must be an object of settings"),
        ('{"0": {"gpu_memory_utilization": 55}}', "not between 0 and 1"),
        ('{"0": {"gpu_memory_utilization": "0.5"}}', "not between 0 and 1"),
    ],
)
def test_stage_overrides_that_are_refused(text: str, reason: str) -> None:
    (problem,) = check_serving_settings.overrides_problems(text)
    assert reason in problem


@pytest.mark.parametrize(
    "option", [f"--extra_body '{BODY}'", f"--extra-body='{BODY}'", f"--extra-body '{BODY}' -x"]
)
def test_a_daily_omni_command_asks_for_text_without_thinking(option: str) -> None:
    assert list(check_serving_settings.daily_omni_problems(f"vllm bench serve --omni {option}")) == []


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("", "is empty"),
        ("vllm bench serve --omni", f"must contain --extra_body '{BODY}'"),
        ("run --extra_body", "is no JSON"),
        ('run --extra_body \'{"modalities":["text"]}\'', "it must be"),
        (f"run --extra_body '{BODY.replace('false', 'true')}'", "it must be"),
        ("run --extra_body '" + BODY.replace('"text"', '"text","audio"') + "'", "it must be"),
        ("run --extra_body '[1]'", "it must be"),
        ("run --extra_body 'open", "is no command"),
    ],
)
def test_a_daily_omni_command_that_measures_something_else_is_refused(command: str, reason: str) -> None:
    (problem,) = check_serving_settings.daily_omni_problems(command)
    assert reason in problem


def test_settings_of_parts_that_are_not_chosen_do_not_matter() -> None:
    assert check_serving_settings.setting_problems({"PARTS": "curl", "PACE": "as-fast-as-possible"}) == []
    assert check_serving_settings.setting_problems({"PARTS": "curl,daily-omni"})
    assert check_serving_settings.setting_problems({**SOFT, "SOFT_INTERRUPT_CMD": ""})
    assert check_serving_settings.setting_problems(SOFT) == []
    assert (
        "must not choose"
        in check_serving_settings.setting_problems({**SOFT, "SOFT_INTERRUPT_CMD": "d --validation-mode=x"})[0]
    )


def test_response_required_is_bound_to_its_wav(tmp_path: Path) -> None:
    values = {**SOFT, "SOFT_INTERRUPT_MODES": "model-policy,response-required"}
    assert len(check_serving_settings.setting_problems(values)) == 2
    wav = tmp_path / "two.wav"
    wav.write_bytes(b"two answers")
    values |= {"SOFT_INTERRUPT_CMD": f"python driver.py --input-wav {wav}", "SOFT_SECOND_SUBSTRING": "二"}
    (wrong,) = check_serving_settings.setting_problems({**values, "SOFT_INPUT_SHA256": "a" * 64})
    assert "has the SHA-256" in wrong
    right = wrong.split()[4].strip(",")
    assert check_serving_settings.setting_problems({**values, "SOFT_INPUT_SHA256": right}) == []


def test_a_pace_without_a_clock_needs_the_operators_yes() -> None:
    values = {"PARTS": "omni-duplex-eval", "PACE": "as-fast-as-possible"}
    assert "clock=invalid" in check_serving_settings.setting_problems(values)[0]
    assert check_serving_settings.setting_problems({**values, "ALLOW_INVALID_CLOCK": "yes"}) == []


# -- answers ---------------------------------------------------------------------------------------------------


def curl(text: str, audio: int = 1) -> str:
    return f"Running query type: text\n\nOutput of request: {text}\nChoices with audio: {audio}\n"


ERROR = json.dumps({"object": "error", "message": "no such model", "code": 404}, indent=2)


@pytest.mark.parametrize(
    ("printed", "need"),
    [
        (curl("Hello."), "text"),
        (curl("Two\nlines.", 0), "text-only"),
        ("Chat completion output from text: I am MiniCPM-o.\n", "text-only"),
        ("Chat completion output from text: I am MiniCPM-o.\n", "either"),
    ],
)
def test_answers_that_count(printed: str, need: str) -> None:
    assert check_answer.answer_problems(check_answer.parse_answer(printed), [], need) == []


@pytest.mark.parametrize(
    ("printed", "need", "reason"),
    [
        (curl(""), "text", "is empty"),
        (curl(" \n "), "text", "is empty"),
        (curl(ERROR, 0), "text", "no such model"),
        (curl('{"error": {"message": "boom"}}', 0), "text-only", "boom"),
        (curl("Hello.", 1), "text-only", "audio came back"),
        ("", "text", "no answer was printed"),
        ("", "either", "neither text nor a WAV"),
        ("\ncontent: Hi.\n", "both", "no WAV was saved"),
        ("Chat completion output from text: \n", "text-only", "is empty"),
    ],
)
def test_answers_that_do_not(printed: str, need: str, reason: str) -> None:
    (problem,) = check_answer.answer_problems(check_answer.parse_answer(printed), [], need)
    assert reason in problem


def test_a_stream_needs_its_text_and_its_wavs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "answer.log"
    log.write_text("\ncontent:I am\nAudio saved to audio_a_0.wav\n MiniCPM-o.\nAudio saved to audio_a_1.wav\n")
    write_wav(tmp_path / "audio_a_0.wav", rate=24_000)
    assert check_answer.main([str(log), "--need", "both"]) == 0
    assert "ANSWER: ok" in capsys.readouterr().out
    write_wav(tmp_path / "audio_a_1.wav", rate=16_000)
    assert check_answer.main([str(log), "--need", "both"]) == 1
    assert "audio_a_1.wav is 16000 Hz" in capsys.readouterr().out


def test_a_stream_of_audio_alone_has_no_text(tmp_path: Path) -> None:
    wav = write_wav(tmp_path / "a.wav", rate=24_000)
    answer = check_answer.parse_answer("\ncontent:\nAudio saved to a.wav\n")
    assert check_answer.answer_problems(answer, [wav], "both") == ["the text of the answer is empty"]


# -- printed JSON, sessions, Daily-Omni ------------------------------------------------------------------------


def test_the_last_object_is_found_behind_log_lines() -> None:
    text = 'INFO {"a": 1}\n{"old": 1}\nINFO done\n{\n  "new": {\n    "x": 2\n  }\n}\nINFO bye\n'
    assert last_object(text) == {"new": {"x": 2}}
    assert last_object('{"whole": 1}') == {"whole": 1}
    assert last_object('{"good": 1}\n{"cut": ') == {"good": 1}
    assert last_object("") is None
    assert last_object("nothing\n{ broken\n") is None


@given(st.text(alphabet='{}"\n a1:,[]', max_size=60))
def test_no_text_breaks_the_search_for_an_object(text: str) -> None:
    assert isinstance(last_object(text), dict | None)


def test_a_session_needs_its_ok_and_something_said(tmp_path: Path) -> None:
    wav = write_wav(tmp_path / "output.wav", rate=24_000)
    problems = check_duplex_session.session_problems
    assert problems({"ok": True, "transcript": "Hello."}, [wav]) == []
    assert problems({"ok": True, "transcript": "Hello.", "errors": []}, []) == []
    assert "only listened" in problems({"ok": True, "transcript": " "}, [])[0]
    assert (
        "maximum model length" in problems({"ok": False, "errors": [{"message": "maximum model length"}]}, [])[0]
    )
    assert "not ok" in problems({"ok": True, "errors": ["late"]}, [wav])[0]
    assert "does not say why" in problems({}, [wav])[0]
    assert "no result" in problems(None, [wav])[0]


def test_a_driver_must_say_that_it_is_ok(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "output.log"
    for printed, status in (('{"ok": true}', 0), ('{"ok": false}', 1), ('{"fine": true}', 1), ("done", 1)):
        log.write_text(printed + "\n")
        assert check_duplex_session.main(log) == status
    assert check_duplex_session.main(tmp_path / "none.log") == 1
    assert "SESSION: ok" in capsys.readouterr().out


def test_an_accuracy_needs_answers_and_no_failed_request() -> None:
    head = "=== Daily-Omni accuracy (MCQ) ===\n"
    good = head + "Overall Accuracy: 937/1197 = 78.28%\nHTTP failed (excl. from GitHub acc.):    0\n"
    assert check_daily_omni.accuracy_problems(good) == []
    assert "3 requests failed" in check_daily_omni.accuracy_problems(good.replace("    0\n", "    3\n"))[0]
    assert "no answer was scored" in check_daily_omni.accuracy_problems(head + "Overall Accuracy: 0/0 = N/A\n")[0]
    assert "no line" in check_daily_omni.accuracy_problems(head)[0]


# -- Omni-DuplexEval -------------------------------------------------------------------------------------------


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def generate(root: Path, clock: str | None, number: int = 2) -> Path:
    for index in range(number):
        write_json(root / "RTD_OCR" / f"s{index}.json", [{"sentence": "A sign.", "start": 3, "end": 5}])
        write_json(root / "RTD_OCR" / f"s{index}.meta.json", {"clock": clock} if clock else {})
    write_json(root / "RTD_OCR" / ".media" / "x.json", {})
    write_json(root / "duplex_metrics.json", {})
    return root


@pytest.mark.parametrize(
    ("clock", "allow", "reason"),
    [
        ("media", "no", ""),
        ("invalid", "yes", ""),
        ("invalid", "no", "CLOCK: 2 of 2 responses record clock=invalid"),
        ("wall", "yes", "CLOCK: 2 responses record clock=wall"),
        (None, "yes", "CLOCK: 2 of 2 responses record no clock"),
    ],
)
def test_the_clock_of_what_was_generated(
    clock: str | None, allow: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = generate(tmp_path / "responses", clock)
    status = check_eval_responses.main([str(root), "--allow-invalid-clock", allow])
    said = capsys.readouterr().out
    assert "RESPONSES: ok" in said
    assert (status, (reason or "CLOCK: ok") in said) == (1 if reason else 0, True)


def test_responses_that_are_missing_or_cut_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_eval_responses.main([str(tmp_path)]) == 1
    assert "no response was generated" in capsys.readouterr().out
    root = generate(tmp_path / "responses", "media")
    assert check_eval_responses.main([str(root), "--limit", "3"]) == 1
    assert "2 responses for LIMIT=3" in capsys.readouterr().out
    (root / "RTD_OCR" / "s1.json").write_text('[{"sentence"')
    assert check_eval_responses.main([str(root)]) == 1
    assert "s1.json" in capsys.readouterr().out


RTD = {"temporal": {"sentences": [{"temporal_score": 2, "is_relevant": 1}]}, "content": {"content_score": 2.5}}
PR = {"pr": {"events": [{"success_score": 1}]}}


def test_scores_are_complete_read_and_summed_up() -> None:
    problems, summed = check_eval_scores.score_problems, check_eval_scores.summary_problems
    assert problems(2, [RTD, PR]) == []
    assert "1 scores for 2 responses" in problems(2, [RTD])[0]
    assert problems(0, [])
    assert summed(2, {"samples": 2, "rtd": {"mean_content_score": 2.5}}) == []
    assert "over 9 samples" in summed(1, {"samples": 9})[0]
    assert "no summary" in summed(1, None)[0]
    assert "not finite" in summed(1, {"samples": 1, "rtd": {"x": [math.nan]}})[0]


def test_scores_are_judged_before_there_is_a_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder, text in (("responses", "[]"), ("scores", '{"content": {}, "temporal": {"sentences": []}}')):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.json").write_text(text)
    assert check_eval_scores.main(tmp_path / "responses", tmp_path / "scores") == 1
    assert "1 answers of the judge could not be read" in capsys.readouterr().out
    (tmp_path / "scores" / "1.json").write_text(json.dumps(RTD))
    assert check_eval_scores.main(tmp_path / "responses", tmp_path / "scores") == 0
    assert check_eval_scores.main(tmp_path / "responses", tmp_path / "scores", tmp_path / "scores" / "1.json") == 0


@pytest.mark.parametrize(
    ("score", "missing"),
    [
        (RTD, 0),
        (PR, 0),
        (
            {
                "temporal": {"sentences": [{"error": "No valid temporal window"}]},
                "content": {"content_score": 0.0},
            },
            0,
        ),
        ({**RTD, "content": {}}, 1),
        ({"temporal": {"sentences": [{"is_relevant": 1}]}, "content": {"content_score": 1}}, 1),
        ({"pr": {"events": [{}, {"success_score": 0}]}}, 1),
        (None, 1),
    ],
)
def test_an_answer_of_the_judge_that_was_not_read_is_no_zero(score: Any, missing: int) -> None:
    assert check_eval_scores.unread_of(score) == missing


# -- folders ---------------------------------------------------------------------------------------------------


def test_a_folder_that_is_there_is_moved_aside_and_never_lost(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    for number in range(3):
        subprocess.run(["bash", str(SCRIPTS / "new_folder.sh"), str(folder)], check=True, capture_output=True)
        assert list(folder.iterdir()) == []
        (folder / f"{number}").touch()
    kept = {path.name: [one.name for one in path.iterdir()] for path in tmp_path.iterdir()}
    assert kept == {"a folder": ["2"], "a folder-earlier": ["0"], "a folder-earlier-2": ["1"]}
