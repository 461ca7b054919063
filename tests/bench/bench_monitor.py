"""What the monitor costs at one sample a second, with stand-in cards and every process of this host looked at."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.bench_runner import cpu_s
from tests.bench.measuring import Figure

DATA = Path(__file__).parents[1] / "data" / "gpu"
_SETTLES_S = 3.0
_MEASURED_S = 20.0
_WOKEN_S = 10.0


_PLAIN = """
import time
held = list(range(200_000))
while True:
    time.sleep(1)
    sum(held)
"""


def plain_wake() -> Figure:
    """What a program pays that wakes once a second and goes through a few MiB of its own.

    It is a tenth of a percent where memory stays in place. A virtual machine whose host takes idle memory shows
    percents here, and every figure of something that rests is then as much too high.
    """
    with subprocess.Popen([sys.executable, "-c", _PLAIN]) as plain:
        time.sleep(_SETTLES_S)
        before_s = cpu_s(plain.pid)
        time.sleep(_WOKEN_S)
        spent_s = cpu_s(plain.pid) - before_s
        plain.kill()
    return Figure("plain_wake_cpu", 100 * spent_s / _WOKEN_S, "% of a core", float("inf"))


def measure(folder: Path) -> Iterator[Figure]:
    """The share of a core that it takes once it runs, and what its start costs."""
    yield plain_wake()
    told = json.loads((DATA / "nvml_held.json").read_text())
    told["cards"] *= 2
    told["cards"][0]["processes"] = [[os.getpid(), 1000], [os.getppid(), 1000]]
    answer = folder / "nvml.json"
    answer.write_text(json.dumps(told))
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    monitor = subprocess.Popen(
        [sys.executable, "-m", "omnitui.monitor", "--gpus", "all", "--cpus", cpus, "--disk", str(folder)],
        stdin=subprocess.PIPE,
        stdout=(folder / "samples").open("wb"),
        env={
            **os.environ,
            "FAKE_NVML": str(answer),
            "PYTHONPATH": f"{DATA / 'fake'}:{Path(__file__).parents[2]}",
        },
    )
    try:
        time.sleep(_SETTLES_S)
        started = cpu_s(monitor.pid)
        begun = time.monotonic()
        time.sleep(_MEASURED_S)
        spent = cpu_s(monitor.pid) - started
        over_s = time.monotonic() - begun
    finally:
        monitor.kill()
        monitor.wait()
        if monitor.stdin:
            monitor.stdin.close()
    yield Figure("monitor_cpu", 100 * spent / over_s, "% of a core", 1.0)
    yield Figure("monitor_start", started * 1000, "ms CPU", 250.0)
    samples = (folder / "samples").read_bytes().count(b'"is":"sample"')
    yield Figure("monitor_samples", samples / (over_s + _SETTLES_S), "a second", 0.9, at_least=True)
