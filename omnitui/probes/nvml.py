"""Cards as NVML tells them. It can hang or crash: only child processes of ours come here, and only from a thread.

What a card or a driver does not support is None. Functions beyond memory, UUID and name may be missing altogether.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from omnitui.probes.owners import Owners
from omnitui.samples import Gpu, GpuLook, GpuProcess, is_wanted

T = TypeVar("T")
_MIB = 2**20
_SM = 1
_TEMPERATURE = 0
_MPS = "nvidia-cuda-mps"
"""The control programs of MPS: who uses the card through them is listed as itself."""
_REASONS = (
    "idle",
    "application clocks",
    "software power cap",
    "hardware slowdown",
    "sync boost",
    "software thermal slowdown",
    "hardware thermal slowdown",
    "hardware power brake",
    "display clocks",
    "board limit",
    "reliability",
)
"""In the order of NVML's bits (nvmlClocksEventReasons)."""


class Unreadable(Exception):
    """NVML cannot be used at all: the library is missing, or does not fit the driver."""


class Nvml:
    """NVML, initialised at the first look and again after a look that failed."""

    def __init__(self) -> None:
        self._api: Any = None

    def look(self, wanted: tuple[str, ...] | None, owners: Owners | None, *, full: bool = True) -> GpuLook:
        """One look at the wanted cards (None: all). Raises `Unreadable`."""
        api = self._begun()
        cards: list[Gpu] = []
        unread: list[str] = []
        try:
            for index in range(api.nvmlDeviceGetCount()):
                self._card(index, wanted, owners if full else None, cards, unread, full=full)
        except api.NVMLError as error:
            self._end()
            raise Unreadable(f"NVML: {error}") from error
        if unread:
            # A card that was lost comes back only to a library that is loaded anew.
            self._end()
        return GpuLook(tuple(cards), tuple(unread), "NVML")

    def _begun(self) -> Any:
        if self._api is None:
            try:
                import pynvml  # noqa: PLC0415 - only the child process loads NVML
            except ImportError as error:
                raise Unreadable(f"NVML: {error}") from error
            try:
                pynvml.nvmlInit()
            except pynvml.NVMLError as error:
                raise Unreadable(f"NVML: {error}") from error
            self._api = pynvml
        return self._api

    def _end(self) -> None:
        told(self._api, "nvmlShutdown")
        self._api = None

    def _card(
        self,
        index: int,
        wanted: tuple[str, ...] | None,
        owners: Owners | None,
        cards: list[Gpu],
        unread: list[str],
        *,
        full: bool,
    ) -> None:
        api = self._api
        try:
            handle = api.nvmlDeviceGetHandleByIndex(index)
            uuid = text(api.nvmlDeviceGetUUID(handle))
        except api.NVMLError as error:
            # Nobody knows whether it is a wanted one: its UUID cannot be asked either.
            unread.append(f"GPU {index}: {error}")
            return
        mode = told(api, "nvmlDeviceGetMigMode", handle)
        mig = bool(mode[0]) if isinstance(mode, list | tuple) and mode else None
        if wanted is None or is_wanted(wanted, uuid, index):
            try:
                cards.append(_read(api, handle, uuid, index, owners, mig=mig, full=full))
            except api.NVMLError as error:
                unread.append(f"GPU {index} ({uuid}): {error}")
        for part in range(told(api, "nvmlDeviceGetMaxMigDeviceCount", handle) or 0) if mig else ():
            device = told(api, "nvmlDeviceGetMigDeviceHandleByIndex", handle, part)
            name = told(api, "nvmlDeviceGetUUID", device) if device is not None else None
            if name is not None and (wanted is None or text(name) in wanted):
                cards.append(_read(api, device, text(name), index, owners, mig=True, full=full))


def _read(
    api: Any, handle: Any, uuid: str, index: int, owners: Owners | None, *, mig: bool | None, full: bool
) -> Gpu:
    used, total, reserved = _memory(api, handle)
    name = text(api.nvmlDeviceGetName(handle))
    if not full:
        return Gpu(uuid, index, name, used, total, reserved, mig=mig)
    rates = told(api, "nvmlDeviceGetUtilizationRates", handle)
    return Gpu(
        uuid=uuid,
        index=index,
        name=name,
        used_mib=used,
        total_mib=total,
        reserved_mib=reserved,
        utilisation=number(getattr(rates, "gpu", None)),
        power_w=number(told(api, "nvmlDeviceGetPowerUsage", handle), 1000),
        power_limit_w=number(told(api, "nvmlDeviceGetEnforcedPowerLimit", handle), 1000),
        temperature_c=number(told(api, "nvmlDeviceGetTemperature", handle, _TEMPERATURE)),
        sm_mhz=number(told(api, "nvmlDeviceGetClockInfo", handle, _SM)),
        sm_max_mhz=number(told(api, "nvmlDeviceGetMaxClockInfo", handle, _SM)),
        throttle=reasons(
            first(
                told(api, "nvmlDeviceGetCurrentClocksEventReasons", handle),
                lambda: told(api, "nvmlDeviceGetCurrentClocksThrottleReasons", handle),
            )
        ),
        processes=_processes(api, handle, owners),
        mig=mig,
    )


def _memory(api: Any, handle: Any) -> tuple[float | None, float | None, float | None]:
    """Used, total and reserved. The older call counts the reserve as used: too much is never free by mistake."""
    memory = told(api, "nvmlDeviceGetMemoryInfo", handle, version=getattr(api, "nvmlMemory_v2", None))
    if memory is None:
        try:
            memory = api.nvmlDeviceGetMemoryInfo(handle)
        except api.NVMLError as error:
            # A card that shares the host's memory tells none; every other reason is a trouble of this card.
            if "not supported" not in str(error).lower():
                raise
    used, total, reserved = (number(getattr(memory, name, None), _MIB) for name in ("used", "total", "reserved"))
    return used, total, reserved


def _processes(api: Any, handle: Any, owners: Owners | None) -> tuple[GpuProcess, ...] | None:
    listed = told(api, "nvmlDeviceGetComputeRunningProcesses", handle)
    if listed is None:
        return None
    through_mps = told(api, "nvmlDeviceGetMPSComputeRunningProcesses", handle) or []
    memory: dict[int, float | None] = {}
    for one in (*listed, *through_mps):
        memory[int(one.pid)] = number(getattr(one, "usedGpuMemory", None), _MIB)
    return processes_of(memory, owners)


def processes_of(
    memory: dict[int, float | None], owners: Owners | None, names: dict[int, str] | None = None
) -> tuple[GpuProcess, ...]:
    """The processes with what is known of their owners, the largest first."""
    found = []
    for pid, used in memory.items():
        owner = owners.of(pid) if owners else None
        if owner is None:
            found.append(GpuProcess(pid, used_mib=used, command=(names or {}).get(pid, "")))
        elif not owner.command.startswith(_MPS):
            command = owner.command or (names or {}).get(pid, "")
            found.append(GpuProcess(pid, owner.user, command, used, owner.ours, owner.run))
    return tuple(sorted(found, key=lambda one: (-(one.used_mib or 0.0), one.pid)))


def told(api: Any, name: str, *arguments: Any, **named: Any) -> Any:
    """What one function of NVML says; None when the card, the driver or the library does not have it."""
    function = getattr(api, name, None)
    if function is None:
        return None
    try:
        return function(*arguments, **named)
    except (api.NVMLError, TypeError):
        return None


def first(value: T | None, other: Callable[[], T | None]) -> T | None:
    """The value, or the other one when it is None."""
    return other() if value is None else value


def number(value: object, per: float = 1) -> float | None:
    """A figure in another unit. NVML says "not available" with the largest number that fits."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**62:
        return None
    return round(value / per, 2)


def reasons(bits: object) -> tuple[str, ...] | None:
    """The reasons in words. Unknown bits are told by their number."""
    if isinstance(bits, bool) or not isinstance(bits, int) or bits < 0:
        return None
    return tuple(
        _REASONS[bit] if bit < len(_REASONS) else f"reason 0x{1 << bit:x}"
        for bit in range(bits.bit_length())
        if bits >> bit & 1
    )


def text(value: str | bytes) -> str:
    """Older bindings give bytes."""
    return value.decode() if isinstance(value, bytes) else value
