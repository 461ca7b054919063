"""Say whether the quickstart's packages are installed with their data; the last line is PACKAGES_OK."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections.abc import Mapping
from pathlib import Path

# Distribution to module.
PACKAGES: Mapping[str, str] = {
    "espeakng-loader": "espeakng_loader",
    "pocketsphinx": "pocketsphinx",
    "httpx": "httpx",
    "jiwer": "jiwer",
    "numpy": "numpy",
    "soundfile": "soundfile",
}
INSTALL = "pip install 'omnitui[quickstart]'"


def package_problems(packages: Mapping[str, str]) -> list[str]:
    """Import every package and print its version; return what is missing, one line each."""
    problems = []
    for distribution, module in packages.items():
        try:
            importlib.import_module(module)
            print(f"{distribution:<18}{importlib.metadata.version(distribution)}")
        # A package whose shared library is missing raises OSError.
        except (ImportError, OSError) as error:
            problems.append(f"{distribution} is missing or broken: {error}")
    return problems


def data_problems() -> list[str]:
    """Print where the voices and the speech model are; return what is missing, one line each."""
    import espeakng_loader  # noqa: PLC0415  (only once it is known to be there)
    import pocketsphinx  # noqa: PLC0415

    library = Path(espeakng_loader.get_library_path())
    voices = library.parent / "espeak-ng-data"
    model = Path(pocketsphinx.get_model_path()) / "en-us"
    print(f"espeak-ng data    {voices}")
    print(f"pocketsphinx model {model}")
    needed = [
        library,
        voices / "phontab",
        voices / "en_dict",
        model / "en-us" / "mdef",
        model / "cmudict-en-us.dict",
    ]
    return [f"{path} is not there" for path in needed if not path.is_file()]


def main() -> int:
    """Check packages, then their data; returns the exit status."""
    problems = package_problems(PACKAGES) or data_problems()
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        print(f"install what is missing with: {INSTALL}", file=sys.stderr)
        return 1
    print("PACKAGES_OK")
    return 0


if __name__ == "__main__":
    sys.exit(main())
