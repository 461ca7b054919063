"""Somebody else on a port: a process that is none of the run's, as one that an earlier run of somebody left."""

import socket
import subprocess
import sys
import time

PROGRAM = "import socket, sys, time; s = socket.create_server(('', int(sys.argv[1]))); time.sleep(86400)"


def start(port: int) -> None:
    """Let somebody listen on the port; returns once it is taken."""
    if is_taken(port):
        return
    words = [sys.executable, "-S", "-c", PROGRAM, str(port)]
    subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    for _ in range(200):
        if is_taken(port):
            return
        time.sleep(0.02)


def is_taken(port: int) -> bool:
    """Whether somebody listens on the port."""
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
