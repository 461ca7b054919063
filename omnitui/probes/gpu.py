"""GPU memory by UUID, read in a child process: NVML can hang or crash, and must not take us along.

`python -m omnitui.probes.gpu SECONDS` prints one JSON reading a line until its stdin closes.
"""

import asyncio
import select
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import msgspec
from msgspec.structs import replace

from omnitui.probes.cards import ABSENT, Cards, is_absent
from omnitui.probes.children import Trouble, lines_of
from omnitui.readings import GpuMemory, GpuReading
from omnitui.samples import GpuLook, is_wanted, wanted_of

__all__ = ["ABSENT", "first", "is_absent", "of_run", "read_cards", "readings", "wanted_of"]

_CARDS = Cards()
_FIRST_S = 15.0
"""A driver that nobody holds open takes seconds to wake, more of them on a busy machine with many cards."""


def read_cards() -> GpuReading:
    """The memory of all cards. `used_mib` is the figure without the driver's reserve."""
    return memory_of(_CARDS.look())


def memory_of(look: GpuLook) -> GpuReading:
    """What GPU_FREE needs of a look. A card that does not tell its memory is one that cannot be read."""
    known = []
    unread = list(look.unread)
    for card in look.cards:
        if card.used_mib is None or card.total_mib is None:
            unread.append(f"{card.label} does not tell its memory")
        else:
            index = -1 if card.index is None else card.index
            known.append(GpuMemory(card.uuid, index, card.name, card.used_mib, card.total_mib))
    return GpuReading(tuple(known), absent=look.absent, error=look.error, unread=tuple(unread))


def of_run(reading: GpuReading, gpus: str, ours_left: tuple[int, ...] = ()) -> GpuReading:
    """The reading of only the cards that the run names."""
    wanted = wanted_of(gpus)
    cards = tuple(card for card in reading.cards if is_wanted(wanted, card.uuid, card.index))
    return replace(reading, cards=cards, wanted=wanted, ours_left=ours_left)


@asynccontextmanager
async def readings(every_s: float = 0.5) -> AsyncIterator[AsyncIterator[GpuReading]]:
    """Readings from a child process; one that falls silent reads as an error, and so does one that crashes."""
    if is_absent():
        yield _always(GpuReading(absent=ABSENT), every_s)
        return
    async with _lines(every_s) as lines:
        yield _decoded(lines)


async def first(patience_s: float = _FIRST_S) -> GpuReading:
    """One reading, for who asks once: silence at the start is not yet an answer."""
    if is_absent():
        return GpuReading(absent=ABSENT)
    until_s = time.monotonic() + patience_s
    async with _lines(0.5) as lines:
        async for line in lines:
            if not isinstance(line, Trouble):
                return msgspec.json.decode(line, type=GpuReading)
            if not line.silent or time.monotonic() >= until_s:
                return GpuReading(error=line.said)
    raise AssertionError("lines never end")


def _lines(every_s: float) -> AbstractAsyncContextManager[AsyncIterator[bytes | Trouble]]:
    argv = (sys.executable, "-m", "omnitui.probes.gpu", str(every_s))
    return lines_of(argv, "the process that reads NVML")


async def _always(reading: GpuReading, every_s: float) -> AsyncIterator[GpuReading]:
    while True:
        yield reading
        await asyncio.sleep(every_s)


async def _decoded(lines: AsyncIterator[bytes | Trouble]) -> AsyncIterator[GpuReading]:
    async for line in lines:
        if isinstance(line, Trouble):
            yield GpuReading(error=line.said)
        else:
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
