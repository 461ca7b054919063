"""What can be known before a run begins: what is in its way on this host, and what would end it."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from omnitui import claims
from omnitui.gates import judge_port_free
from omnitui.probes import gpu, listeners
from omnitui.readings import GpuReading
from omnitui.runbook.narrow import narrow
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import BUILT_IN, chosen, expand, resolved
from omnitui.values import port_of

_GPUS_LAST_S = 30.0
"""NVML needs a second to wake, and cards do not come and go."""


def preflight(runbook: Runbook, given: Mapping[str, str]) -> list[str]:
    """What would stand in the way of a run with these values, or end it."""
    return Preflight().look(runbook, given)


def read_gpus() -> GpuReading:
    """One look at the GPUs of this machine."""
    return asyncio.run(gpu.first())


class Preflight:
    """Looks at this host: ports and GPUs that are taken or not there, locks, logind's habits. Takes up to 15 s."""

    def __init__(self, read_gpus: Callable[[], GpuReading] = read_gpus) -> None:
        self._read_gpus = read_gpus
        self._gpus: tuple[float, GpuReading] | None = None

    def look(self, runbook: Runbook, given: Mapping[str, str]) -> list[str]:
        """What would stand in the way of a run with these values. Raises `UsageError` when one does not fit."""
        values = resolved(chosen(runbook, given), dict.fromkeys(BUILT_IN, ""))
        needs = narrow(runbook, values).resources
        ports = [port_of(text, values) for text in needs.ports]
        gpus = expand(needs.gpus, values)
        locks = claims.trouble() if ports or gpus or runbook.passes.out else ""
        return [*_ports(ports), *self._cards(gpus), *filter(None, [locks, killed_at_logout()])]

    def _cards(self, gpus: str) -> Iterator[str]:
        wanted = gpu.wanted_of(gpus)
        if not wanted:
            return
        if self._gpus is None or time.monotonic() - self._gpus[0] > _GPUS_LAST_S:
            self._gpus = (time.monotonic(), self._read_gpus())
        reading = self._gpus[1]
        if reading.absent or reading.error:
            rehearse = "; a rehearsal needs none (omnitui rehearse)" if reading.absent else ""
            yield f"GPU {', '.join(wanted)}: {reading.absent or reading.error} on this machine{rehearse}"
            return
        cards = gpu.of_run(reading, gpus).cards
        missing = [
            one for one in wanted if one not in {name for card in cards for name in (card.uuid, str(card.index))}
        ]
        if missing:
            there = ", ".join(str(card.index) for card in reading.cards) or "none"
            yield f"GPU {', '.join(missing)} is not there; this machine has {len(reading.cards)} (index {there})"
        for card in cards:
            if holder := claims.holder(f"gpu-{card.uuid}"):
                yield f"GPU {card.index} ({card.uuid}) belongs to {holder}; wait for it or choose another"


def _ports(ports: list[int]) -> Iterator[str]:
    for port in ports:
        if holder := claims.holder(f"port-{port}"):
            yield f"port {port} belongs to {holder}; wait for it or choose another"
            continue
        reading = listeners.look(port)
        if reading.listeners or reading.error:
            yield judge_port_free(reading).reason


def killed_at_logout(config: Path = Path("/etc/systemd/logind.conf")) -> str:
    """How to keep the run alive where logind kills a user's processes at logout; empty where it does not."""
    with suppress(OSError):
        if "session-" not in Path("/proc/self/cgroup").read_text():
            return ""
        texts = [config, *sorted(Path(f"{config}.d").glob("*.conf"))]
        lines = [line.strip() for file in texts if file.exists() for line in file.read_text().splitlines()]
        answers = [
            line.partition("=")[2].strip().lower() for line in lines if line.startswith("KillUserProcesses=")
        ]
        if answers and answers[-1] in ("yes", "true", "1", "on"):
            return (
                "This host kills a user's processes at logout (KillUserProcesses in logind.conf): the run would "
                "die with your session. Run once: loginctl enable-linger; then start with: "
                "systemd-run --user --scope omnitui"
            )
    return ""
