"""Lines from a child process that reads what can hang or crash: its silence and its end are told."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from msgspec import Struct

SILENCE_S = 3.0
_PAUSES_S = (1.0, 2.0, 5.0, 15.0, 30.0)
"""Before each next start of a child that ends by itself."""
_WORKED_S = 60.0
"""A child that has lived as long is started again quickly."""
_LONGEST_LINE = 1 << 22


class Trouble(Struct, frozen=True):
    """Why there is no line. A child that is `silent` lives, and may tell one yet."""

    said: str
    silent: bool = False


@asynccontextmanager
async def lines_of(argv: Sequence[str], name: str) -> AsyncIterator[AsyncIterator[bytes | Trouble]]:
    """Lines of a child that ends when its stdin closes. `name` is for the words of its troubles."""
    children = _Children(argv, name)
    try:
        yield children.lines()
    finally:
        await children.close()


class _Children:
    def __init__(self, argv: Sequence[str], name: str) -> None:
        self._argv = argv
        self._name = name
        self._child: asyncio.subprocess.Process | None = None

    async def lines(self) -> AsyncIterator[bytes | Trouble]:
        ends = 0
        while True:
            begun = time.monotonic()
            try:
                self._child = await asyncio.create_subprocess_exec(
                    *self._argv,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                    start_new_session=True,
                    limit=_LONGEST_LINE,
                )
            except OSError as error:
                why = f"{self._name} could not be started: {error.strerror}"
            else:
                async for line in self._of_child(self._child):
                    yield line
                why = f"{self._name} has ended ({await self._how()})"
            if time.monotonic() - begun > _WORKED_S:
                ends = 0
            pause_s = _PAUSES_S[min(ends, len(_PAUSES_S) - 1)]
            ends += 1
            yield Trouble(f"{why}; it is started again in {pause_s:.0f} s")
            await asyncio.sleep(pause_s)

    async def _of_child(self, child: asyncio.subprocess.Process) -> AsyncIterator[bytes | Trouble]:
        assert child.stdout is not None
        silent_s = 0.0
        # One task for one line: a line must not be lost because the patience ended while it came.
        reading = asyncio.create_task(child.stdout.readline())
        try:
            while True:
                done, _ = await asyncio.wait({reading}, timeout=SILENCE_S)
                if not done:
                    silent_s += SILENCE_S
                    yield Trouble(f"{self._name} has been silent for {silent_s:.0f} s", silent=True)
                    continue
                line, silent_s = reading.result(), 0.0
                if not line.endswith(b"\n"):
                    return
                yield line
                reading = asyncio.create_task(child.stdout.readline())
        except ValueError:
            # A line longer than any reading: whatever wrote it is not what we started.
            return
        finally:
            reading.cancel()

    async def _how(self) -> str:
        assert self._child is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                status = await self._child.wait()
                return f"signal {-status}" if status < 0 else f"status {status}"
        await self.close()
        return "its output was closed"

    async def close(self) -> None:
        """End the child. One that the kernel does not let die is left behind; nobody waits for it."""
        if self._child is None or self._child.returncode is not None:
            return
        with suppress(ProcessLookupError):
            self._child.kill()
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await self._child.wait()
