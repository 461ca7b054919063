"""What the monitor saw while a pass was measured, for the pass's provenance."""

from collections.abc import Iterable

from omnitui.samples import Contaminated, Line, Sample


def summary(lines: Iterable[Line]) -> dict[str, object]:
    """What was seen over some time, ready for a pass's provenance. What was never told is left out."""
    found = _Seen()
    for line in lines:
        found.take(line)
    return found.told()


class _Seen:
    def __init__(self) -> None:
        self.samples = self.silent = self.stale = 0
        self.cpu = {"own_cpu_s": 0.0, "runner_cpu_s": 0.0, "app_cpu_s": 0.0}
        self._before: dict[str, float] = {}
        self.extremes: dict[str, float] = {}
        self.throttle: set[str] = set()
        self.untold: set[str] = set()
        self.contaminated: list[str] = []

    def take(self, line: Line) -> None:
        if isinstance(line, Contaminated):
            self.contaminated.append(line.reason)
        if not isinstance(line, Sample):
            return
        if line.trouble:
            self.silent += 1
            return
        self.samples += 1
        for name in self.cpu:
            self._add_cpu(name, getattr(line, name))
        if line.gpu_stale:
            self.stale += 1
            return
        for card in line.gpu.cards:
            self._most(f"{card.label} temperature_c_max", card.temperature_c)
            self._most(f"{card.label} used_mib_max", card.used_mib)
            self._most(f"{card.label} power_w_max", card.power_w)
            self.throttle |= {f"{card.label}: {reason}" for reason in card.throttle or () if reason != "idle"}
            for process in card.processes or ():
                if process.ours is None:
                    self.untold.add(f"{process.pid} ({process.command or 'unknown'}) on {card.label}")

    def _add_cpu(self, name: str, now: float | None) -> None:
        if now is None:
            return
        before = self._before.get(name)
        # A monitor that was started again counts from 0.
        self.cpu[name] += 0.0 if before is None else now - before if now >= before else now
        self._before[name] = now

    def _most(self, name: str, value: float | None) -> None:
        if value is not None:
            self.extremes[name] = max(value, self.extremes.get(name, value))

    def told(self) -> dict[str, object]:
        told: dict[str, object] = {"samples": self.samples}
        told |= {name: round(spent, 3) for name, spent in self.cpu.items() if name in self._before}
        told |= {"times_without_a_sample": self.silent} if self.silent else {}
        told |= {"samples_with_stale_gpus": self.stale} if self.stale else {}
        told |= self.extremes
        for name, values in (
            ("throttle_reasons", sorted(self.throttle)),
            ("gpu_processes_of_unknown_owner", sorted(self.untold)),
            ("contaminated_by", self.contaminated),
        ):
            told |= {name: values} if values else {}
        return told
