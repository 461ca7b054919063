"""Whether the shell is as the page's block leaves it: compile on, allocator unset, pinned. Then: BLOCK_OK."""

import os
import sys

UNSET = ("SGLANG_OMNI_TORCH_COMPILE_DEFAULT", "PYTORCH_ALLOC_CONF")
SET = {
    "CUDA_VISIBLE_DEVICES": "0",
    "HF_HUB_OFFLINE": "1",
    "SGLANG_OMNI_STRICT_PORT": "1",
    "SGLANG_OMNI_STARTUP_TIMEOUT": "1800",
}


def cpus_of(text: str) -> set[int]:
    """The CPUs of a list such as `2-15,18`."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def problems() -> list[str]:
    """All that is different, in words."""
    wrong = [f"{name} is set to {os.environ[name]!r}; it must stay unset" for name in UNSET if name in os.environ]
    for name, value in SET.items():
        if os.environ.get(name) != value:
            wrong.append(f"{name} is {os.environ.get(name)!r}, not {value!r}")
    wanted, mine = cpus_of(os.environ.get("BENCH_CPUS", "")), os.sched_getaffinity(0)
    if mine != wanted:
        wrong.append(f"pinned to the CPUs {sorted(mine)}, not to BENCH_CPUS {sorted(wanted)}")
    return wrong


if __name__ == "__main__":
    found = problems()
    for line in found:
        print("wrong:", line)
    if found:
        sys.exit(1)
    print("torch compile is on, the allocator is PyTorch's default, pinned to BENCH_CPUS")
    print("BLOCK_OK")
