"""The gates of a step that look at the world: one table of probes, polled until all are decided."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack

import msgspec
from msgspec.structs import replace

from omnitui.actions.context import Context, StopAsked
from omnitui.actions.patience import patience_s
from omnitui.actions.watching import POLL_S
from omnitui.assets import AssetsReading, wanted_of
from omnitui.containers import ContainerReading
from omnitui.errors import OmniError
from omnitui.gates import Green, Moot, Reading, Red, Unknown, Verdict, judge, word_of
from omnitui.model import marker
from omnitui.plan import PlannedStep
from omnitui.probes import assets, gpu, listeners
from omnitui.readings import CoverageReading, GpuReading, PortReading
from omnitui.runbook.gates import AssetsCached, ContainerUp, Coverage, Gate, GpuFree, Output, PortFree
from omnitui.runbook.variables import expand
from omnitui.values import place_of, port_of


class World:
    """What the probes of one step need to know."""

    def __init__(self, ctx: Context, planned: PlannedStep, attempt: int, ours_left: tuple[int, ...] = ()) -> None:
        self.ctx = ctx
        self.planned = planned
        self.values = ctx.values(planned)
        self.marker = marker(ctx.owned.run.name, planned.id, attempt)
        self.ours_left = ours_left
        self.cards = GpuReading(error="not read yet")


def _port(world: World, gate: PortFree) -> PortReading:
    # The network is that of the step's place: of a step that stops a server, where the server was.
    place = world.ctx.place(place_of(world.ctx.runbook, world.planned.step), world.planned.scope)
    return listeners.look(port_of(gate.port, world.values), place=place)


def _gpus(world: World, gate: GpuFree) -> GpuReading:
    return gpu.of_run(world.cards, expand(gate.gpus, world.values), world.ours_left)


def _coverage(world: World, gate: Coverage) -> CoverageReading:
    file = world.ctx.owned.run.pass_folder(world.planned.scope) / "coverage.json"
    try:
        found = msgspec.json.decode(file.read_bytes(), type=StoredCoverage)
    except FileNotFoundError:
        return CoverageReading(error="no coverage was written")
    except (OSError, msgspec.MsgspecError) as error:
        return CoverageReading(error=f"{file} cannot be read: {error}")
    if found.marker != world.marker:
        return CoverageReading(error=f"{file} is of another attempt")
    return found.reading


def _assets(world: World, gate: AssetsCached) -> AssetsReading:
    runbook = world.ctx.runbook
    try:
        wanted = wanted_of(runbook, world.values, gate.assets)
        return assets.reading(assets.hub_of(runbook, world.values), wanted)
    except OmniError as error:
        return AssetsReading(error=str(error))


def _container(world: World, gate: ContainerUp) -> ContainerReading:
    seen = world.ctx.place(gate.place, world.planned.scope).container()
    # However a folder of the host is spelled.
    return replace(seen, mounts={inside: os.path.realpath(host) for inside, host in seen.mounts.items()})


class StoredCoverage(msgspec.Struct, frozen=True):
    """`coverage.json`: the reading, and the attempt that took it."""

    marker: str
    reading: CoverageReading


PROBES: dict[type, Callable[..., Reading]] = {
    PortFree: _port,
    GpuFree: _gpus,
    Coverage: _coverage,
    AssetsCached: _assets,
    ContainerUp: _container,
}
"""How each gate that looks at the world takes its reading."""
_SLOW = (AssetsCached, ContainerUp, PortFree)
"""Gates whose reading is taken in a thread: it may take longer than the runner may stand still."""


async def decide(
    ctx: Context, planned: PlannedStep, attempt: int, gates: tuple[Gate, ...], ours_left: tuple[int, ...] = ()
) -> dict[str, Verdict]:
    """The verdicts of the gates that look at the world. Waits for each as long as it may; then unknown is red."""
    world = World(ctx, planned, attempt, ours_left)
    asked = [gate for gate in gates if not isinstance(gate, Output)]
    begun = time.monotonic()
    async with AsyncExitStack() as stack:
        cards = await _cards(stack, asked)
        while True:
            if cards:
                world.cards = await anext(cards)
            waited_s = time.monotonic() - begun
            verdicts = {word_of(gate): await _verdict(world, gate, waited_s) for gate in asked}
            for word, verdict in verdicts.items():
                if ctx.board.show(planned.id, word, verdict):
                    ctx.owned.commit("gate", step=planned.id, word=word, verdict=verdict)
            if any(isinstance(v, Red) for v in verdicts.values()):
                return verdicts
            if all(isinstance(v, Green | Moot) for v in verdicts.values()):
                return verdicts
            if not cards:
                await _pause(ctx)
            elif ctx.stop_asked.is_set():
                raise StopAsked


async def _cards(stack: AsyncExitStack, gates: Sequence[Gate]) -> AsyncIterator[GpuReading] | None:
    if not any(isinstance(gate, GpuFree) for gate in gates):
        return None
    return await stack.enter_async_context(gpu.readings(POLL_S))


async def _pause(ctx: Context) -> None:
    try:
        async with asyncio.timeout(POLL_S):
            await ctx.stop_asked.wait()
    except TimeoutError:
        return
    raise StopAsked


async def look(ctx: Context, planned: PlannedStep, attempt: int, gates: tuple[Gate, ...]) -> dict[str, Verdict]:
    """One look at what a step is there to bring about: its containers and assets. No verdict ends anything."""
    world = World(ctx, planned, attempt)
    asked = [gate for gate in gates if isinstance(gate, ContainerUp | AssetsCached)]
    return {word_of(gate): await _verdict(world, gate, 0.0) for gate in asked}


def _expanded(gate: Gate, values: Mapping[str, str]) -> Gate:
    """A gate that names more than its reading does, its variables replaced."""
    if not isinstance(gate, ContainerUp):
        return gate
    wanted = {expand(inside, values): expand(host, values) for inside, host in gate.mounts.items()}
    mounts = {inside: os.path.realpath(host) for inside, host in wanted.items()}
    told = {name: expand(getattr(gate, name), values) for name in ("image", "gpus", "cpuset")}
    return replace(gate, mounts=mounts, **told)


async def _verdict(world: World, gate: Gate, waited_s: float) -> Verdict:
    probe = PROBES[type(gate)]
    reading = await asyncio.to_thread(probe, world, gate) if isinstance(gate, _SLOW) else probe(world, gate)
    verdict = judge(_expanded(gate, world.values), reading)
    limit_s = patience_s(gate.timeout_s) if isinstance(gate, PortFree | GpuFree) else 0.0
    if isinstance(verdict, Unknown) and waited_s >= limit_s:
        return Red(f"{verdict.reason} (waited {waited_s:.0f} s)")
    return verdict
