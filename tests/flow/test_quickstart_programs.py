"""The quickstart's programs as an operator runs them: real servers, real speech, real failures."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from tests.waiting import PATIENCE_S, until

SCRIPTS = Path(__file__).parents[2] / "runbooks" / "quickstart" / "scripts"
TTS, ASR = "espeak-ng", "pocketsphinx"


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def get(self, path: str) -> httpx.Response:
        return httpx.get(self.url + path, trust_env=False, timeout=PATIENCE_S)

    def post(self, path: str, **body: Any) -> httpx.Response:
        return httpx.post(self.url + path, trust_env=False, timeout=PATIENCE_S, **body)


@contextmanager
def running(script: str, log: Path, *arguments: str) -> Iterator[Server]:
    command = [sys.executable, str(SCRIPTS / script), "--port", "0", *arguments]
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        try:

            def said(pattern: str) -> re.Match[str] | None:
                assert process.poll() is None, log.read_text()
                return re.search(pattern, log.read_text())

            listens = until(lambda: said(r"listens on (http://\S+)\n"), about=f"{script} listens")
            assert listens
            until(lambda: said(r"loaded in"), about=f"{script} has loaded")
            server = Server(process, listens[1], log)
            until(lambda: server.get("/health").status_code == 200, about=f"{script} is healthy")
            yield server
        finally:
            process.kill()


def program(script: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPTS / script), *map(str, arguments)]
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, timeout=PATIENCE_S, check=False
    )
    # Decoded here, because text mode turns the progress line's carriage returns into new lines.
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def results(folder: Path) -> Any:
    return json.loads((folder / "speed_results.json").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("quickstart")


@pytest.fixture(scope="module")
def tts(folder: Path) -> Iterator[Server]:
    with running("tts_server.py", folder / "tts.log") as server:
        yield server


@pytest.fixture(scope="module")
def asr(folder: Path) -> Iterator[Server]:
    with running("asr_server.py", folder / "asr.log") as server:
        yield server


@pytest.fixture(scope="module")
def speech(folder: Path, tts: Server) -> Path:
    """The whole test set, spoken."""
    common = ("--base-url", tts.url, "--model", TTS, "--concurrency", 4, "--warmup", 2)
    done = program("client.py", "speech", *common, "--output-dir", folder / "speech")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "evaluated=40/40"
    return folder / "speech"


def test_speech_leaves_numbers_and_audio_that_agree(speech: Path) -> None:
    content = results(speech)
    assert content["summary"]["completed_requests"] == content["summary"]["total_requests"] == 40
    for row in content["per_request"]:
        with wave.open(str(speech / row["wav_path"]), "rb") as file:
            duration_s = file.getnframes() / file.getframerate()
        assert row["audio_duration_s"] == pytest.approx(duration_s)
        assert row["rtf"] == pytest.approx(row["latency_s"] / duration_s)
        assert 1.0 < duration_s < 10.0
    assert len({path.name for path in (speech / "audio").iterdir()}) == 40


def test_transcription_and_scoring_find_most_words(speech: Path, asr: Server, tmp_path: Path) -> None:
    common = ("--base-url", asr.url, "--model", ASR, "--concurrency", 2, "--warmup", 1, "--max-samples", 6)
    # A proxy in the environment is not asked about a server on this machine.
    proxies = {"http_proxy": "http://127.0.0.1:9", "all_proxy": "http://127.0.0.1:9"}
    done = program(
        "client.py",
        "transcription",
        *common,
        "--audio-dir",
        speech / "audio",
        "--output-dir",
        tmp_path,
        **proxies,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert "\r 6/6 [" in done.stderr

    output = tmp_path / "wer_results.json"
    scored = program("score.py", "--transcripts", tmp_path / "speed_results.json", "--output", output)
    assert scored.returncode == 0, scored.stderr
    assert scored.stdout.splitlines()[-1] == "evaluated=6/6"
    content = json.loads(output.read_text())
    assert content["summary"]["wer_corpus"] < 0.5
    assert [row["id"] for row in content["per_sample"]] == [row["id"] for row in results(tmp_path)["per_request"]]


def test_results_are_never_overwritten(speech: Path, tts: Server) -> None:
    before = (speech / "speed_results.json").read_bytes()
    done = program("client.py", "speech", "--base-url", tts.url, "--model", TTS, "--output-dir", speech)
    assert done.returncode == 2
    assert "never overwritten" in done.stderr
    assert (speech / "speed_results.json").read_bytes() == before


def test_a_failed_warmup_stops_before_anything_is_written(tts: Server, tmp_path: Path) -> None:
    common = ("--base-url", tts.url, "--model", "another-model", "--warmup", 2)
    done = program("client.py", "speech", *common, "--output-dir", tmp_path / "new")
    assert done.returncode == 1
    assert done.stderr.startswith("error: warmup request 1 of 2 failed: RequestFailed: HTTP 404: ")
    assert not (tmp_path / "new").exists()


def test_requests_that_fail_are_counted_and_have_no_hypothesis(asr: Server, speech: Path, tmp_path: Path) -> None:
    audio = tmp_path / "audio"
    audio.mkdir()
    (audio / "call_001.wav").write_bytes((speech / "audio" / "call_001.wav").read_bytes())
    common = ("--base-url", asr.url, "--model", ASR, "--max-samples", 2, "--audio-dir", audio)
    done = program("client.py", "transcription", *common, "--output-dir", tmp_path / "asr")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "evaluated=1/2"
    good, bad = results(tmp_path / "asr")["per_request"]
    assert good["is_success"]
    assert (bad["is_success"], bad["hypothesis"]) == (False, None)
    assert "call_002.wav" in bad["error"]


def test_a_server_that_dies_midway_is_counted_as_failures(speech: Path, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPTS / "client.py"), "transcription", "--model", ASR, "--concurrency", "1"]
    command += ["--audio-dir", str(speech / "audio"), "--output-dir", str(tmp_path / "asr")]
    errors = tmp_path / "client.err"
    with running("asr_server.py", tmp_path / "asr.log", "--workers", "1") as server, errors.open("wb") as stderr:
        workers = psutil.Process(server.process.pid).children()
        client = subprocess.Popen([*command, "--base-url", server.url], stdout=subprocess.PIPE, stderr=stderr)
        with client:
            until(lambda: b"\r 3/40 " in errors.read_bytes(), about="three transcripts")
            server.process.kill()
            output, _ = client.communicate(timeout=PATIENCE_S)
        _, alive = psutil.wait_procs(workers, timeout=PATIENCE_S)
    assert client.returncode == 1
    summary = results(tmp_path / "asr")["summary"]
    assert summary["completed_requests"] >= 3
    assert summary["failed_requests"] == 40 - summary["completed_requests"] > 0
    assert output.decode().splitlines()[-1] == f"evaluated={summary['completed_requests']}/40"
    assert len(workers) == 1
    assert alive == []


def test_health_turns_red_when_a_recogniser_process_dies(tmp_path: Path) -> None:
    with running("asr_server.py", tmp_path / "asr.log", "--workers", "1") as server:
        (worker,) = psutil.Process(server.process.pid).children()
        worker.kill()
        until(lambda: server.get("/health").status_code == 503, about="a red health")
        answer = server.get("/health")
        assert "1 of 1 recogniser processes ended" in answer.json()["error"]["message"]


def test_models_are_listed_as_openai_lists_them(tts: Server, asr: Server) -> None:
    for server, model in ((tts, TTS), (asr, ASR)):
        listed = server.get("/v1/models").json()
        assert listed["object"] == "list"
        assert [(entry["id"], entry["object"]) for entry in listed["data"]] == [(model, "model")]


@pytest.mark.parametrize(
    ("change", "status", "param"),
    [
        ({"input": " "}, 400, "input"),
        ({"input": "..."}, 400, "input"),
        ({"input": "a" * 4097}, 413, "input"),
        ({"model": "another"}, 404, "model"),
        ({"voice": "nobody"}, 400, "voice"),
        ({"voice": "../en-us"}, 400, "voice"),
        ({"response_format": "mp3"}, 400, "response_format"),
        ({"speed": 9}, 400, "speed"),
        ({"speed": "fast"}, 400, "speed"),
    ],
)
def test_speech_requests_that_are_refused(tts: Server, change: dict[str, Any], status: int, param: str) -> None:
    body = {"model": TTS, "input": "alpha", "voice": "en-us", "response_format": "wav"} | change
    answer = tts.post("/v1/audio/speech", json=body)
    assert (answer.status_code, answer.json()["error"]["param"]) == (status, param)


def test_speed_shortens_the_audio(tts: Server) -> None:
    sizes = [
        len(tts.post("/v1/audio/speech", json={"model": TTS, "input": "alpha bravo", "speed": speed}).content)
        for speed in (1.0, 2.0)
    ]
    assert sizes[1] < 0.8 * sizes[0]


def test_transcription_requests_that_are_refused(asr: Server) -> None:
    route = "/v1/audio/transcriptions"
    wav = {"file": ("a.wav", b"no audio", "audio/wav")}
    assert asr.post(route, json={}).status_code == 400
    assert asr.post(route, data={"model": ASR}, files={"other": b""}).json()["error"]["param"] == "file"
    assert asr.post(route, data={"model": ASR}, files=wav).json()["error"]["param"] == "file"
    assert asr.post(route, data={"model": "another"}, files=wav).status_code == 404
    assert asr.post(route, data={"model": ASR, "language": "zh"}, files=wav).json()["error"]["param"] == "language"
    assert asr.post("/v1/nothing", data={"model": ASR}, files=wav).status_code == 404


def test_one_connection_serves_refusals_and_answers(tts: Server) -> None:
    with httpx.Client(base_url=tts.url, trust_env=False) as http:
        ports = set()
        for body in ({}, {"model": TTS, "input": "alpha"}, {}):
            response = http.post("/v1/audio/speech", json=body)
            ports.add(response.extensions["network_stream"].get_extra_info("client_addr"))
    assert len(ports) == 1


@pytest.mark.parametrize("script", ["tts_server.py", "asr_server.py"])
def test_term_ends_a_server_with_status_0_and_leaves_nobody(script: str, tmp_path: Path) -> None:
    with running(script, tmp_path / "server.log") as server:
        workers = psutil.Process(server.process.pid).children()
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=PATIENCE_S) == 0
        _, alive = psutil.wait_procs(workers, timeout=PATIENCE_S)
    assert alive == []


def test_a_busy_port_is_told_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        done = program("tts_server.py", "--port", port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: cannot listen on 127.0.0.1:{port}: Address already in use; ")
    assert done.stderr.count("\n") == 1


def test_a_voice_that_is_not_there_ends_the_server(tmp_path: Path) -> None:
    done = program("tts_server.py", "--port", 0, "--voice", "nobody")
    assert done.returncode == 1
    assert "cannot be loaded: espeak-ng has no voice 'nobody'" in done.stdout


def test_the_packages_are_checked(tmp_path: Path) -> None:
    done = program("check_packages.py")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "PACKAGES_OK")

    (tmp_path / "pocketsphinx.py").write_text("raise ImportError('not installed')\n")
    missing = program("check_packages.py", PYTHONPATH=str(tmp_path))
    assert missing.returncode == 1
    assert "PACKAGES_OK" not in missing.stdout
    assert "pocketsphinx is missing" in missing.stderr
    assert "pip install 'omnitui[quickstart]'" in missing.stderr
