"""What spoils a measurement, judged from samples. Pure: a fold over them, one step at a time.

What cannot be told is no accusation: a process whose owner is not known marks nothing.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from omnitui.samples import Gpu, GpuProcess, Host, Load, Sample, is_wanted

Kind: TypeAlias = Literal["foreign process", "foreign load", "throttled", "swapping", "not pinned"]

LOAD_PERCENT = 20.0
LOAD_FOR_S = 3.0
SWAP_MIB = 1.0
"""In a second or so; a few pages come and go on an idle machine too."""
HARMFUL = frozenset(
    ("hardware slowdown", "software thermal slowdown", "hardware thermal slowdown", "hardware power brake")
)
"""Throttle reasons that make a card slower than another one of its kind. A power limit is normal under load."""
OF_THE_HOST: frozenset[Kind] = frozenset(("foreign load", "swapping"))
"""What says nothing about a rehearsal: its cards are stand-ins, its CPUs are those of a host with other work."""


class Spoiled(Struct, frozen=True):
    """One thing that was seen. `reason` begins with its kind."""

    kind: Kind
    reason: str


class Suspicion(Struct, frozen=True):
    """What has to last before it counts: when each foreign load was first seen, by pid."""

    since: Mapping[int, float] = {}


def look(suspicion: Suspicion, sample: Sample, wanted: tuple[str, ...]) -> tuple[Suspicion, tuple[Spoiled, ...]]:
    """What a sample shows, given what was suspected before; `wanted` are the GPUs of the run."""
    cards = () if sample.gpu_stale else sample.gpu.cards
    of_run = [card for card in cards if is_wanted(wanted, card.uuid, card.index)]
    after, lasting = _loads(suspicion, sample)
    found = [*_processes(of_run), *lasting, *_throttled(of_run), *_swapping(sample.host)]
    return after, tuple(found)


def _processes(cards: list[Gpu]) -> list[Spoiled]:
    return [
        Spoiled("foreign process", f"foreign process {_who(process)} on {card.label}")
        for card in cards
        for process in card.processes or ()
        if process.ours is False
    ]


def _loads(suspicion: Suspicion, sample: Sample) -> tuple[Suspicion, list[Spoiled]]:
    heavy = [one for one in sample.host.loads or () if one.ours is False and one.percent > LOAD_PERCENT]
    begun = sample.at - sample.host.loads_over_s
    since = {one.pid: min(begun, suspicion.since.get(one.pid, begun)) for one in heavy}
    found = [
        Spoiled(
            "foreign load",
            f"foreign load on the benchmark's CPUs: {_who(one)}, {one.percent:.0f} % of a core",
        )
        for one in heavy
        if sample.at - since[one.pid] > LOAD_FOR_S
    ]
    return Suspicion(since), found


def _throttled(cards: list[Gpu]) -> list[Spoiled]:
    return [
        Spoiled("throttled", f"throttled: {card.label}, {', '.join(harm)}")
        for card in cards
        if (harm := [reason for reason in card.throttle or () if reason in HARMFUL])
    ]


def _swapping(host: Host) -> list[Spoiled]:
    into, out = host.swap_in_mib or 0.0, host.swap_out_mib or 0.0
    if into + out < SWAP_MIB:
        return []
    return [Spoiled("swapping", f"swapping: {into:.0f} MiB in, {out:.0f} MiB out")]


def _who(one: GpuProcess | Load) -> str:
    of_run = f", run {one.run}" if one.run else ""
    return f"{one.pid} ({one.command or 'unknown'} of {one.user or 'unknown'}{of_run})"
