"""A stand-in environment: OmniTUI's own Python, with stand-ins in front of the packages that it would need.

python -m omnitui.rehearsal.stand_ins.venv FOLDER
"""

import sys
from pathlib import Path

from omnitui.rehearsal.stand_ins import stage

FREEZE = "stand-in-package==1.0\n"
"""What every stand-in environment says is installed."""
NEWER = "stand-in-package==1.1\n"
"""The same, after somebody has installed something else."""
PROGRAMS = ("sgl-omni", "vllm", "hf", "huggingface-cli")
"""Programs that an environment has beside its Python; they stand in the sandbox's own folder of programs, too."""


def freeze() -> str:
    """What is installed. Once it was read it becomes another one, if that is the fault that is set."""
    read = stage.state() / "freeze-read"
    newer = read.exists() and stage.fault() == "freeze-differs"
    read.touch()
    return NEWER if newer else FREEZE


def make(folder: Path) -> None:
    """Make an environment that `. FOLDER/bin/activate` takes into use."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(parents=True, exist_ok=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for name in {version, "python3.12"}:
        (folder / "lib" / name / "site-packages").mkdir(parents=True, exist_ok=True)
    (folder / "pyvenv.cfg").write_text("# stand-in environment of an OmniTUI rehearsal\n")
    activate = _ACTIVATE.replace("@FOLDER@", str(folder.absolute()))
    (bin_folder / "activate").write_text(activate)
    for name in ("python", "python3"):
        _program(bin_folder / name, 'exec "$OMNITUI_REHEARSAL/bin/stand-in-python" "$@"')
    _program(bin_folder / "pip", 'exec "$OMNITUI_REHEARSAL/bin/stand-in-python" -m pip "$@"')
    for name in PROGRAMS:
        _program(bin_folder / name, f'exec "$OMNITUI_REHEARSAL/bin/{name}" "$@"')


def _program(path: Path, line: str) -> None:
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n# stand-in\n{line}\n")
    path.chmod(0o755)


_ACTIVATE = """\
# stand-in environment
deactivate() { PATH=${_STAND_IN_PATH:-$PATH}; export PATH; unset VIRTUAL_ENV; unset -f deactivate; }
_STAND_IN_PATH=$PATH
VIRTUAL_ENV=@FOLDER@
PATH=$VIRTUAL_ENV/bin:$PATH
export VIRTUAL_ENV PATH
"""


def main(argv: list[str]) -> int:
    """Make an environment at the folder that is named."""
    make(Path(argv[0]))
    stage.say("venv", f"made a stand-in environment at {argv[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
