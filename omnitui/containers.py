"""A container as its engine tells it, and how it differs from the one that a page describes. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from omnitui.runbook.gates import ContainerUp
from omnitui.samples import cpus_of


class ContainerReading(Struct, frozen=True):
    """A container as its engine tells it. Of its environment nothing is kept: it may hold secrets."""

    name: str = ""
    id: str = ""
    """Empty when there is no such container."""
    running: bool = False
    started: str = ""
    """RFC 3339."""
    image: str = ""
    """As it was asked for."""
    digests: tuple[str, ...] = ()
    """The names `repository@sha256:...` of that image, and its own id."""
    gpus: tuple[str, ...] = ()
    """Indices or UUIDs as it was given them; `all`."""
    cpuset: str = ""
    mounts: Mapping[str, str] = {}
    """Folder in the container, and the host's folder that it shows."""
    here: bool = False
    """OmniTUI itself runs there: there is no container to look at."""
    error: str = ""


def differences(gate: ContainerUp, reading: ContainerReading) -> list[str]:
    """What is and what should be, for everything that the gate names. `gate` is expanded."""
    wrong = [] if reading.running else [f"it is stopped: docker start {reading.name}"]
    if gate.image and gate.image not in (reading.image, *reading.digests):
        wrong.append(f"its image is {reading.image}, not {gate.image}")
    wanted = [one.strip() for one in gate.gpus.split(",") if one.strip()]
    if wanted and set(wanted) != set(reading.gpus):
        wrong.append(f"its GPUs are {','.join(reading.gpus) or 'none'}, not {','.join(wanted)}")
    if gate.cpuset and cpus_of(gate.cpuset) != cpus_of(reading.cpuset):
        wrong.append(f"its CPUs are {reading.cpuset or 'all'}, not {gate.cpuset}")
    for inside, host in gate.mounts.items():
        shown = reading.mounts.get(inside)
        if shown != host:
            wrong.append(f"{inside} shows {shown or 'no folder of the host'}, not {host}")
    return wrong
