"""Places: where commands run. A place is a bash prefix and a view of its processes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from omnitui.errors import UsageError
from omnitui.model import RunState
from omnitui.places.base import Place
from omnitui.places.local import Local
from omnitui.runbook.schema import PlaceSpec, Runbook
from omnitui.store import RunFolder
from omnitui.values import HOST, of_scope, spec_of

__all__ = ["Local", "Output", "Place", "open_place", "output_at", "place_at", "places_of"]


@lru_cache(maxsize=64)
def open_place(spec: PlaceSpec, run: RunFolder | None = None) -> Place:
    """The place that a runbook declares, its variables replaced; one for each run and process."""
    if spec.kind == "docker":
        from omnitui.places.docker import Docker  # noqa: PLC0415 - only runbooks that use containers load it

        return Docker(spec.container, spec.jobs, run)
    if spec.kind != "local":
        raise UsageError(f"a place is local or docker, not {spec.kind!r}")
    return Local()


def place_at(runbook: Runbook, name: str, values: Mapping[str, str], run: RunFolder | None = None) -> Place:
    """The place of this name, as these values make it."""
    return open_place(spec_of(runbook, name, values), run)


def places_of(runbook: Runbook, state: RunState, run: RunFolder) -> list[Place]:
    """Every place where the run has started something."""
    values = of_scope(runbook, state, "_/_", run.path)
    found = [place_at(runbook, name, values, run) for name in (HOST, *runbook.places)]
    return [place for place in dict.fromkeys(found) if place.was_used()]


@dataclass(frozen=True)
class Output:
    """The output folder of a pass: its path where it lies, and what that is on the host."""

    place: Place
    path: str

    @property
    def host(self) -> Path:
        """Raises `PlaceError` when it lies nowhere on the host."""
        return self.place.to_host(self.path)


def output_at(runbook: Runbook, state: RunState, scope: str, run: RunFolder) -> Output:
    """Where a pass leaves its output."""
    values = of_scope(runbook, state, scope, run.path)
    return Output(place_at(runbook, runbook.passes.place, values, run), values["OUT"])
