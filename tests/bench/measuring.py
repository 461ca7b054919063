"""What all benchmarks share: figures with their targets, and programs in pseudo-terminals of their own."""

import fcntl
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE_S = 300.0
"""A slow machine gives figures over their targets, and no error."""
_KEPT_BYTES = 4 << 20


@dataclass(frozen=True)
class Figure:
    name: str
    value: float
    unit: str
    target: float
    at_least: bool = False

    @property
    def ok(self) -> bool:
        return self.value >= self.target if self.at_least else self.value <= self.target

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{self.name} {self.value:.3f} {self.unit} {sign}{self.target:g} {'ok' if self.ok else 'over'}"


class Terminal:
    """A program in a pseudo-terminal of 120 by 40."""

    def __init__(self, source: str, *arguments: str) -> None:
        self.screen, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
        self.started_s = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-c", source, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**environment, "TERM": "xterm-256color"},
        )
        os.close(slave)
        self._drawn, self._since = bytearray(), 0

    def _read(self) -> None:
        self._drawn += os.read(self.screen, 65536)
        if (over := len(self._drawn) - _KEPT_BYTES) > 0:
            del self._drawn[:over]
            self._since = max(0, self._since - over)

    def wait_for(self, text: str, timeout_s: float = PATIENCE_S) -> float:
        """Return when `text` was drawn since the last key, on the clock of `time.perf_counter`."""
        deadline_s = time.perf_counter() + timeout_s
        while time.perf_counter() < deadline_s:
            # One go may draw more than one text that is waited for.
            if self._drawn.find(text.encode(), self._since) >= 0:
                return time.perf_counter()
            if select.select([self.screen], [], [], 0.5)[0]:
                self._read()
        raise TimeoutError(f"{text!r} was not drawn within {timeout_s} s; last seen {self._drawn[-200:]!r}")

    def has_drawn(self, text: str) -> bool:
        """Whether `text` was drawn at any time."""
        return text.encode() in self._drawn

    def drain(self, for_s: float) -> None:
        deadline_s = time.perf_counter() + for_s
        while (left_s := deadline_s - time.perf_counter()) > 0:
            if select.select([self.screen], [], [], left_s)[0]:
                self._read()
        self._since = len(self._drawn)

    def count(self, for_s: float) -> tuple[int, int]:
        """Return how many bytes are drawn in that time, and in how many goes."""
        sent = goes = 0
        deadline_s = time.perf_counter() + for_s
        while (left_s := deadline_s - time.perf_counter()) > 0:
            if select.select([self.screen], [], [], left_s)[0]:
                goes += 1
                while select.select([self.screen], [], [], 0.05)[0]:
                    sent += len(os.read(self.screen, 65536))
        return sent, goes

    def press(self, key: bytes) -> float:
        self._since = len(self._drawn)
        pressed_s = time.perf_counter()
        os.write(self.screen, key)
        return pressed_s

    def peak_mib(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.screen)


@contextmanager
def running(source: str, *arguments: str) -> Iterator[Terminal]:
    terminal = Terminal(source, *arguments)
    try:
        yield terminal
    finally:
        terminal.close()


def median_difference(pairs: list[tuple[float, float]]) -> float:
    return statistics.median(second - first for first, second in pairs)


def percentile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]
