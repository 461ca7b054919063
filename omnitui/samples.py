"""What the monitor tells, line by line, and what stands between those lines in a run's telemetry. All frozen.

A figure that the machine does not tell is None, never 0: a card without a power sensor does not draw 0 W.
Times are seconds since the epoch; ages come from the monotonic clock.
"""

from collections.abc import Iterable
from typing import TypeAlias

import msgspec
from msgspec import Struct

FRESH_S = 3.0
"""How old a reading may be before it reads as STALE."""


class GpuProcess(Struct, frozen=True, omit_defaults=True):
    """A process with a CUDA context on a card."""

    pid: int
    user: str = ""
    command: str = ""
    """The program, and the module or script that it runs: never all arguments: they may hold a secret."""
    used_mib: float | None = None
    ours: bool | None = None
    """Started by the run; None when that cannot be told."""
    run: str = ""
    """Another run of OmniTUI that started it."""


class Gpu(Struct, frozen=True, omit_defaults=True):
    """One card, or one MIG device (its `uuid` begins with `MIG-` and its `index` is the card's)."""

    uuid: str
    index: int | None = None
    """As NVML and nvidia-smi count; CUDA may count otherwise."""
    name: str = ""
    used_mib: float | None = None
    """Without the driver's reserve."""
    total_mib: float | None = None
    reserved_mib: float | None = None
    utilisation: float | None = None
    """Per cent of the last sampling period in which a kernel ran."""
    power_w: float | None = None
    power_limit_w: float | None = None
    temperature_c: float | None = None
    sm_mhz: float | None = None
    sm_max_mhz: float | None = None
    throttle: tuple[str, ...] | None = None
    """Why the clocks are not higher, in words."""
    processes: tuple[GpuProcess, ...] | None = None
    """Empty when there are none that can be seen from here, which is not the same as a free card."""
    mig: bool | None = None

    @property
    def label(self) -> str:
        """`GPU 0`, or the beginning of its UUID when it has no number."""
        if self.uuid.startswith("MIG-") or self.index is None:
            return self.uuid[:12]
        return f"GPU {self.index}"


class GpuLook(Struct, frozen=True, omit_defaults=True):
    """One look at the cards. `absent` says why there are none, `error` why none can be read."""

    cards: tuple[Gpu, ...] = ()
    unread: tuple[str, ...] = ()
    """Cards that are there and cannot be read, each with the reason."""
    source: str = ""
    """`NVML` or `nvidia-smi`."""
    absent: str = ""
    error: str = ""
    fresh_s: float = FRESH_S
    """How old this look may become; `nvidia-smi` is asked less often."""


class Load(Struct, frozen=True, omit_defaults=True):
    """A process that is not the run's and works on the benchmark's CPUs."""

    pid: int
    user: str
    command: str
    percent: float
    """Of one core, over the last look."""
    ours: bool | None = None
    run: str = ""


class Host(Struct, frozen=True, omit_defaults=True):
    """One look at the host. Loads are per cent of the CPUs in question since the look before."""

    bench_load: float | None = None
    """Load of the benchmark's CPUs; None when the run names none."""
    other_load: float | None = None
    memory_used_mib: float | None = None
    memory_total_mib: float | None = None
    swap_in_mib: float | None = None
    swap_out_mib: float | None = None
    """Read from and written to swap since the look before."""
    disk_free_mib: float | None = None
    disk_error: str = ""
    shm_free_mib: float | None = None
    loads: tuple[Load, ...] | None = None
    """The largest foreign loads on the benchmark's CPUs; None when they are not looked for or cannot be seen."""
    loads_over_s: float = 0.0
    """The time that these loads are the mean of."""


class Started(Struct, frozen=True, omit_defaults=True, tag="started", tag_field="is"):
    """The monitor's first line: which CPUs it keeps to, and whether they are none of the benchmark's."""

    at: float
    pid: int
    cpus: tuple[int, ...]
    apart: bool
    said: str


class Sample(Struct, frozen=True, omit_defaults=True, tag="sample", tag_field="is"):
    """One look at everything."""

    at: float
    gpu: GpuLook = GpuLook()
    gpu_age_s: float | None = None
    """None when the cards have not been read yet."""
    host: Host = Host()
    own_cpu_s: float | None = None
    """CPU seconds of the monitor so far."""
    runner_cpu_s: float | None = None
    """CPU seconds of the runner so far."""
    app_cpu_s: float | None = None
    """CPU seconds of the apps and command lines that watched the run, since this runner began."""
    trouble: str = ""
    """Why there is no sample: the monitor is silent, or has ended and will be started again."""

    @property
    def gpu_stale(self) -> bool:
        """Whether the cards have not been read for too long to be shown as they are now."""
        return self.gpu_age_s is None or self.gpu_age_s > self.gpu.fresh_s


class Boundary(Struct, frozen=True, omit_defaults=True, tag="boundary", tag_field="is"):
    """A step began or ended, a gate changed: an event of the journal, so that a time line can mark it."""

    at: float
    event: str
    step: str = ""
    attempt: int = 0
    outcome: str = ""


class Notice(Struct, frozen=True, omit_defaults=True, tag="notice", tag_field="is"):
    """Something that happened to the monitor or to this file."""

    at: float
    said: str


class Contaminated(Struct, frozen=True, omit_defaults=True, tag="contaminated", tag_field="is"):
    """Something foreign disturbed a step of a scored pass."""

    at: float
    step: str
    kind: str
    reason: str


Line: TypeAlias = Started | Sample | Boundary | Notice | Contaminated

_DECODER: "msgspec.json.Decoder[Line]" = msgspec.json.Decoder(Line)
_ENCODER = msgspec.json.Encoder()


def encoded(line: Line) -> bytes:
    """One JSON line with its newline."""
    return _ENCODER.encode(line) + b"\n"


def decoded(data: bytes) -> Line:
    """The line again. Raises `msgspec.MsgspecError`."""
    return _DECODER.decode(data)


def cpus_of(text: str) -> frozenset[int]:
    """The CPUs of a list such as `2-15,18` or, every second one, `2-15:2`; empty when it is none."""
    found: set[int] = set()
    for part in filter(None, text.replace(" ", "").split(",")):
        span, _, every = part.partition(":")
        first, _, last = span.partition("-")
        if not all(number.isdecimal() for number in (first, last or first, every or "1")) or every == "0":
            return frozenset()
        found.update(range(int(first), int(last or first) + 1, int(every or "1")))
    return frozenset(found)


def shown_cpus(cpus: Iterable[int]) -> str:
    """CPUs as the kernel writes them: `2-15,18`."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def wanted_of(gpus: str) -> tuple[str, ...]:
    """The GPUs that a runbook names, each once: indices or UUIDs, separated by commas."""
    return tuple(dict.fromkeys(filter(None, (part.strip() for part in gpus.split(",")))))


def is_wanted(wanted: tuple[str, ...], uuid: str, index: int | None) -> bool:
    """Whether a card is one of those. An index means the whole card, never a MIG device on it."""
    return uuid in wanted or (not uuid.startswith("MIG-") and str(index) in wanted)
