"""Which CPUs and GPUs this machine has, and which NUMA node each GPU hangs on."""

import subprocess
from pathlib import Path

from omnitui.cpu_groups import Core, Gpu, read_bus_ids, read_cores
from omnitui.errors import OmniError

_DEVICES = Path("/sys/bus/pci/devices")
_PATIENCE_S = 60.0


def read_topology(devices: Path = _DEVICES) -> tuple[tuple[Core, ...], tuple[Gpu, ...]]:
    """The cores and, in the order of `nvidia-smi`, the GPUs. Raises `OmniError` for what cannot be read."""
    cores = read_cores(_printed("lscpu", "-p=CPU,CORE,NODE"))
    gpus = read_bus_ids(_printed("nvidia-smi", "--query-gpu=index,pci.bus_id", "--format=csv,noheader"))
    return cores, tuple(Gpu(index, _node(devices / bus)) for index, bus in gpus.items())


def _node(device: Path) -> int:
    file = device / "numa_node"
    try:
        # The kernel says -1 where the machine has no NUMA, or does not tell.
        return max(int(file.read_text()), 0)
    except (OSError, ValueError) as error:
        raise OmniError(f"{file} cannot be read: {error}") from error


def _printed(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise OmniError(f"{command[0]} could not be run: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise OmniError(
            f"{' '.join(command)} ended with {done.returncode}: {said[-1] if said else 'said nothing'}"
        )
    return done.stdout
