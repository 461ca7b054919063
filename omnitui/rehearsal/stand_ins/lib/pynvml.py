"""Stand-in for the module `pynvml`: the rehearsal's cards. What is not here raises, as on a driver without it."""

import os
from types import SimpleNamespace
from typing import Any

from omnitui.rehearsal.stand_ins import gpus
from omnitui.rehearsal.stand_ins.gpus import Card

nvmlMemory_v2 = 0x2000028
NVML_TEMPERATURE_GPU = 0
NVML_CLOCK_GRAPHICS = 0
NVML_CLOCK_SM = 1
NVML_CLOCK_MEM = 2
NVML_ERROR_NOT_SUPPORTED = 3


class NVMLError(Exception):
    """What NVML reports instead of an answer."""

    value = 999


class NVMLError_NotSupported(NVMLError):
    """The card does not have this."""

    value = NVML_ERROR_NOT_SUPPORTED


def nvmlInit() -> None:
    """Nothing to prepare."""


def nvmlShutdown() -> None:
    """Nothing to end."""


def nvmlDeviceGetCount() -> int:
    """How many cards can be seen."""
    return len(gpus.visible())


def nvmlDeviceGetHandleByIndex(index: int) -> Card:
    """A card by its number."""
    try:
        return gpus.visible()[index]
    except IndexError as error:
        raise NVMLError("Invalid Argument") from error


def nvmlDeviceGetHandleByUUID(uuid: str | bytes) -> Card:
    """A card by its UUID."""
    wanted = uuid.decode() if isinstance(uuid, bytes) else uuid
    for card in gpus.visible():
        if card.uuid == wanted:
            return card
    raise NVMLError("Not Found")


def nvmlDeviceGetUUID(card: Card) -> str:
    """Its UUID."""
    return card.uuid


def nvmlDeviceGetIndex(card: Card) -> int:
    """Its number."""
    return card.number


def nvmlDeviceGetName(card: Card) -> str:
    """Its name, which says that it is none."""
    return gpus.NAME


def nvmlDeviceGetMemoryInfo(card: Card, version: int | None = None) -> Any:
    """Memory in bytes."""
    used, total = gpus.used_mib(card) << 20, gpus.TOTAL_MIB << 20
    return SimpleNamespace(used=used, total=total, free=total - used, reserved=0)


def nvmlDeviceGetUtilizationRates(card: Card) -> Any:
    """Busy while somebody holds memory."""
    return SimpleNamespace(gpu=50 if gpus.used_mib(card) > gpus.IDLE_MIB else 0, memory=0)


def nvmlDeviceGetTemperature(card: Card, sensor: int) -> int:
    """Degrees Celsius."""
    return 40


def nvmlDeviceGetPowerUsage(card: Card) -> int:
    """Milliwatts."""
    return 120_000


def nvmlDeviceGetEnforcedPowerLimit(card: Card) -> int:
    """Milliwatts."""
    return 700_000


def nvmlDeviceGetPowerManagementLimit(card: Card) -> int:
    """Milliwatts."""
    return 700_000


def nvmlDeviceGetClockInfo(card: Card, clock: int) -> int:
    """MHz."""
    return 1980


def nvmlDeviceGetMaxClockInfo(card: Card, clock: int) -> int:
    """MHz."""
    return 1980


def nvmlDeviceGetCurrentClocksThrottleReasons(card: Card) -> int:
    """Nothing slows it."""
    return 0


nvmlDeviceGetCurrentClocksEventReasons = nvmlDeviceGetCurrentClocksThrottleReasons


def nvmlDeviceGetComputeRunningProcesses(card: Card) -> list[Any]:
    """Who holds memory. Dead holders are in no list, as on a real card."""
    held = [hold for hold in gpus.holds() if hold.uuid == card.uuid]
    alive = [hold for hold in held if os.path.exists(f"/proc/{hold.pid}")]  # noqa: PTH110
    return [SimpleNamespace(pid=hold.pid, usedGpuMemory=hold.mib << 20) for hold in alive]


nvmlDeviceGetComputeRunningProcesses_v3 = nvmlDeviceGetComputeRunningProcesses


def nvmlDeviceGetGraphicsRunningProcesses(card: Card) -> list[Any]:
    """None."""
    return []


def nvmlDeviceGetPciInfo(card: Card) -> Any:
    """Its address."""
    return SimpleNamespace(busId=card.bus)


def nvmlDeviceGetMinorNumber(card: Card) -> int:
    """Its number."""
    return card.number


def nvmlSystemGetDriverVersion() -> str:
    """No driver at all, and it says so."""
    return gpus.DRIVER
