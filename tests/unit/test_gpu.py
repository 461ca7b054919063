import asyncio
import sys
from contextlib import aclosing

import msgspec
import pytest
from omnitui.probes import gpu
from omnitui.probes.children import lines_of
from omnitui.readings import GpuMemory, GpuReading

CARDS = (
    GpuMemory("GPU-aa", 0, "H200", 10.0, 1000.0),
    GpuMemory("GPU-bb", 1, "H200", 20.0, 1000.0),
    GpuMemory("GPU-cc", 10, "H200", 30.0, 1000.0),
)
without_gpu = pytest.mark.skipif(not gpu.is_absent(), reason="this machine has an NVIDIA GPU")


@pytest.mark.parametrize(
    ("gpus", "wanted"),
    [("", ()), (" , ", ()), ("0", ("0",)), ("0,1", ("0", "1")), (" GPU-aa , 1,", ("GPU-aa", "1"))],
)
def test_the_gpus_that_a_runbook_names(gpus: str, wanted: tuple[str, ...]) -> None:
    assert gpu.wanted_of(gpus) == wanted


@pytest.mark.parametrize(
    ("gpus", "found"),
    [
        ("", []),
        ("0", [0]),
        ("1", [1]),
        ("10", [10]),
        ("10,0", [0, 10]),
        ("GPU-bb", [1]),
        ("GPU-bb,0", [0, 1]),
        ("GPU-b", []),
        ("gpu-bb", []),
        ("5", []),
    ],
)
def test_only_the_cards_of_the_run_remain(gpus: str, found: list[int]) -> None:
    reading = gpu.of_run(GpuReading(CARDS, error="kept"), gpus, (7,))
    assert [card.index for card in reading.cards] == found
    assert (reading.wanted, reading.ours_left, reading.error) == (gpu.wanted_of(gpus), (7,), "kept")


def test_a_reading_survives_the_pipe() -> None:
    for reading in (GpuReading(CARDS), GpuReading(absent=gpu.ABSENT), GpuReading(error="NVML: x")):
        assert msgspec.json.decode(msgspec.json.encode(reading), type=GpuReading) == reading


@without_gpu
async def test_a_machine_without_gpu_says_so_again_and_again() -> None:
    async with gpu.readings(0.001) as looks, aclosing(looks):  # type: ignore[type-var]
        found = [await anext(looks) for _ in range(3)]
    assert found == [GpuReading(absent=gpu.ABSENT)] * 3


SLOW = """
import sys, time
time.sleep(float(sys.argv[1]))
print('{"cards": [], "error": "asked"}', flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(
    ("silent_s", "patience_s", "error"),
    [("0.5", 600.0, "asked"), ("600", 0.0, "the process has been silent for 0 s")],
)
async def test_who_asks_once_waits_for_a_driver_that_wakes_slowly(
    monkeypatch: pytest.MonkeyPatch, silent_s: str, patience_s: float, error: str
) -> None:
    argv = (sys.executable, "-S", "-c", SLOW, silent_s)
    monkeypatch.setattr("omnitui.probes.gpu.is_absent", lambda: False)
    monkeypatch.setattr("omnitui.probes.children.SILENCE_S", 0.01)
    monkeypatch.setattr("omnitui.probes.gpu.lines_of", lambda _, name: lines_of(argv, "the process"))
    assert (await gpu.first(patience_s)).error == error


@pytest.mark.parametrize("argv", [("false",), ("/no/such/program",)])
async def test_who_asks_once_is_told_at_once_of_one_that_ends(
    monkeypatch: pytest.MonkeyPatch, argv: tuple[str, ...]
) -> None:
    monkeypatch.setattr("omnitui.probes.gpu.is_absent", lambda: False)
    monkeypatch.setattr("omnitui.probes.gpu.lines_of", lambda _, name: lines_of(argv, name))
    assert "it is started again in 1 s" in (await gpu.first()).error


@without_gpu
def test_nvml_itself_agrees_that_there_is_none() -> None:
    assert gpu.read_cards() == GpuReading(absent=gpu.ABSENT)


@without_gpu
async def test_the_child_prints_readings_until_its_stdin_closes() -> None:
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "omnitui.probes.gpu", "0.01"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stdin is not None
    for _ in range(3):
        line = await child.stdout.readline()
        assert msgspec.json.decode(line, type=GpuReading) == GpuReading(absent=gpu.ABSENT)
    child.stdin.close()
    await child.stdout.read()
    assert await child.wait() == 0
