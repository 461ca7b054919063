"""Whether vLLM-Omni is installed with what MiniCPM-o's talker needs, and the checkout has what the page uses.

Runs in vLLM-Omni's Python, not in OmniTUI's.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from serving_said import say

SERVER = {"vllm": "vllm", "vllm-omni": "vllm_omni"}
TALKER = {"stepaudio2-minicpmo": "", "librosa": "librosa"}
"""Distribution, and the module that tells of it where its metadata are missing."""
EXAMPLES = "examples/online_serving/minicpmo"


def package_problems(packages: Mapping[str, str]) -> list[str]:
    """Which distributions are missing, in words. Prints the versions of the others."""
    problems = []
    for name, module in packages.items():
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Look at programs, packages and checkout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", action="store_true", help="before the talker's packages are installed")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("deploy")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args(arguments)
    problems = program_problems(options.programs)
    problems += package_problems(SERVER if options.before else {**SERVER, **TALKER})
    problems += checkout_problems(options.checkout, options.deploy)
    if options.before and not problems:
        return 0
    return say("INSTALLATION", problems)


if __name__ == "__main__":
    sys.exit(main())
