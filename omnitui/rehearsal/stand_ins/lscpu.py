"""Stand-in for `lscpu -p=CPU,CORE,NODE`: two nodes of 64 cores, on the CPUs that are really here.

A machine with two CPUs has no fourteen cores for each card. So the cores share the real CPUs among them: the
groups come out whole, and every CPU in them can be pinned to.
"""

import os
import subprocess
import sys

CORES = 128
THREADS = 2


def rows() -> list[tuple[int, int, int]]:
    """CPU, core and node of every hardware thread."""
    cpus = sorted(os.sched_getaffinity(0))
    return [
        (cpus[(core + thread * CORES) % len(cpus)], core, core // (CORES // 2))
        for thread in range(THREADS)
        for core in range(CORES)
    ]


def local_cpulist(node: int) -> str:
    """The CPUs of a node, as the kernel lists them."""
    return ",".join(map(str, sorted({cpu for cpu, _, of in rows() if of == node})))


def main(argv: list[str]) -> int:
    """Print the table that runbooks ask for; anything else is told by the real program."""
    if not any(word.startswith(("-p", "--parse")) for word in argv):
        return subprocess.call(["/usr/bin/lscpu", *argv])
    sys.stdout.write("# stand-in lscpu: cores that share the CPUs of this machine\n# CPU,Core,Node\n")
    sys.stdout.write("".join(f"{cpu},{core},{node}\n" for cpu, core, node in rows()))
    return 0
