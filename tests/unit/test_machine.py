import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from omnitui.machine import KEPT_S, Machine, seen
from omnitui.machine_lines import machine_lines, machine_row
from omnitui.samples import Gpu, GpuLook, GpuProcess, Host, Line, Notice, Sample, Started
from omnitui.store import RunFolder
from omnitui.telemetry import Tail, Writer


def sample(at: float, used: float | None = 1.0, **more: Any) -> Sample:
    look = GpuLook((Gpu("GPU-a", 0, "NVIDIA H200", used, 143_771.0),), source="NVML")
    return Sample(**{"at": at, "gpu": look, "gpu_age_s": 0.0, **more})


def test_the_newest_sample_and_a_short_past() -> None:
    machine = seen(
        Machine(), [Started(0.0, 1, (0,), True, "keeps off"), *(sample(float(n), n) for n in range(10))]
    )
    machine = seen(machine, [sample(2.0 * KEPT_S, 5.0)])
    assert machine.sample is not None and machine.sample.at == 2 * KEPT_S
    assert [point.used_mib for point in machine.cards["GPU-a"]] == [5.0]
    assert len(machine.host) == 1
    assert machine.started is not None and machine.started.said == "keeps off"


def test_trouble_keeps_what_was_read_last_and_its_age() -> None:
    machine = seen(Machine(), [sample(100.0), Sample(at=104.0, trouble="the monitor is silent")])
    assert machine.trouble == "the monitor is silent"
    assert machine.gpu_age_s(110.0) == 10.0
    assert machine.gpu_stale(110.0) and machine.host_stale(110.0)
    assert not machine.gpu_stale(102.0)
    assert seen(machine, [sample(111.0)]).trouble == ""


def test_a_look_that_hangs_ages_while_the_host_is_told() -> None:
    machine = seen(Machine(), [sample(100.0, gpu_age_s=9.0)])
    assert machine.gpu_stale(100.0)
    assert not machine.host_stale(100.0)
    assert machine.cards == {}
    never = seen(Machine(), [sample(100.0, gpu_age_s=None)])
    assert never.gpu_age_s(100.0) is None and never.gpu_stale(100.0)


def test_what_the_monitor_costs_also_when_it_was_started_again() -> None:
    spent = [0.1 * n for n in range(20)] + [0.01 * n for n in range(11)]
    machine = seen(Machine(), [sample(float(n), own_cpu_s=cpu) for n, cpu in enumerate(spent)])
    assert machine.monitor_percent() == pytest.approx(1.0)
    assert machine.runner_percent() is None
    assert Machine().monitor_percent() is None


def test_a_tail_reads_each_line_once_also_when_the_file_was_thinned(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    tail = Tail(run, 3.0)
    assert tail.lines() == []
    writer = Writer(run.telemetry, limit=20_000)
    for number in range(6):
        writer.append(sample(float(number)))
    assert [line.at for line in tail.lines()] == [4, 5]
    assert tail.lines() == []
    for number in range(6, 401):
        writer.append(sample(float(number)))
        if number % 7 == 0:
            assert tail.lines()[-1].at == number
    with run.telemetry.open("ab") as file:
        file.write(b'{"is":"sample","at":1000')
    assert [line.at for line in tail.lines()] == [400]
    writer.close()


# -- status -----------------------------------------------------------------------------------------------------


def written(folder: Path, *lines: Line) -> RunFolder:
    run = RunFolder(folder)
    writer = Writer(run.telemetry)
    for line in lines:
        writer.append(line)
    writer.close()
    return run


def test_status_tells_the_newest_reading(tmp_path: Path) -> None:
    assert machine_lines(RunFolder(tmp_path)) == ()
    assert machine_row(RunFolder(tmp_path)) is None
    foreign = GpuProcess(911, "mallory", "python3 train.py", 20_480.0, False)
    card = Gpu("GPU-a", 0, "NVIDIA H200", 20_483.0, 143_771.0, processes=(foreign,))
    host = Host(
        bench_load=71.0, other_load=3.0, memory_used_mib=1024.0, memory_total_mib=2048.0, disk_free_mib=512.0
    )
    # Of a minute to come: however late it is read, it is fresh.
    run = written(tmp_path, Notice(1.0, "x"), Sample(time.time() + 60, GpuLook((card,)), 0.0, host))
    gpu, process, told = machine_lines(run)
    untold = "use and power and temperature and clock and throttling not told"
    assert gpu == f"GPU 0 H200: 20.0 GiB of 140.4 GiB, {untold} (0 s old)"
    assert process == "  911 mallory python3 train.py: 20.0 GiB, FOREIGN"
    assert told.startswith("host: the benchmark's CPUs 71 %, other CPUs 3 %, memory 1.0 GiB of 2.0 GiB")
    found = json.loads(json.dumps(machine_row(run)))
    assert (found["stale"], found["gpu_stale"]) == (False, False)
    assert found["reading"]["gpu"]["cards"][0]["processes"][0]["ours"] is False
    assert "power_w" not in found["reading"]["gpu"]["cards"][0]


def test_an_old_reading_is_stale_in_status(tmp_path: Path) -> None:
    run = written(tmp_path, sample(time.time() - 60))
    gpu, host = machine_lines(run)
    assert all(re.search(r"\(STALE, [6-9]\d s old\)$", line) for line in (gpu, host)), (gpu, host)
    found = machine_row(run)
    assert found is not None and found["gpu_stale"] and found["stale"]
    absent = written(tmp_path, Sample(time.time() + 60, GpuLook(absent="no NVIDIA GPU"), 0.0))
    assert machine_lines(absent)[0] == "GPU: no NVIDIA GPU"
