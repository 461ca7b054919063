"""What a monitor of a run looks at: its GPUs, its benchmark's CPUs, its results' disk, its containers."""

from contextlib import suppress
from pathlib import Path

import msgspec

from omnitui.containers import ContainerReading
from omnitui.errors import UsageError
from omnitui.model import RUN_WIDE, RunState
from omnitui.places.inspecting import on_host
from omnitui.runbook.gates import ContainerUp
from omnitui.runbook.schema import PlaceSpec, Runbook
from omnitui.runbook.variables import expand
from omnitui.samples import cpus_of
from omnitui.sampling import Watched
from omnitui.store import RunFolder
from omnitui.values import of_scope

DOCKER = "docker"


def watched_of(runbook: Runbook, state: RunState, run: RunFolder) -> Watched:
    """What the monitor looks at, the same in every pass. What a step still has to hand on is not there yet.

    The runbook is that of the run, narrowed to its variables: its GPUs are all that the run has for itself.
    """
    values: dict[str, str] = {}
    for scope in (*state.schedule[:1], f"{RUN_WIDE}/{RUN_WIDE}"):
        with suppress(UsageError):
            values = of_scope(runbook, state, scope, run.path)
            break

    def known(text: str) -> str:
        try:
            return expand(text, values)
        except UsageError:
            return ""

    def kind_of(place: str) -> str:
        return known(runbook.places.get(place, PlaceSpec()).kind)

    gates = (gate for phase in runbook.phases for step in phase.steps for gate in step.gates)
    asked = {known(gate.cpuset) for gate in gates if isinstance(gate, ContainerUp)}
    asked |= {known(environment.cpus) for environment in runbook.environments.values()}
    containers = _noted(run)
    out = _on_host(values.get("OUT", ""), containers, inside=kind_of(runbook.passes.place) == DOCKER)
    return Watched(
        run=state.run,
        gpus=",".join(filter(None, (known(part) for part in runbook.resources.gpus.split(",")))),
        cpus=",".join(sorted(cpus for cpus in asked if cpus_of(cpus))),
        disk=str(out or run.path),
        contained=any(kind_of(place) == DOCKER for place in runbook.places),
        containers=tuple(sorted(one.id for one in containers)),
    )


def _noted(run: RunFolder) -> list[ContainerReading]:
    """The containers that the run has used, as it noted them."""
    found = []
    for note in sorted(run.places.glob("*.json")):
        with suppress(OSError, msgspec.MsgspecError):
            found.append(msgspec.json.decode(note.read_bytes(), type=ContainerReading))
    return found


def _on_host(out: str, containers: list[ContainerReading], *, inside: bool) -> Path | None:
    """Where the passes' output lies on this host, if that is known yet."""
    if not inside:
        return Path(out) if out else None
    return next(filter(None, (on_host(one.mounts, out) for one in containers)), None) if out else None
