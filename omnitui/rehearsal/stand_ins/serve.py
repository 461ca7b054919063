"""Stand-in for `sgl-omni serve` and `vllm serve`: real HTTP, no model, and fake GPU memory.

A worker in a session of its own holds the memory, as the workers of real servers do.
"""

import base64
import io
import json
import math
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import wave
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from omnitui.rehearsal.stand_ins import stage

START_S = 0.4
SLOW_S = 3600.0
MEMORY_MIB = 98304
SENTENCE = "This is a stand-in sentence."


def tone(seconds: float = 0.02, rate: int = 24000) -> bytes:
    """A WAV of a tone: whole, and not silent."""
    frames = int(seconds * rate)
    samples = (int(9000 * math.sin(2 * math.pi * 440 * n / rate)) for n in range(frames))
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    return out.getvalue()


TONE = tone()


class Answers(BaseHTTPRequestHandler):
    """The routes of an OpenAI-style server."""

    protocol_version = "HTTP/1.1"
    model = ""
    ready = threading.Event()

    def do_GET(self) -> None:
        """Health and models."""
        path = self.path.partition("?")[0]
        if path in ("/health", "/v1/health", "/ping"):
            self._send(200 if self.ready.is_set() else 503, {"status": "stand-in"})
        elif path == "/v1/models":
            self._send(200, {"object": "list", "data": [{"id": self.model, "object": "model"}]})
        else:
            self._send(404, {"error": {"message": "the stand-in server does not know this route"}})

    def do_POST(self) -> None:
        """Speech and text that mean nothing."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        answer: Callable[[], None] | None = {
            "/v1/chat/completions": self._chat,
            "/v1/audio/speech": lambda: self._reply(200, TONE, "audio/wav"),
            "/v1/audio/transcriptions": lambda: self._send(200, {"text": SENTENCE}),
        }.get(self.path.partition("?")[0])
        if answer is None:
            self._send(404, {"error": {"message": "the stand-in server does not know this route"}})
        else:
            answer()

    def _chat(self) -> None:
        said = "" if stage.fault() == "empty-answer" else SENTENCE
        sound = {"id": "stand-in", "data": base64.b64encode(TONE).decode(), "transcript": said}
        message = {"role": "assistant", "content": said, "audio": sound}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 331, "completion_tokens": 32, "total_tokens": 363}
        self._send(200, {"id": "stand-in", "model": self.model, "choices": [choice], "usage": usage})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        self._reply(status, json.dumps(body).encode(), "application/json")

    def _reply(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Real servers log each request; a stand-in's log stays short."""
        if self.command == "POST":
            sys.stdout.write(f'INFO: "{self.command} {self.path}" {args[1] if len(args) > 1 else ""}\n')


def serve(name: str, model: str, port: int, host: str = "127.0.0.1", cards: int = 1) -> int:
    """Serve until TERM, with memory taken on the first of the cards that CUDA may use."""
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    print(f"stand-in {name}: serves {model} on port {port}; no model, no GPU")
    fault = stage.fault()
    worker = subprocess.Popen(
        [sys.executable, "-S", "-c", _WORKER, str(Path(__file__).parents[3]), name, str(cards)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        if fault == "server-dies":
            time.sleep(START_S / 2)
            print(
                "Traceback (most recent call last):\nRuntimeError: stand-in: the server was told to die",
                flush=True,
            )
            return 1
        time.sleep(SLOW_S if fault == "slow-start" else START_S)
        _compile_cache()
        Answers.model = model
        server = ThreadingHTTPServer((host, port), Answers)
        server.daemon_threads = True
        Answers.ready.set()
        print(f"stand-in {name}: ready")
        server.serve_forever()
    finally:
        worker.terminate()
        worker.wait()
    return 0


def _compile_cache() -> None:
    """Leave something where torch compile would."""
    if os.environ.get("SGLANG_OMNI_TORCH_COMPILE_DEFAULT") != "0":
        folder = Path(os.environ.get("TORCHINDUCTOR_CACHE_DIR") or "/root/.cache/sglang-omni/torchinductor")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "stand-in").touch()


_WORKER = """
import sys
sys.path.insert(0, sys.argv[1])
from omnitui.rehearsal.stand_ins import gpus, serve
gpus.take(gpus.for_cuda()[:int(sys.argv[3])], serve.MEMORY_MIB, sys.argv[2])
sys.stdin.read()
"""
"""Holds memory until it is told to end, or its server is gone."""


def option(argv: list[str], *names: str, default: str = "") -> str:
    """The value of an option, given as `--a b` or `--a=b`."""
    for at, word in enumerate(argv):
        for name in names:
            if word == name and at + 1 < len(argv):
                return argv[at + 1]
            if word.startswith(f"{name}="):
                return word.partition("=")[2]
    return default


def main_sgl_omni(argv: list[str]) -> int:
    """`sgl-omni serve --model-path P --model-name N --port P`."""
    if argv[:1] != ["serve"]:
        stage.say("sgl-omni", f"only serves; not {' '.join(argv)[:80]!r}")
        return 2
    path = option(argv, "--model-path", "--model")
    return serve(
        "sgl-omni", option(argv, "--model-name", default=path), int(option(argv, "--port", default="8000"))
    )
