"""What every test may use: a home of its own, and ports that nobody has."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

# A worker of pytest-xdist is told a terminal's size; an app on a terminal of its own has to ask that one.
for size in ("COLUMNS", "LINES"):
    os.environ.pop(size, None)


@pytest.fixture(autouse=True)
def config_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a test may write a config; whoever runs the tests may have one, too."""
    monkeypatch.setenv("OMNITUI_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path / "config.toml"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty `OMNITUI_HOME` with a folder of its own for the host-wide locks."""
    locks = tmp_path / "locks"
    locks.mkdir()
    monkeypatch.setenv("OMNITUI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OMNITUI_LOCKS", str(locks))
    return tmp_path / "home"


def _free_ports() -> Iterator[int]:
    # Below the ephemeral range: a port that the kernel hands out could be somebody's outgoing connection soon.
    # Two test sessions at a time begin at different numbers.
    first = os.getpid() * 97 % 10_000
    for number in range(10_000):
        port = 21_000 + (first + number) % 10_000
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
        yield port


_PORTS = _free_ports()


@pytest.fixture
def free_port() -> int:
    """A TCP port on which nobody listens; another one for every test of a session."""
    return next(_PORTS)
