"""Whether vLLM-Omni is installed with what MiniCPM-o's talker needs, and the checkout has what the page uses.

Runs in vLLM-Omni's Python, not in OmniTUI's.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from serving_said import say

PACKAGES = {"vllm": "vllm", "vllm-omni": "vllm_omni", "stepaudio2-minicpmo": "", "librosa": "librosa"}
"""Distribution, and the module that must be found; one without a name is only looked up as a distribution."""
EXAMPLES = "examples/online_serving/minicpmo"


def package_problems() -> list[str]:
    """Which distributions are missing, in words. Prints the versions of the others."""
    problems = []
    for name, module in PACKAGES.items():
        try:
            print(f"{name:<22}{importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            if not module or importlib.util.find_spec(module) is None:
                problems.append(f"{name} is not installed")
                continue
            print(f"{name:<22}(no version)")
    return problems


def program_problems(programs: Sequence[str]) -> list[str]:
    """Which programs are not on the PATH."""
    return [f"{program} is not on the PATH" for program in programs if not shutil.which(program)]


def checkout_problems(checkout: Path, deploy: str) -> list[str]:
    """What the checkout lacks."""
    needed = [checkout / EXAMPLES, checkout / "vllm_omni/deploy" / deploy]
    return [f"{path} is not there" for path in needed if not path.exists()]


def main(checkout: str, deploy: str, programs: Sequence[str]) -> int:
    """Look at packages, programs and checkout."""
    problems = [*program_problems(programs), *package_problems(), *checkout_problems(Path(checkout), deploy)]
    return say("INSTALLATION", problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
