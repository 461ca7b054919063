"""A server with the two pages that are asked for: `/health` and `/v1/models`."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CONTROL = Path(os.environ["CONTROL"])
FAULT = os.environ["FAULT"]
LOOKS = {"unhealthy": int(os.environ["UNHEALTHY_LOOKS"])}
WORKER = """
import signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN if sys.argv[1] == "deaf worker" else signal.SIG_DFL)
print("worker up", flush=True)
time.sleep(600)
"""


class Pages(BaseHTTPRequestHandler):
    """Health, models, and nothing else."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        """Answer."""
        if self.path == "/health":
            unhealthy = LOOKS["unhealthy"] > 0
            LOOKS["unhealthy"] -= unhealthy
            self.answer(503 if unhealthy else 200, {})
        elif self.path == "/v1/models":
            self.answer(200, {"object": "list", "data": [{"id": os.environ["SERVED"], "object": "model"}]})
        else:
            self.answer(404, {})

    def answer(self, status: int, body: object) -> None:
        """Send JSON."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    """Looks up no names when it starts, and ends without waiting for kept connections."""

    daemon_threads = True

    def server_bind(self) -> None:
        """Bind without the reverse lookup of the base class, also where the last server's connections linger."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "127.0.0.1", int(os.environ["PORT"])


def main() -> None:
    """Serve until TERM."""
    print(f"loading {os.environ['SERVED']}", flush=True)
    time.sleep(float(os.environ["START_S"]))
    if FAULT == "die":
        print("RuntimeError: CUDA out of memory", flush=True)
        sys.exit(7)
    if FAULT == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if FAULT.endswith("worker"):
        worker = subprocess.Popen([sys.executable, "-S", "-c", WORKER, FAULT], start_new_session=True)
        (CONTROL / "worker.pid").write_text(str(worker.pid))
    (CONTROL / "server.pid").write_text(str(os.getpid()))
    Server(("127.0.0.1", int(os.environ["PORT"])), Pages).serve_forever()


main()
