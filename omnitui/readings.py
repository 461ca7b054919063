"""Readings: what one look saw, or why nothing could be seen. What could not be read is None, never 0."""

from collections.abc import Mapping

from msgspec import Struct


class OutputReading(Struct, frozen=True):
    """What a job printed so far. `exit` is None while it runs; `lost` when it is gone without one."""

    words: frozenset[str] = frozenset()
    captures: Mapping[str, tuple[str, ...]] = {}
    """For each pattern that matched, its groups in the last matching line."""
    exit: int | None = None
    lost: bool = False
    matched: Mapping[str, str] = {}
    """For each pattern that matched, the text that did."""


class Listener(Struct, frozen=True):
    """Who listens on a port. `pid` is None when the process belongs to another user and cannot be seen."""

    address: str
    pid: int | None
    command: str
    ours: bool
    run: str = ""
    """The run that started it, of those whose processes can be seen."""


class PortReading(Struct, frozen=True):
    """The listeners of one port, or why they could not be read."""

    port: int
    listeners: tuple[Listener, ...] = ()
    error: str = ""


class HealthReading(Struct, frozen=True):
    """One look at a server: its process, its port, its health page and the models it lists."""

    port: PortReading
    alive: bool
    exit: int | None = None
    status: int | None = None
    """HTTP status of the health page; None when it did not answer."""
    latency_s: float = 0.0
    models: tuple[str, ...] | None = None
    """Ids of `/v1/models`; None when it was not asked or did not answer."""
    error: str = ""


class GpuMemory(Struct, frozen=True):
    """Memory of one card. `used_mib` leaves the driver's reserve out (NVML's v2 call)."""

    uuid: str
    index: int
    name: str
    used_mib: float
    total_mib: float


class GpuReading(Struct, frozen=True):
    """The cards of the run. `absent` says why there is no NVIDIA GPU here, `error` why they cannot be read."""

    cards: tuple[GpuMemory, ...] = ()
    wanted: tuple[str, ...] = ()
    absent: str = ""
    error: str = ""
    ours_left: tuple[int, ...] = ()
    """Processes of the run's stopped servers that still live."""
    unread: tuple[str, ...] = ()
    """Cards that are there and cannot be read, each with the reason."""


class WorkloadReading(Struct, frozen=True):
    """What one workload's files say. Counts are None when they could not be read."""

    id: str
    expected: int
    rows: int | None = None
    unique: int | None = None
    wrong: tuple[str, ...] = ()
    """Everything that keeps it from being complete, in words."""
    done: int | None = None
    """How many samples have a result; None when that could not be read."""
    failed: int = 0
    skipped: int = 0
    ids: Mapping[str, tuple[str, ...]] = {}
    """The samples concerned: `failed`, `skipped`, `twice`, `not finite`, `no audio`."""

    @property
    def missing(self) -> int | None:
        """How many samples were asked for and are nowhere; None when that could not be read."""
        return None if self.done is None else max(0, self.expected - self.done - self.failed - self.skipped)


class CoverageReading(Struct, frozen=True):
    """All workloads of a pass, or why there is no reading."""

    workloads: tuple[WorkloadReading, ...] = ()
    error: str = ""
    missing: tuple[str, ...] = ()
    """Metrics without a finite number, and why."""
