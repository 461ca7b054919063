"""The newest reading of a run's machine in plain lines and as plain values: for `status`, as the panes show it."""

import time
from collections.abc import Iterator
from typing import Any

import msgspec

from omnitui import telemetry
from omnitui.samples import FRESH_S, Gpu, GpuProcess, Host, Sample
from omnitui.store import RunFolder


def machine_row(run: RunFolder) -> dict[str, Any] | None:
    """What was read last, how old it is, and whether it is STALE; None before anything was.

    A figure that the machine does not tell is left out.
    """
    sample = telemetry.latest(run)
    if sample is None:
        return None
    age_s = round(telemetry.age_s(sample), 1)
    gpu_age_s = None if sample.gpu_age_s is None else round(age_s + sample.gpu_age_s, 1)
    read: dict[str, Any] = msgspec.to_builtins(sample)
    return {
        "age_s": age_s,
        "stale": age_s > FRESH_S,
        "gpu_age_s": gpu_age_s,
        "gpu_stale": gpu_age_s is None or gpu_age_s > sample.gpu.fresh_s,
        "reading": {name: value for name, value in read.items() if name != "is"},
    }


def machine_lines(run: RunFolder) -> tuple[str, ...]:
    """The same to read; no line before anything was read."""
    sample = telemetry.latest(run)
    return () if sample is None else tuple(_lines(sample, telemetry.age_s(sample)))


def _lines(sample: Sample, age_s: float) -> Iterator[str]:
    if sample.trouble:
        yield f"monitor: {sample.trouble} ({_age(age_s)})"
        return
    gpu_age_s = age_s + (sample.gpu_age_s or 0.0)
    when = _age(gpu_age_s) if sample.gpu_age_s is not None else "not read yet"
    late = "STALE, " if sample.gpu_age_s is None or gpu_age_s > sample.gpu.fresh_s else ""
    if sample.gpu.absent or sample.gpu.error:
        yield f"GPU: {sample.gpu.absent or sample.gpu.error}"
    for one in sample.gpu.unread:
        yield f"GPU: {one}"
    for card in sample.gpu.cards:
        yield f"{card.label} {card.name.removeprefix('NVIDIA ')}: {', '.join(_figures(card))} ({late}{when})"
        yield from (f"  {_process(one)}" for one in card.processes or ())
    late = "STALE, " if age_s > FRESH_S else ""
    yield f"host: {', '.join(_host(sample.host))} ({late}{_age(age_s)})"


def _age(age_s: float) -> str:
    if age_s < 120:
        return f"{age_s:.0f} s old"
    return "read " + time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - age_s))


def _figures(card: Gpu) -> Iterator[str]:
    told = {
        "memory": card.used_mib is not None and f"{_gib(card.used_mib)} of {_gib(card.total_mib)}",
        "use": card.utilisation is not None and f"{card.utilisation:.0f} %",
        "power": card.power_w is not None and f"{card.power_w:.0f} W",
        "temperature": card.temperature_c is not None and f"{card.temperature_c:.0f} °C",
        "clock": card.sm_mhz is not None and f"{card.sm_mhz:.0f} MHz",
        "throttling": card.throttle is not None and ("held by " + " and ".join(card.throttle or ("nothing",))),
    }
    yield from (figure for figure in told.values() if figure)
    if untold := [name for name, figure in told.items() if not figure]:
        yield f"{' and '.join(untold)} not told"


def _process(one: GpuProcess) -> str:
    whose = {True: "ours", False: "FOREIGN", None: "owner not told"}[one.ours]
    of_run = f" of run {one.run}" if one.run else ""
    held = "memory not told" if one.used_mib is None else _gib(one.used_mib)
    return f"{one.pid} {one.user or '?'} {one.command or '?'}{of_run}: {held}, {whose}"


def _host(host: Host) -> Iterator[str]:
    if host.bench_load is not None:
        yield f"the benchmark's CPUs {host.bench_load:.0f} %"
    if host.other_load is not None:
        yield f"{'other' if host.bench_load is not None else 'all'} CPUs {host.other_load:.0f} %"
    yield f"memory {_gib(host.memory_used_mib)} of {_gib(host.memory_total_mib)}"
    yield f"results' disk {host.disk_error or _gib(host.disk_free_mib) + ' free'}"
    yield f"/dev/shm {_gib(host.shm_free_mib)} free"
    for one in host.loads or ():
        whose = {True: "ours", False: "FOREIGN", None: "owner not told"}[one.ours]
        yield f"{one.pid} {one.user} {one.command} {one.percent:.0f} % of a core, {whose}"


def _gib(mib: float | None) -> str:
    return "not told" if mib is None else f"{mib / 1024:.1f} GiB"
