"""Whether the GPUs of the run are there, and are enough for the deploy config."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from serving_said import say


class Layout(NamedTuple):
    """How a deploy config places the three stages."""

    gpus: int
    about: str


LAYOUTS = {
    "minicpmo_4_5.yaml": Layout(1, "all three stages on one GPU, with 55 %, 15 % and 18 % of its memory"),
    "minicpmo_4_5_2gpu.yaml": Layout(
        2, "Thinker on the first (90 %), Talker (55 %) and Code2Wav (35 %) on the second"
    ),
    "minicpmo_4_5_3gpu.yaml": Layout(3, "a GPU for each stage"),
    "minicpmo_4_5_8x4090.yaml": Layout(8, "the full layout of 8x4090"),
    "judge": Layout(1, "the judge needs one GPU to itself"),
}


class Gpu(NamedTuple):
    """One GPU as `nvidia-smi` lists it."""

    number: str
    uuid: str
    name: str


def parse_gpus(listing: str) -> list[Gpu]:
    """The GPUs of `nvidia-smi --query-gpu=index,uuid,name --format=csv,noheader`."""
    rows = [[cell.strip() for cell in line.split(",", 2)] for line in listing.splitlines()]
    return [Gpu(*row) for row in rows if len(row) == 3]


def layout_problems(deploy: str, wanted: Sequence[str], visible: Sequence[Gpu]) -> list[str]:
    """Why the layout does not fit on the GPUs named, with the counts."""
    needed, variable = LAYOUTS[deploy].gpus, variable_of(deploy)
    known = {key for gpu in visible for key in (gpu.number, gpu.uuid)}
    there = [gpu for gpu in wanted if gpu in known]
    problems = []
    if len(wanted) < needed or len(visible) < needed:
        problems.append(
            f"{deploy} needs {needed} GPU{'s' * (needed > 1)}; {variable} names {len(wanted)} "
            f"({','.join(wanted) or 'none'}) and {len(visible)} {'is' if len(visible) == 1 else 'are'} visible"
        )
    elif len(set(wanted)) < len(wanted):
        problems.append(f"{variable}={','.join(wanted)} names a GPU twice")
    if len(there) < len(wanted):
        missing = ", ".join(gpu for gpu in wanted if gpu not in known)
        problems.append(f"not visible: {missing}; visible are {', '.join(g.number for g in visible) or 'none'}")
    return problems


def visible_gpus() -> list[Gpu]:
    """What `nvidia-smi` lists now. Raises OSError or SubprocessError."""
    query = ["nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader"]
    return parse_gpus(subprocess.run(query, capture_output=True, text=True, timeout=30, check=True).stdout)


def variable_of(deploy: str) -> str:
    """The variable that names the GPUs of this layout."""
    return "JUDGE_GPU" if deploy == "judge" else "GPUS"


def main(deploy: str, gpus: str) -> int:
    """Say whether the GPUs named (separated by commas) are there and carry the layout."""
    wanted = [gpu.strip() for gpu in gpus.split(",") if gpu.strip()]
    layout = LAYOUTS[deploy]
    try:
        visible = visible_gpus()
    except (OSError, subprocess.SubprocessError) as error:
        return say("GPU_LAYOUT", [f"the GPUs cannot be read: {error}"])
    for gpu in visible:
        print(f"GPU {gpu.number}  {gpu.name}  {gpu.uuid}")
    print(f"{deploy}: {layout.about}")
    if len(wanted) > layout.gpus:
        print(f"{variable_of(deploy)} names {len(wanted)}; the first {layout.gpus} will be used")
    return say("GPU_LAYOUT", layout_problems(deploy, wanted, visible))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
