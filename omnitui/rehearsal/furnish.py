"""Fills a new sandbox: stand-ins on the PATH, repositories to clone from, cards on a bus, a home folder."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from omnitui import store
from omnitui.rehearsal.sandbox import Sandbox, package_root
from omnitui.rehearsal.stand_ins import gpus, lscpu, minicpmo_inputs, pip

PROGRAMS: Mapping[str, str] = {
    "docker": "docker:main",
    "nvidia-smi": "nvidia_smi:main",
    "lscpu": "lscpu:main",
    "git": "git:main",
    "uv": "uv:main",
    "pip": "pip:main",
    "sgl-omni": "serve:main_sgl_omni",
    "vllm": "vllm:main",
    "ffprobe": "minicpmo_inputs:ffprobe",
    "hf": "hub:main",
    "huggingface-cli": "hub:main",
    "stand-in-venv": "venv:main",
}
"""The programs that are stood in for, and the function of `stand_ins` that does it."""
ORIGINS: Mapping[str, str] = {
    "sglang_omni": "https://github.com/sgl-project/sglang-omni.git",
    "vllm_omni": "https://github.com/vllm-project/vllm-omni.git",
}
"""Folders of `checkouts`, and the address that git believes to clone them from."""
_GIT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "stand-in",
    "GIT_AUTHOR_EMAIL": "stand-in@localhost",
    "GIT_COMMITTER_NAME": "stand-in",
    "GIT_COMMITTER_EMAIL": "stand-in@localhost",
}


def furnish(sandbox: Sandbox) -> None:
    """Make the folders of a sandbox and everything that stands in them."""
    for made in (sandbox.root, sandbox.programs, sandbox.state, sandbox.origins, sandbox.path / "locks"):
        store.make_folder(made)
    for top in ("root", "tmp", "run", "var", "home", "opt", "data"):
        (sandbox.root / top).mkdir()
    (sandbox.root / "tmp").chmod(0o1777)
    (sandbox.state / "nvidiactl").touch()
    for name, target in PROGRAMS.items():
        _program(sandbox.programs / name, target)
    for name in ("stand-in-python", "python"):
        _python(sandbox.programs / name)
    for name in ("vllm", "vllm-omni", "librosa"):
        pip.install(sandbox.state, name)
    _bus(sandbox.buses)
    checkouts = package_root() / "omnitui" / "rehearsal" / "checkouts"
    config = ["[user]", "name = stand-in", "email = stand-in@localhost", "[advice]", "detachedHead = false"]
    for folder, address in ORIGINS.items():
        if (checkouts / folder).is_dir():
            origin = _origin(sandbox.origins / f"{folder}.git", checkouts / folder)
            for spelled in (address, address.removesuffix(".git")):
                config += [f'[url "{origin}"]', f"insteadOf = {spelled}"]
    # A page that says nothing of cloning finds its checkout in place.
    shutil.copytree(checkouts / "vllm_omni", sandbox.root / "vllm-omni")
    minicpmo_inputs.write(sandbox.root)
    config += ["[safe]", "directory = *", ""]
    (sandbox.root / "root" / ".gitconfig").write_text("\n".join(config))


def _program(path: Path, target: str) -> None:
    module, _, function = target.partition(":")
    code = (
        f"import sys; sys.path.insert(0, {str(package_root())!r}); "
        f"from omnitui.rehearsal.stand_ins.{module} import {function} as main; sys.exit(main(sys.argv[1:]))"
    )
    # Without `site` a Python starts in ten milliseconds; stand-ins need the standard library alone.
    path.write_text(f'#!/bin/sh\n# stand-in for {path.name}\nexec {sys.executable} -S -c "{code}" "$@"\n')
    path.chmod(0o755)


def _python(path: Path) -> None:
    packages = package_root() / "omnitui" / "rehearsal" / "stand_ins" / "packages"
    installed = f"$OMNITUI_REHEARSAL/state/{pip.INSTALLED}"
    paths = f"{packages}:{packages.with_name('lib')}:{installed}:{package_root()}"
    path.write_text(
        f"#!/bin/sh\n# stand-in for the Python of an environment: stand-ins come before its packages\n"
        f'export PYTHONPATH="{paths}${{PYTHONPATH:+:$PYTHONPATH}}"\nexec {sys.executable} "$@"\n'
    )
    path.chmod(0o755)


def _bus(folder: Path) -> None:
    for card in gpus.all_cards():
        device = folder / "pci" / "devices" / card.bus[-12:].lower()
        device.mkdir(parents=True)
        (device / "numa_node").write_text(f"{card.node}\n")
        (device / "local_cpulist").write_text(f"{lscpu.local_cpulist(card.node)}\n")


def _origin(bare: Path, template: Path) -> Path:
    """A repository of two commits; the older has other dependencies, and so another environment."""
    work = bare.with_suffix(".work")
    shutil.copytree(template, work, ignore=shutil.ignore_patterns("__pycache__"))
    _git(work, "init", "--quiet", "--initial-branch", "main")
    project = work / "pyproject.toml"
    newer = project.read_text()
    project.write_text(newer.replace("stand-in-package==1.0", "stand-in-package==0.9"))
    for day, (text, content) in enumerate((("Older stand-in", project.read_text()), ("Stand-in", newer))):
        project.write_text(content)
        (work / "STAND_IN").write_text(f"{text}\n")
        _git(work, "add", "--all")
        stamp = f"{1_700_000_000 + day * 86_400} +0000"
        _git(work, "commit", "--quiet", "-m", text, GIT_AUTHOR_DATE=stamp, GIT_COMMITTER_DATE=stamp)
    _git(bare.parent, "clone", "--quiet", "--bare", str(work), str(bare))
    shutil.rmtree(work)
    return bare


def _git(folder: Path, *words: str, **env: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **_GIT, **env}, capture_output=True)
