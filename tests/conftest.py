"""What every test may use: a home of its own, and ports that nobody has."""

import os
import signal
from pathlib import Path

import pytest

from tests.ports import free_ports

# A worker of pytest-xdist is told a terminal's size; an app on a terminal of its own has to ask that one.
for size in ("COLUMNS", "LINES"):
    os.environ.pop(size, None)
# What a script starts in its background ignores Ctrl-C, and so does all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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


_PORTS = free_ports()


@pytest.fixture
def free_port() -> int:
    """A TCP port on which nobody listens; another one for every test of a session."""
    return next(_PORTS)


@pytest.fixture
def other_port() -> int:
    """Another one, for a test that needs two."""
    return next(_PORTS)
