"""What every place can do, and what it gives."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from omnitui.containers import ContainerReading
from omnitui.model import Identity
from omnitui.pinning import Threads
from omnitui.readings import PortReading


class Process(Struct, frozen=True):
    """One process as the kernel tells it. `start` is in clock ticks since boot; `zombie` ones are dead."""

    pid: int
    parent: int
    group: int
    session: int
    start: int
    zombie: bool
    command: str
    marker: str = ""
    """The job whose marker it carries; only told by `processes`."""


class Answer(Struct, frozen=True):
    """What came back from a health page: `status` is None when nothing did, and `error` says why."""

    status: int | None = None
    latency_s: float = 0.0
    body: bytes = b""
    error: str = ""
    refused: bool = False
    """Nobody listens on the port."""
    fresh: bool = False
    """It came over a new connection: whoever answers may be somebody else than before."""


class Connection(Protocol):
    """A kept HTTP connection to one port of a place."""

    def get(self, path: str) -> Answer:
        """GET `path`; errors are answers."""

    def close(self) -> None:
        """Close it."""


class Place(Protocol):
    """A bash prefix and a view of what is there. What cannot be looked at raises `PlaceError`."""

    name: str
    before: bytes
    """Lines of bash ahead of a job's launcher."""

    # -- running ---------------------------------------------------------------------------------------------

    def argv(self, env_names: Iterable[str]) -> list[str]:
        """The command that reads a launcher on stdin and runs bash; `env_names` must reach it."""

    def shell(self, env_names: Iterable[str]) -> list[str]:
        """The command of an interactive bash that first reads the text in `OMNITUI_RC`."""

    def tag(self) -> str:
        """What the identity of a process carries beside the boot: the container. Raises when it is not up."""

    def make_job(self, path: Path, inside: str) -> None:
        """Make the folder of a job at `path`, which the place must know as `inside`."""

    def was_used(self) -> bool:
        """Whether the run may have started something there."""

    # -- files -----------------------------------------------------------------------------------------------

    def to_host(self, path: str) -> Path:
        """Where a path of this place lies on the host. Raises `PlaceError` when it is not there."""

    def move_aside(self, path: str, what: str = "incomplete") -> list[Path]:
        """Rename a path to `NAME-what`; its new name on the host, if there was such a path."""

    def write(self, path: str, text: str) -> None:
        """Write a small file as whoever runs jobs there."""

    # -- processes -------------------------------------------------------------------------------------------

    def boot(self) -> str:
        """The id of the boot (and container), so that a pid of another one is never taken for ours."""

    def processes(self) -> list[Process]:
        """Every process that can be seen, except our own, with its marker."""

    def process(self, pid: int) -> Process | None:
        """One process, or None when it is gone."""

    def environ(self, pid: int) -> Mapping[str, str] | None:
        """Its environment, or None when it may not be read."""

    def affinity(self, pids: Iterable[int]) -> list[Threads] | None:
        """Where the threads of processes may run; None where there is no affinity (macOS)."""

    async def ended(self, identity: Identity) -> None:
        """Return once the process has ended or is another one; within milliseconds."""

    def signal(self, identity: Identity, number: int) -> bool:
        """Signal one process if it still is who it was; False when it is not."""

    def signal_group(self, group: int, number: int) -> bool:
        """Signal a process group; False when it is empty. Number 0 only looks."""

    # -- looks -----------------------------------------------------------------------------------------------

    def listeners(self, port: int, ours: Iterable[int], proc: Path) -> PortReading:
        """Who listens on a port, or why that cannot be read; `ours` are the pids that count as our own."""

    def connection(self, port: int, timeout_s: float) -> Connection:
        """A connection that is kept between looks."""

    def container(self) -> ContainerReading:
        """The container as its engine tells it now; one with `here` where the place is none."""

    def trouble(self, since: float) -> str:
        """What has become of the place since then (epoch seconds), if that explains why a job is gone."""
