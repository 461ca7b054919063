"""CPU groups for GPUs: whole cores on each GPU's NUMA node, so that two measurements never share one. Pure.

The GPUs take their groups in the order of `nvidia-smi`, also those that are not asked about: so the groups of one
machine are the same whichever pair is asked for. Cores 0 and 1 are kept out; the kernel's own work runs there.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from msgspec import Struct

from omnitui.errors import OmniError, UsageError

KEPT_OUT = frozenset({0, 1})
CORES = 14
_ADDRESS = re.compile(r"(\d+)\s*,\s*([0-9A-Fa-f]+):([0-9A-Fa-f:.]+)")
_PAIRS = (("0", "1"), ("2", "3"), ("4", "5"), ("6", "7"))


class Core(Struct, frozen=True):
    """A physical core: the CPUs that are its SMT siblings, and its NUMA node."""

    id: int
    node: int
    cpus: tuple[int, ...]


class Gpu(Struct, frozen=True):
    """A GPU as `nvidia-smi` lists it, and the NUMA node that it hangs on."""

    index: str
    node: int


def read_cores(lscpu: str) -> tuple[Core, ...]:
    """The cores in the output of `lscpu -p=CPU,CORE,NODE`. An offline CPU has no core; no node means node 0."""
    cpus: dict[int, list[int]] = {}
    nodes: dict[int, int] = {}
    for line in lscpu.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        try:
            cpu, core, node = line.split(",")
            if not core.strip():
                continue
            cpus.setdefault(int(core), []).append(int(cpu))
            nodes[int(core)] = int(node) if node.strip() else 0
        except ValueError as error:
            raise OmniError(f"lscpu -p=CPU,CORE,NODE printed {line!r}, which is not three numbers") from error
    return tuple(Core(core, nodes[core], tuple(sorted(cpus[core]))) for core in sorted(cpus))


def read_bus_ids(smi: str) -> dict[str, str]:
    """Index and sysfs name of each GPU in `nvidia-smi --query-gpu=index,pci.bus_id --format=csv,noheader`."""
    found = {}
    for line in smi.splitlines():
        if not line.strip():
            continue
        address = _ADDRESS.fullmatch(line.strip())
        if not address:
            raise OmniError(f"nvidia-smi printed {line!r}, which is not an index and a PCI address")
        # nvidia-smi writes the PCI domain with eight digits, the kernel with four, or as many as it needs.
        found[address[1]] = f"{int(address[2], 16):04x}:{address[3].lower()}"
    return found


def groups(cores: Sequence[Core], gpus: Sequence[Gpu], size: int = CORES) -> dict[str, tuple[Core, ...]]:
    """The cores of each GPU, by its index. A GPU whose node has fewer than `size` left has none."""
    free: dict[int, list[Core]] = {}
    for core in cores:
        if core.id not in KEPT_OUT:
            free.setdefault(core.node, []).append(core)
    taken: dict[str, tuple[Core, ...]] = {}
    for gpu in gpus:
        left = free.get(gpu.node, [])
        if len(left) >= size:
            taken[gpu.index], free[gpu.node] = tuple(left[:size]), left[size:]
    return taken


def cpu_lists(
    cores: Sequence[Core], gpus: Sequence[Gpu], pair: tuple[str, str], size: int = CORES
) -> dict[str, str]:
    """`BENCH_CPUS`, the CPUs of the first GPU, and `CI_CPUS`, those of both; ascending, separated by commas.

    Raises `OmniError` when a GPU of the pair gets no group: which one, why, and the pair to try next.
    """
    if pair[0] == pair[1]:
        raise UsageError(f"a pair is two GPUs; {pair[0]} was named twice")
    found = groups(cores, gpus, size)
    reasons = [_reason(cores, gpus, index, size) for index in pair if index not in found]
    if reasons:
        raise OmniError("; ".join([*reasons, _way_out(found, pair)]))
    first, both = found[pair[0]], (*found[pair[0]], *found[pair[1]])
    return {"BENCH_CPUS": _listed(first), "CI_CPUS": _listed(both)}


def _listed(cores: Sequence[Core]) -> str:
    return ",".join(map(str, sorted(chain.from_iterable(core.cpus for core in cores))))


def _reason(cores: Sequence[Core], gpus: Sequence[Gpu], index: str, size: int) -> str:
    gpu = next((one for one in gpus if one.index == index), None)
    if gpu is None:
        return f"there is no GPU {index}; nvidia-smi lists {', '.join(one.index for one in gpus) or 'none'}"
    usable = sum(core.node == gpu.node and core.id not in KEPT_OUT for core in cores)
    before = [one.index for one in gpus[: gpus.index(gpu)] if one.node == gpu.node]
    earlier = [one for one in before if one in groups(cores, gpus, size)]
    told = f"node {gpu.node} has {usable} cores beside cores 0 and 1"
    if earlier:
        told += f", of which GPU {' and '.join(earlier)} took {size * len(earlier)}"
    return f"GPU {index} gets no group of {size} cores: {told}"


def _way_out(found: Mapping[str, object], pair: tuple[str, str]) -> str:
    at = _PAIRS.index(pair) if pair in _PAIRS else -1
    able = [f"{a} {b}" for a, b in _PAIRS[at + 1 :] if a in found and b in found]
    if able:
        return f"take the next pair that has groups: {able[0]}"
    others = [f"{a} {b}" for a, b in _PAIRS[at + 1 :]] or ["none"]
    return (
        f"no later pair ({', '.join(others)}) has groups either: "
        "compare with lscpu -p=CPU,CORE,NODE and nvidia-smi topo -m"
    )
