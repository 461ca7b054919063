"""What every place can do."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from omnitui.model import Identity


class Process(Struct, frozen=True):
    """One process as the kernel tells it. `start` is in clock ticks since boot; `zombie` ones are dead."""

    pid: int
    parent: int
    group: int
    session: int
    start: int
    zombie: bool
    command: str


class Place(Protocol):
    """A bash prefix and a view of the processes there."""

    name: str

    def argv(self, env_names: Iterable[str]) -> list[str]:
        """The command that reads a launcher on stdin and runs bash; `env_names` must reach it."""

    def to_host(self, path: str) -> Path:
        """Where a path of this place lies on the host."""

    def boot(self) -> str:
        """The id of the boot, so that a pid of another boot is never taken for ours."""

    def processes(self) -> list[Process]:
        """Every process that can be seen."""

    def process(self, pid: int) -> Process | None:
        """One process, or None when it is gone."""

    def environ(self, pid: int) -> Mapping[str, str] | None:
        """Its environment, or None when it may not be read."""

    def cpus(self, pid: int) -> list[frozenset[int]]:
        """The CPUs that each of its threads may use."""

    def signal(self, identity: Identity, signal: int) -> bool:
        """Signal one process if it still is who it was; False when it is not."""
