"""Samples from a monitor of one's own: what it is told to look at, and its lines as they come."""

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from omnitui.probes.children import Trouble, lines_of
from omnitui.samples import GpuLook, Sample, Started, decoded


class Watched(Struct, frozen=True):
    """What a monitor looks at. `gpus` and `cpus` are as a runbook writes them; `gpus` may be `all`."""

    run: str = "-"
    gpus: str = ""
    cpus: str = ""
    disk: str = "/"
    contained: bool = False
    """The run has containers; their processes cannot be told from others as long as `containers` is empty."""
    containers: tuple[str, ...] = ()

    def argv(self, every_s: float) -> tuple[str, ...]:
        """The command that starts the monitor."""
        told = (f"--run={self.run}", f"--gpus={self.gpus}", f"--cpus={self.cpus}", f"--disk={self.disk}")
        inside = ("--contained",) if self.contained else ()
        named = (f"--containers={','.join(self.containers)}",) if self.containers else ()
        return (sys.executable, "-m", "omnitui.monitor", *told, *inside, *named, f"--every={every_s}")


@asynccontextmanager
async def samples(watched: Watched, every_s: float = 1.0) -> AsyncIterator[AsyncIterator[Started | Sample]]:
    """What a monitor tells, for ever. One that is silent or has ended tells its trouble in place of a sample."""
    async with lines_of(watched.argv(every_s), "the monitor") as lines:
        yield _told(lines)


async def _told(lines: AsyncIterator[bytes | Trouble]) -> AsyncIterator[Started | Sample]:
    async for line in lines:
        if isinstance(line, Trouble):
            yield troubled(line.said)
            continue
        try:
            told = decoded(line)
        except msgspec.MsgspecError as error:
            yield troubled(f"the monitor printed no sample: {error}")
            continue
        if isinstance(told, Started | Sample):
            yield told


def troubled(said: str) -> Sample:
    """The sample that stands for none: nothing in it is told."""
    return Sample(at=round(time.time(), 3), gpu=GpuLook(error=said), trouble=said)
