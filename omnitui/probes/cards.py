"""The cards of this machine through whichever of NVML and `nvidia-smi` answers. Called in child processes only."""

import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from omnitui.probes.nvml import Nvml, Unreadable
from omnitui.probes.owners import Owners
from omnitui.probes.smi import Smi
from omnitui.samples import GpuLook

ABSENT = "no NVIDIA GPU"
_NVML_AGAIN_S = 5.0
"""Between two attempts to use an NVML that could not be used."""


def is_absent() -> bool:
    """Whether this machine has no NVIDIA driver loaded: then NVML need not be asked."""
    return not Path("/dev/nvidiactl").exists() and not Path("/proc/driver/nvidia").exists()


class Cards:
    """The cards through NVML, or through `nvidia-smi` where NVML cannot be used."""

    def __init__(
        self,
        wanted: tuple[str, ...] | None = None,
        owners: Owners | None = None,
        *,
        full: bool = False,
        smi: Smi | None = None,
        absent: Callable[[], bool] = is_absent,
    ) -> None:
        """`wanted` None means all cards; without `full` only memory is read."""
        self._wanted = wanted
        self._owners = owners
        self._full = full
        self._nvml = Nvml()
        self._smi = smi or Smi(1.0)
        self._absent = absent
        self._again_s = float("-inf")
        self._why = ""

    def look(self) -> GpuLook:
        """One look."""
        if time.monotonic() >= self._again_s:
            try:
                return self._nvml.look(self._wanted, self._owners, full=self._full)
            except Unreadable as error:
                self._why = str(error)
                self._again_s = time.monotonic() + _NVML_AGAIN_S
        if self._absent():
            return GpuLook(absent=ABSENT)
        look = self._smi.look(self._wanted, self._owners, full=self._full)
        return replace(look, error=f"{self._why}; {look.error}") if look.error else look
