"""GPU memory by UUID, read through NVML in a child process: NVML can hang or crash, and must not take us along.

`python -m omnitui.probes.gpu SECONDS` prints one JSON reading a line until its stdin closes.
"""

import asyncio
import select
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from omnitui.gates import GpuMemory, GpuReading

ABSENT = "no NVIDIA GPU"
_SILENCE_S = 3.0


def is_absent() -> bool:
    """Whether this machine has no NVIDIA driver loaded: then NVML need not be asked."""
    return not Path("/dev/nvidiactl").exists() and not Path("/proc/driver/nvidia").exists()


def wanted_of(gpus: str) -> tuple[str, ...]:
    """The GPUs that a runbook names: indices or UUIDs, separated by commas."""
    return tuple(filter(None, (part.strip() for part in gpus.split(","))))


def read_cards() -> GpuReading:
    """All cards, through NVML. `used_mib` is the v2 figure, without the driver's reserve."""
    import pynvml  # noqa: PLC0415 - only the child process loads NVML

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return GpuReading(absent=ABSENT) if is_absent() else GpuReading(error=f"NVML: {error}")
    try:
        return GpuReading(tuple(_card(pynvml, index) for index in range(pynvml.nvmlDeviceGetCount())))
    except pynvml.NVMLError as error:
        return GpuReading(error=f"NVML: {error}")


def _card(nvml: "object", index: int) -> GpuMemory:
    api: object = nvml
    handle = api.nvmlDeviceGetHandleByIndex(index)  # type: ignore[attr-defined]
    memory = api.nvmlDeviceGetMemoryInfo(handle, version=api.nvmlMemory_v2)  # type: ignore[attr-defined]
    return GpuMemory(
        uuid=_text(api.nvmlDeviceGetUUID(handle)),  # type: ignore[attr-defined]
        index=index,
        name=_text(api.nvmlDeviceGetName(handle)),  # type: ignore[attr-defined]
        used_mib=memory.used / 2**20,
        total_mib=memory.total / 2**20,
    )


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def of_run(reading: GpuReading, gpus: str, ours_left: tuple[int, ...] = ()) -> GpuReading:
    """The reading of only the cards that the run names."""
    wanted = wanted_of(gpus)
    cards = tuple(card for card in reading.cards if card.uuid in wanted or str(card.index) in wanted)
    return msgspec.structs.replace(reading, cards=cards, wanted=wanted, ours_left=ours_left)


@asynccontextmanager
async def readings(every_s: float = 0.5) -> AsyncIterator[AsyncIterator[GpuReading]]:
    """Readings from a child process; one that falls silent reads as an error, and so does one that crashes."""
    if is_absent():
        yield _always(GpuReading(absent=ABSENT), every_s)
        return
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "omnitui.probes.gpu", str(every_s)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield _from_child(child)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def _always(reading: GpuReading, every_s: float) -> AsyncIterator[GpuReading]:
    while True:
        yield reading
        await asyncio.sleep(every_s)


async def _from_child(child: asyncio.subprocess.Process) -> AsyncIterator[GpuReading]:
    assert child.stdout is not None
    while True:
        try:
            async with asyncio.timeout(_SILENCE_S):
                line = await child.stdout.readline()
        except TimeoutError:
            yield GpuReading(error=f"NVML has been silent for {_SILENCE_S:.0f} s")
            continue
        if not line:
            yield GpuReading(error="the process that reads NVML has ended")
            await asyncio.sleep(1.0)
            continue
        yield msgspec.json.decode(line, type=GpuReading)


def main() -> None:
    """Print readings until stdin closes, so that the child never outlives who started it."""
    every_s = float(sys.argv[1])
    while True:
        sys.stdout.write(msgspec.json.encode(read_cards()).decode() + "\n")
        sys.stdout.flush()
        readable, _, _ = select.select([sys.stdin], [], [], every_s)
        if readable and not sys.stdin.buffer.read(1):
            return


if __name__ == "__main__":
    main()
