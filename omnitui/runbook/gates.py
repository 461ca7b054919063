"""The gates that a step of a runbook may have, and what its page says to do when one is red."""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from omnitui.runbook.part import Part, When


class Remedy(Part, frozen=True, kw_only=True):
    """What the page says to do when a gate is red."""

    say: str
    when: When = {}
    run: str = ""
    """A command that the operator may have run, in the step's place and environment."""
    place: Literal["", "host"] = ""
    """`host`: the command runs there, with nothing added; what hangs may be the step's own container."""


class Output(Part, tag="output", tag_field="gate", kw_only=True, frozen=True):
    """The output has `word` as a line of its own, or matches `pattern`, and the exit status fits."""

    name: str = ""
    """What a gate that waits for a pattern is called."""
    word: str = ""
    pattern: str = ""
    equals: tuple[str, ...] = ()
    """What the groups of `pattern` must have captured, in order."""
    refuse: tuple[str, ...] = ()
    """Words that make the gate red at once."""
    exit: tuple[int, ...] = (0,)
    remedies: tuple[Remedy, ...] = ()


class PortFree(Part, tag="port_free", tag_field="gate", kw_only=True, frozen=True):
    """Nobody listens on the port, in IPv4 or IPv6."""

    port: str
    word: str = "PORT_FREE"
    timeout_s: float = 30.0
    remedies: tuple[Remedy, ...] = ()


class GpuFree(Part, tag="gpu_free", tag_field="gate", kw_only=True, frozen=True):
    """Memory used on each GPU of the run is below the limit and no process of ours is left."""

    gpus: str = "${GPUS}"
    """Indices or UUIDs, separated by commas; empty when the run uses none."""
    limit_mib: int = 1024
    needs_gpu: bool = False
    """Red, not moot, where the machine has no NVIDIA GPU."""
    word: str = "GPU_FREE"
    timeout_s: float = 600.0
    remedies: tuple[Remedy, ...] = ()


class Coverage(Part, tag="coverage", tag_field="gate", kw_only=True, frozen=True):
    """Every workload of the pass is complete, as read from its files."""

    word: str = "RUN_COMPLETE"
    remedies: tuple[Remedy, ...] = ()


class ContainerUp(Part, tag="container", tag_field="gate", kw_only=True, frozen=True):
    """The container of a docker place runs, and is the one that the page describes."""

    place: str
    image: str = ""
    """`name@sha256:...`; empty when any will do."""
    gpus: str = ""
    """Indices or UUIDs, separated by commas, as the container was given them."""
    cpuset: str = ""
    mounts: Mapping[str, str] = {}
    """Folder in the container, and the host's folder that it must show."""
    word: str = "CONTAINER_UP"
    remedies: tuple[Remedy, ...] = ()


class AssetsCached(Part, tag="assets", tag_field="gate", kw_only=True, frozen=True):
    """The models and data sets are in the page's cache, whole, at their revisions."""

    assets: tuple[str, ...] = ()
    """Their ids; empty means all."""
    word: str = "ASSETS_CACHED"
    remedies: tuple[Remedy, ...] = ()


Gate: TypeAlias = Output | PortFree | GpuFree | Coverage | ContainerUp | AssetsCached
