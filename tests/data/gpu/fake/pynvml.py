"""A stand-in for NVML whose cards and troubles are what the JSON file `FAKE_NVML` says at each look."""

import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

nvmlMemory_v2 = 2  # noqa: N816
MIB = 2**20


class NVMLError(Exception):
    """What NVML raises."""


def _told() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(os.environ["FAKE_NVML"]).read_text())
    return found


def _act(trouble: str) -> None:
    if trouble == "crash":
        os._exit(139)
    if trouble == "hang":
        time.sleep(600)
    if trouble == "slow":
        time.sleep(1.5)


def nvmlInit() -> None:  # noqa: N802
    """Begin."""
    if error := _told().get("init"):
        raise NVMLError(error)


def nvmlDeviceGetCount() -> int:  # noqa: N802
    """How many cards there are; where a hang or a crash happens."""
    told = _told()
    _act(told.get("trouble", ""))
    return len(told["cards"])


def nvmlDeviceGetHandleByIndex(index: int) -> dict[str, Any]:  # noqa: N802
    """A card."""
    card: dict[str, Any] = _told()["cards"][index]
    if "lost" in card:
        raise NVMLError(card["lost"])
    return card


def _field(card: dict[str, Any], name: str) -> Any:
    value = card.get(name, "Not Supported")
    if isinstance(value, str) and name not in ("uuid", "name"):
        raise NVMLError(value)
    return value


def nvmlDeviceGetUUID(card: dict[str, Any]) -> Any:  # noqa: N802
    """Its UUID."""
    return _field(card, "uuid")


def nvmlDeviceGetName(card: dict[str, Any]) -> Any:  # noqa: N802
    """Its name, as bytes: older bindings do that."""
    return str(_field(card, "name")).encode()


def nvmlDeviceGetMemoryInfo(card: dict[str, Any], version: int | None = None) -> SimpleNamespace:  # noqa: N802
    """Memory in bytes; the older call counts the reserve as used."""
    memory = {name: int(mib * MIB) for name, mib in _field(card, "memory").items()}
    if version is None:
        return SimpleNamespace(total=memory["total"], used=memory["used"] + memory.get("reserved", 0))
    if "reserved" not in memory:
        raise NVMLError("Function Not Found")
    return SimpleNamespace(**memory)


def nvmlDeviceGetUtilizationRates(card: dict[str, Any]) -> SimpleNamespace:  # noqa: N802
    """Utilisation in per cent."""
    return SimpleNamespace(gpu=_field(card, "utilisation"))


def nvmlDeviceGetPowerUsage(card: dict[str, Any]) -> Any:  # noqa: N802
    """Milliwatts."""
    return _field(card, "power_mw")


def nvmlDeviceGetTemperature(card: dict[str, Any], sensor: int) -> Any:  # noqa: N802
    """Degrees."""
    return _field(card, "temperature")


def nvmlDeviceGetClockInfo(card: dict[str, Any], kind: int) -> Any:  # noqa: N802
    """MHz."""
    return _field(card, "sm_mhz")


def nvmlDeviceGetMaxClockInfo(card: dict[str, Any], kind: int) -> Any:  # noqa: N802
    """MHz."""
    return _field(card, "sm_max_mhz")


def nvmlDeviceGetCurrentClocksThrottleReasons(card: dict[str, Any]) -> Any:  # noqa: N802
    """Bits. The newer name is missing here, as it is in older bindings."""
    return _field(card, "reasons")


def nvmlDeviceGetComputeRunningProcesses(card: dict[str, Any]) -> list[SimpleNamespace]:  # noqa: N802
    """Processes; memory in bytes, or None."""
    return [
        SimpleNamespace(pid=pid, usedGpuMemory=None if mib is None else mib * MIB)
        for pid, mib in _field(card, "processes")
    ]


def nvmlDeviceGetMigMode(card: dict[str, Any]) -> list[int]:  # noqa: N802
    """Current and pending."""
    return [_field(card, "mig"), 0]


def nvmlDeviceGetMaxMigDeviceCount(card: dict[str, Any]) -> int:  # noqa: N802
    """How many there can be."""
    return 7


def nvmlDeviceGetMigDeviceHandleByIndex(card: dict[str, Any], index: int) -> Any:  # noqa: N802
    """A MIG device, or an error for a place that is empty."""
    try:
        return card["devices"][index]
    except (KeyError, IndexError) as error:
        raise NVMLError("Not Found") from error
