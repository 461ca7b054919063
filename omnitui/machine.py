"""What is known of the machine that a run is on: the newest sample and a short past, as a fold over samples."""

from collections.abc import Iterable, Mapping
from itertools import dropwhile
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from omnitui.samples import FRESH_S, Line, Sample, Started

KEPT_S = 900.0
"""How much of the past is kept."""
_COST_OVER_S = 30.0


class CardPoint(NamedTuple):
    """One card at one time."""

    at: float
    used_mib: float | None
    utilisation: float | None


class HostPoint(NamedTuple):
    """The host at one time; the CPU seconds are totals since their process began."""

    at: float
    bench_load: float | None
    other_load: float | None
    monitor_cpu_s: float | None
    runner_cpu_s: float | None


P = TypeVar("P", CardPoint, HostPoint)


class Machine(Struct, frozen=True):
    """All that the panes show of the machine."""

    sample: Sample | None = None
    """The newest one in which something was read."""
    started: Started | None = None
    trouble: str = ""
    """Why there is no newer sample."""
    cards: Mapping[str, tuple[CardPoint, ...]] = {}
    """The past of each card, by UUID, oldest first."""
    host: tuple[HostPoint, ...] = ()

    def host_age_s(self, now: float) -> float | None:
        """How old the host's reading is at a time in seconds since the epoch; None without one."""
        return max(0.0, now - self.sample.at) if self.sample else None

    def gpu_age_s(self, now: float) -> float | None:
        """How old the cards' reading is; None when they have not been read."""
        age_s = self.host_age_s(now)
        if self.sample is None or age_s is None or self.sample.gpu_age_s is None:
            return None
        return age_s + self.sample.gpu_age_s

    def host_stale(self, now: float) -> bool:
        """Whether the host's reading is too old to be shown as it is now."""
        age_s = self.host_age_s(now)
        return age_s is None or age_s > FRESH_S

    def gpu_stale(self, now: float) -> bool:
        """Whether the cards' reading is too old to be shown as it is now."""
        age_s = self.gpu_age_s(now)
        return age_s is None or self.sample is None or age_s > self.sample.gpu.fresh_s

    def monitor_percent(self) -> float | None:
        """What the monitor took of one core over the last half minute."""
        return _percent([(point.at, point.monitor_cpu_s) for point in self._lately()])

    def runner_percent(self) -> float | None:
        """What the runner took of one core over the last half minute."""
        return _percent([(point.at, point.runner_cpu_s) for point in self._lately()])

    def _lately(self) -> list[HostPoint]:
        since = self.host[-1].at - _COST_OVER_S if self.host else 0.0
        return [point for point in self.host[-2 * int(_COST_OVER_S) :] if point.at >= since]


def seen(machine: Machine, lines: Iterable[Line]) -> Machine:
    """What is known after some more lines, oldest first."""
    sample, started, trouble = machine.sample, machine.started, machine.trouble
    samples: list[Sample] = []
    for line in lines:
        if isinstance(line, Started):
            started = line
        elif isinstance(line, Sample):
            trouble = line.trouble
            if not line.trouble:
                sample = line
                samples.append(line)
    if not samples:
        return replace(machine, started=started, trouble=trouble)
    cards: dict[str, list[CardPoint]] = {uuid: list(points) for uuid, points in machine.cards.items()}
    host = list(machine.host)
    for one in samples:
        look = one.host
        host.append(HostPoint(one.at, look.bench_load, look.other_load, one.own_cpu_s, one.runner_cpu_s))
        for card in () if one.gpu_stale else one.gpu.cards:
            cards.setdefault(card.uuid, []).append(CardPoint(one.at, card.used_mib, card.utilisation))
    since = samples[-1].at - KEPT_S
    return Machine(
        sample=sample,
        started=started,
        trouble=trouble,
        cards={uuid: kept for uuid, points in cards.items() if (kept := _since(points, since))},
        host=_since(host, since),
    )


def _since(points: list[P], at: float) -> tuple[P, ...]:
    if points and points[0].at >= at:
        return tuple(points)
    return tuple(dropwhile(lambda point: point.at < at, points))


def _percent(totals: list[tuple[float, float | None]]) -> float | None:
    """The mean share of one core; None before there are two totals of one process."""
    told = [(at, total) for at, total in totals if total is not None]
    # A process that was started again counts from 0.
    begun = max((i for i in range(1, len(told)) if told[i][1] < told[i - 1][1]), default=0)
    told = told[begun:]
    if len(told) < 2 or told[-1][0] <= told[0][0]:
        return None
    return 100 * (told[-1][1] - told[0][1]) / (told[-1][0] - told[0][0])
