"""What the GPU, Host, Server and time line panes say, from samples alone."""

from typing import Any

import pytest
from omnitui.machine import Machine, seen
from omnitui.samples import Boundary, Contaminated, Gpu, GpuLook, GpuProcess, Host, Line, Load, Notice, Sample
from omnitui.ui.gpu_texts import Frame, gpu_rows
from omnitui.ui.host_texts import AppCost, host_rows
from omnitui.ui.process_texts import who
from omnitui.ui.timeline_texts import Stretch, Window, stretches_of, timeline_rows
from omnitui.ui.widgets.rows import Row

NOW = 1_000_000.0
OURS = GpuProcess(10, "kim", "VLLM::EngineCore", 60_000.0, True)
FOREIGN = GpuProcess(11, "mallory", "python3 train.py", 20_480.0, False)
UNKNOWN = GpuProcess(12, "", "", None, None)


def card(index: int = 0, **more: Any) -> Gpu:
    told: dict[str, Any] = {
        "uuid": f"GPU-{index}",
        "index": index,
        "name": "NVIDIA H200",
        "used_mib": 61_200.0,
        "total_mib": 143_771.0,
        "utilisation": 97.0,
        "power_w": 612.0,
        "power_limit_w": 700.0,
        "temperature_c": 61.0,
        "sm_mhz": 1980.0,
        "throttle": (),
        "processes": (OURS,),
    }
    return Gpu(**{**told, **more})


def gpu(
    *cards: Gpu, width: int = 60, height: int = 9, now: float = NOW, age_s: float | None = 0.0, **more: Any
) -> str:
    look = GpuLook(cards, source="NVML", **more)
    machine = seen(Machine(), [Sample(at=NOW, gpu=look, gpu_age_s=age_s)])
    return text(gpu_rows(machine, Frame(width, height, now, 1024)))


def text(rows: tuple[Row, ...]) -> str:
    return "\n".join(
        "".join(c.text.ljust(c.width) for c in row.left) + "  " + "".join(c.text for c in row.right)
        for row in rows
    )


def tones(rows: tuple[Row, ...]) -> set[str]:
    return {cell.tone for row in rows for cell in (*row.left, *row.right)}


# -- GPU ---------------------------------------------------------------------------------------------------------


def test_a_card_and_who_holds_it() -> None:
    told = gpu(card(processes=(OURS, UNKNOWN, FOREIGN)))
    assert "GPU 0 H200  now" in told
    assert "59.8 of 140.4 GiB" in told and "97 %" in told
    assert "612/700 W · 61 °C · 1980 MHz" in told
    foreign, unknown, ours = told.splitlines()[-3:]
    assert foreign == "11 mallory python3 train.py  20.0 GiB FOREIGN"
    assert unknown == "12 ? ?  memory not told owner not told"
    assert ours == "10 kim VLLM::EngineCore  58.6 GiB ours"


def test_what_is_not_told_is_said_and_never_0() -> None:
    told = gpu(Gpu("GPU-0", 0))
    assert "memory not told" in told and "use not told" in told
    assert "power, temperature, clock not told" in told
    assert "processes not told" in told
    assert " 0 %" not in told and "0.0" not in told


def test_a_mig_device_has_no_use() -> None:
    told = gpu(card(uuid="MIG-12345678-aaaa", mig=True, utilisation=None))
    assert "MIG-12345678 H200 MIG" in told
    assert "use not told" in told


def test_no_gpu_and_none_that_can_be_read() -> None:
    assert gpu(absent="no NVIDIA GPU") == "– no NVIDIA GPU  "
    assert "✘ Driver/library version mismatch" in gpu(error="Driver/library version mismatch")
    assert "✘ GPU 1: GPU is lost" in gpu(card(), unread=("GPU 1: GPU is lost",))
    assert "None of the run's GPUs is here." in gpu()
    assert text(gpu_rows(Machine(), Frame(60, 9, NOW))) == "No reading yet.  "


def test_a_late_reading_is_stale_with_its_age() -> None:
    assert "STALE" not in gpu(card(), now=NOW + 2.9)
    told = gpu(card(), now=NOW + 12)
    assert told.startswith("◌ STALE 12s")
    assert "now" not in told
    assert "◌ STALE 30s" in gpu(card(), age_s=30.0)
    assert "◌ not read yet" in gpu(card(), age_s=None)
    # nvidia-smi is asked less often.
    assert "STALE" not in gpu(card(), now=NOW + 12, fresh_s=15.0)


def test_a_silent_monitor_is_told() -> None:
    machine = seen(
        Machine(), [Sample(NOW, GpuLook((card(),)), 0.0), Sample(NOW + 4, trouble="the monitor is silent")]
    )
    assert "the monitor is silent" in text(gpu_rows(machine, Frame(60, 9, NOW + 9)))


def test_memory_that_nobody_holds_is_told() -> None:
    assert "memory held by no visible process" in gpu(card(processes=()))
    free = gpu(card(used_mib=3.0, processes=()))
    assert "no process seen" in free and "held by" not in free


def test_harmful_throttling_is_always_told_and_usual_one_only_with_room() -> None:
    assert "✘ throttled: hardware thermal slowdown" in gpu(card(throttle=("hardware thermal slowdown",)))
    assert "clocks" not in gpu(card(throttle=("software power cap",)))
    assert "clocks held by: software power cap" in gpu(card(throttle=("software power cap",)), height=40)
    assert "throttling not told" in gpu(card(throttle=None), height=40)


def test_many_cards_take_a_line_each_and_their_holders_are_named() -> None:
    told = gpu(*(card(n, processes=(FOREIGN,) if n == 5 else ()) for n in range(8)), width=34, height=7)
    assert len(told.splitlines()) == 9
    assert "GPU 5 train.py  20.0 GiB FOREIGN" in told


def test_plots_grow_with_the_room() -> None:
    assert len(gpu(card(), height=40).splitlines()) == 26
    assert "GPU_FREE below 1.0 GiB" in gpu(card(), height=40)


def test_a_marked_pass_is_told_above_everything() -> None:
    frame = Frame(60, 9, NOW, marks=("foreign process 11 on GPU 0 during s/1/client",))
    assert text(gpu_rows(Machine(), frame)).startswith("! this pass is marked: foreign process 11")


# -- Host --------------------------------------------------------------------------------------------------------


def host(look: Host, now: float = NOW, cpus: str = "2-15", height: int = 20, width: int = 60) -> str:
    machine = seen(Machine(), [Sample(at=NOW, host=look)])
    return text(
        host_rows(machine, Frame(width, height, now), cpus, "/results", AppCost(0.8, "the app keeps to CPU 0"))
    )


def test_a_host() -> None:
    load = Load(77, "mallory", "stress", 99.0, False)
    told = host(Host(71.0, 3.0, 63_000.0, 515_000.0, 0.0, 0.0, 420_000.0, "", 64_000.0, (load,)))
    assert "CPUs 2-15 " in told and "71 %" in told and "others" in told and "3 %" in told
    assert "77 mallory stress  99 % of a core FOREIGN" in told
    assert "61.5 of 502.9 GiB (12 %)" in told
    assert "nothing moved" in told and "410.2 GiB free" in told and "/results" in told
    assert "app 0.8 %" in told and "the app keeps to CPU 0" in told and "read      now" in told


@pytest.mark.parametrize(
    ("width", "told"),
    [
        (90, "  77 mallory python3 -m benchmarks.eval.omni_seedtts of run 2026-x  99 % of a core FOREIGN"),
        (80, "  77 mallory python3 -m benchmarks.eval.omni_seedtts  99 % of a core FOREIGN"),
        (70, "  77 mallory benchmarks.eval.omni_seedtts  99 % of a core FOREIGN"),
        (60, "  77 mallory omni_seedtts  99 % of a core FOREIGN"),
        (32, "  77 omni_seedtts  99 % FOREIGN"),
        (28, "  omni_seedtts  99 % FOREIGN"),
        (25, "  …_seedtts  99 % FOREIGN"),
    ],
)
def test_of_a_load_what_tells_which_it_is_stays_longest(width: int, told: str) -> None:
    load = Load(77, "mallory", "python3 -m benchmarks.eval.omni_seedtts", 99.0, False, "2026-x")
    (line,) = (one for one in host(Host(loads=(load,)), width=width).splitlines() if "FOREIGN" in one)
    assert line == told
    assert len(told) <= width


@pytest.mark.parametrize(
    ("command", "told"), [("", "7 ? ?"), ("stress", "7 ? stress"), ("python client.py", "client.py")]
)
def test_other_commands_in_little_room(command: str, told: str) -> None:
    assert who(Load(7, "", command, 99.0), 10) == told


def test_a_host_that_tells_little() -> None:
    told = host(Host(), cpus="")
    assert told.count("not told") == 5
    assert "all CPUs" in told and "others" not in told
    assert " 0 %" not in told and "0.0" not in told


def test_swap_a_dead_disk_and_a_late_reading() -> None:
    told = host(Host(swap_in_mib=20.0, swap_out_mib=5.0, disk_error="the disk does not answer"), now=NOW + 8)
    assert "✘ 20 MiB in, 5 MiB out" in told
    assert "✘ the disk does not answer" in told
    assert told.startswith("◌ STALE 8s")


# -- the time line -----------------------------------------------------------------------------------------------


def run(count: int = 100) -> list[Line]:
    lines: list[Line] = [Boundary(NOW, "began", "s/1/server", 1)]
    for second in range(count):
        if second == 40:
            lines += [Boundary(NOW + 40, "ended", "s/1/server", 1, "passed")]
            lines += [Boundary(NOW + 40, "began", "s/1/client", 1)]
        if second == 60:
            lines += [
                Contaminated(NOW + 60, "s/1/client", "throttled", "throttled: GPU 0"),
                Notice(NOW + 61, "lost 2"),
            ]
        lines.append(Sample(NOW + second, GpuLook((card(used_mib=1000.0 * second),)), 0.0, Host(other_load=5.0)))
    return lines


TITLES = {"s/1/server": "Start the server", "s/1/client": "Measure"}


def test_steps_stand_below_the_figures() -> None:
    told = text(timeline_rows(run(), Window(), 100, TITLES, Stretch("s/1/client", NOW + 40, 0.0)))
    lines = told.splitlines()
    assert "1m 39s" in lines[0]
    assert any(line.startswith("GPU 0 mem") and "at most 96.7 GiB" in line for line in lines)
    assert not any(line.startswith("bench CPUs") for line in lines)
    (steps,) = (line for line in lines if line.startswith("steps"))
    (marks,) = (line for line in lines if line.startswith("marks"))
    server, client = steps.index("│Start the server"), steps.index("│Measure")
    assert server < client < marks.index("!")
    assert "✔ Start the server · s/1/server  40s" in told
    assert "▶ Measure · s/1/client  59s" in told
    assert "! throttled: GPU 0" in told and "lost 2" in told


def test_a_step_that_began_before_the_window_begins_at_its_edge() -> None:
    window = [line for line in run() if line.at >= NOW + 20]
    first, second = stretches_of(window, NOW + 20, NOW + 99)
    assert (first.step, first.began, first.outcome) == ("s/1/server", NOW + 20, "passed")
    # Its runner is gone: nobody knows how it ended.
    assert (second.step, second.outcome) == ("s/1/client", "?")
    late = [line for line in run() if line.at >= NOW + 70]
    (only,) = stretches_of(late, NOW + 70, NOW + 99, Stretch("s/1/client", NOW + 40, 0.0))
    assert (only.began, only.outcome) == (NOW + 70, "")


def test_a_run_without_telemetry_says_so() -> None:
    assert "No telemetry: " in text(timeline_rows([], Window(), 80, {}))
    short = [Boundary(NOW, "began", "a/b/c"), Boundary(NOW + 2, "ended", "a/b/c")]
    assert "a column is 0.0 s" not in text(timeline_rows(short, Window(), 120, {}))
    assert "steps" in text(timeline_rows([Boundary(NOW, "began", "a/b/c")], Window(), 20, {}))
