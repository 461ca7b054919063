"""The noise floor of a machine: how far apart two groups of passes of the same thing come out by chance."""

import hashlib
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from omnitui import store
from omnitui.errors import OmniError, StoreError
from omnitui.runbook.part import Role

MACHINE = ("runbook", "definition", "host.name", "host.cpu", "host.cpus", "gpu.names", "gpu.uuids")
"""The keys of a pass that say, with its settings, which machine and which measurement a floor is of."""


class Floor(Struct, frozen=True):
    """The largest difference of means that some split of the passes into two such groups shows."""

    absolute: float
    mean: float
    size: int = 3
    """How many passes the smaller group has: means of fewer lie further apart."""

    def at(self, mean: float) -> float:
        """The floor for a metric whose mean is `mean`: noise grows with the figure, and does not shrink."""
        return self.absolute * max(1.0, abs(mean / self.mean)) if self.mean else self.absolute


class NoiseFloor(Struct, frozen=True):
    """What is stored for one machine, one runbook and its settings."""

    runbook: str
    machine: Mapping[str, str]
    run: str
    measured: str
    passes: int
    floors: Mapping[str, Floor]


def floor_of(values: Sequence[float], size: int) -> Floor | None:
    """The floor that one metric's values show; None with fewer than two in a group.

    `size` is how many of them were in the smaller group.
    """
    ordered = sorted(values)
    if size < 2 or len(ordered) - size < 2:
        return None
    low = statistics.mean(ordered[:size]), statistics.mean(ordered[size:])
    high = statistics.mean(ordered[-size:]), statistics.mean(ordered[:-size])
    return Floor(max(low[1] - low[0], high[0] - high[1]), statistics.mean(ordered), size)


def machine_of(keys: Mapping[str, str | None], roles: Mapping[str, Role]) -> dict[str, str] | None:
    """Which machine a pass was measured on, and with which settings; None when that is not wholly known.

    Ten samples are noisier than a thousand: variables that must be equal for a comparison must be for its floor.
    """
    settings = (key for key, role in roles.items() if key.startswith("variable.") and role == "equal")
    found = {key: keys.get(key) for key in (*MACHINE, *settings)}
    known = {key: value for key, value in found.items() if value is not None}
    return known if len(known) == len(found) else None


def file_of(machine: Mapping[str, str]) -> Path:
    """Where the floor of a machine is stored."""
    digest = hashlib.sha256(msgspec.json.encode(dict(machine), order="sorted")).hexdigest()[:16]
    return store.home() / "noise" / f"{machine['runbook']}-{digest}.json"


def keep(floor: NoiseFloor) -> Path:
    """Store a floor; an earlier one of the same machine is replaced. Raises `StoreError`."""
    file = file_of(floor.machine)
    store.make_folder(file.parent)
    store.replace_file(file, msgspec.json.format(msgspec.json.encode(floor)))
    return file


def kept(machine: Mapping[str, str]) -> NoiseFloor | None:
    """The floor that is stored for a machine, or None. Raises `StoreError`."""
    file = file_of(machine)
    try:
        found = msgspec.json.decode(file.read_bytes(), type=NoiseFloor)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise StoreError(f"{file} cannot be read: {error}; measure the noise floor again") from error
    return found if dict(found.machine) == dict(machine) else None


class NoFloor(OmniError):
    """A run tells no noise floor."""
