"""A runbook as one run sees it: without the parts whose condition its variables do not meet. Pure."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol, TypeVar

from msgspec.structs import replace

from omnitui.runbook.gates import Gate
from omnitui.runbook.load import load
from omnitui.runbook.part import When
from omnitui.runbook.schema import Resources, Runbook, Server, Step
from omnitui.runbook.variables import holds


class _Conditional(Protocol):
    @property
    def when(self) -> When: ...


_Part = TypeVar("_Part", bound=_Conditional)
_Helped = TypeVar("_Helped", bound=Step | Gate | Server)


def of_run(folder: Path, variables: Mapping[str, str]) -> Runbook:
    """The runbook in a run's folder, for that run's variables. Raises `RunbookError`."""
    return narrow(load(folder), variables)


def narrow(runbook: Runbook, variables: Mapping[str, str]) -> Runbook:
    """The runbook without the phases, steps, resources and so on that these variables leave out."""
    phases = (
        replace(phase, steps=tuple(_step(step, variables) for step in _kept(phase.steps, variables)))
        for phase in _kept(runbook.phases, variables)
    )
    return replace(
        runbook,
        servers={name: _with_remedies(server, variables) for name, server in runbook.servers.items()},
        resources=_together(runbook.resources, variables),
        phases=tuple(phase for phase in phases if phase.steps),
        workloads=_kept(runbook.workloads, variables),
        metrics=_kept(runbook.metrics, variables),
        samples=_kept(runbook.samples, variables),
        provenance=_kept(runbook.provenance, variables),
        assets=_kept(runbook.assets, variables),
    )


def _step(step: Step, variables: Mapping[str, str]) -> Step:
    gates = tuple(_with_remedies(gate, variables) for gate in step.gates)
    return replace(_with_remedies(step, variables), gates=gates)


def _with_remedies(part: _Helped, variables: Mapping[str, str]) -> _Helped:
    return replace(part, remedies=_kept(part.remedies, variables)) if part.remedies else part


def _together(resources: Resources, variables: Mapping[str, str]) -> Resources:
    also = _kept(resources.also, variables)
    gpus = dict.fromkeys(filter(None, (resources.gpus, *(one.gpus for one in also))))
    ports = dict.fromkeys((*resources.ports, *(port for one in also for port in one.ports)))
    return Resources(ports=tuple(ports), gpus=",".join(gpus))


def _kept(parts: Iterable[_Part], variables: Mapping[str, str]) -> tuple[_Part, ...]:
    return tuple(part for part in parts if holds(part.when, variables))
