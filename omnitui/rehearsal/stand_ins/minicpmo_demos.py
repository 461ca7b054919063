"""Stand-ins for what the MiniCPM-o page opens in a browser: one page that says what it is."""

import argparse
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def gradio_demo(argv: Sequence[str]) -> int:
    """`gradio_demo.py --minicpmo45-api-base URL --minicpmo45-model M --port P`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minicpmo45-api-base", required=True)
    parser.add_argument("--minicpmo45-model", required=True)
    parser.add_argument("--port", type=int, default=7862)
    options = parser.parse_args(argv)
    return _serve("Gradio demo", options.port)


def realtime_web(argv: Sequence[str]) -> int:
    """`python -m examples.online_serving.minicpmo.realtime_web --port P --ws-backend URL --ref-audio WAV`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ws-backend", required=True)
    parser.add_argument("--ref-audio", type=Path, required=True)
    parser.add_argument("--public-realtime-url", default="")
    options = parser.parse_args(argv)
    if not options.ref_audio.is_file():
        raise SystemExit(f"error: --ref-audio: {options.ref_audio} is not there")
    return _serve("browser client", options.port)


def _serve(title: str, port: int) -> int:
    class Page(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            """The page, and nothing else."""
            body = f"<!doctype html><title>stand-in</title><p>Stand-in for the {title}.\n".encode()
            self.send_response(200 if self.path.partition("?")[0] == "/" else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """A health check every few seconds is no news."""

    print(f"stand-in {title}: http://0.0.0.0:{port}", flush=True)
    server = ThreadingHTTPServer(("0.0.0.0", port), Page)
    server.daemon_threads = True
    server.serve_forever()
    return 0
