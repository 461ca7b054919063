"""The sandbox: a mount namespace whose root is a folder of the rehearsal, made by bubblewrap.

Programs and libraries are the host's, read-only. Everything that a page may write to (`/results`, `/root`, `/tmp`,
...) lies in the rehearsal's own folder and outlives the sandbox. There is no network but loopback.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import omnitui
from omnitui import store
from omnitui.actions.patience import VARIABLE as PATIENCE
from omnitui.errors import Blocked
from omnitui.model import REHEARSAL
from omnitui.store import RunFolder

_SYSTEM = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc", "nix", "gnu")
_KEPT = ("TERM", "COLORTERM", "LANG", "LC_ALL", "LC_CTYPE", "COLUMNS", "LINES", PATIENCE)


@dataclass(frozen=True)
class Sandbox:
    """The names in a rehearsal's folder, `<home>/rehearsals/<run>`."""

    path: Path

    @property
    def root(self) -> Path:
        """The root of the file system that the rehearsal sees."""
        return self.path / "root"

    @property
    def programs(self) -> Path:
        """The stand-ins, first on the PATH."""
        return self.path / "bin"

    @property
    def state(self) -> Path:
        """What stand-ins know: cards, containers, the fault that is set."""
        return self.path / "state"

    @property
    def origins(self) -> Path:
        """The repositories that git clones from."""
        return self.path / "origins"

    @property
    def buses(self) -> Path:
        """Shown as `/sys/bus`."""
        return self.path / "sys-bus"


def of_run(run: RunFolder) -> Sandbox:
    """The sandbox of a run that is a rehearsal."""
    return Sandbox(store.home() / "rehearsals" / run.name)


def package_root() -> Path:
    """The folder that the package `omnitui` lies in."""
    return Path(omnitui.__file__).parents[1]


def check() -> list[str]:
    """The beginning of a bwrap command that works here. Raises `Blocked` saying what is missing."""
    bwrap = shutil.which("bwrap")
    if not bwrap:
        raise Blocked("a rehearsal needs bubblewrap, which is not installed: apt install bubblewrap")
    if not shutil.which("git"):
        raise Blocked("a rehearsal needs git, which is not installed: apt install git")
    said = ""
    for begin in ([bwrap, "--unshare-user", "--uid", "0", "--gid", "0"], [bwrap]):
        if begin == [bwrap] and os.geteuid() != 0:
            continue
        tried = subprocess.run(
            [*begin, "--unshare-net", "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False
        )
        if tried.returncode == 0:
            return begin
        said = said or tried.stderr.strip()
    raise Blocked(f"namespaces are not allowed here ({said}); {_how_to_allow()}")


def _how_to_allow() -> str:
    ways = []
    if _number("/proc/sys/kernel/unprivileged_userns_clone") == 0:
        ways.append("sysctl -w kernel.unprivileged_userns_clone=1")
    if _number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1:
        ways.append("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0")
    if _number("/proc/sys/user/max_user_namespaces") == 0:
        ways.append("sysctl -w user.max_user_namespaces=10000")
    if ways:
        return f"allow them as root: {'; '.join(ways)}"
    return "in a container, start it with --privileged or --security-opt seccomp=unconfined"


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return None


def argv(sandbox: Sandbox, begin: Iterable[str], command: Iterable[str]) -> list[str]:
    """The bwrap command that runs `command` in the sandbox."""
    words = [*begin, "--unshare-net", "--bind", str(sandbox.root), "/"]
    for name in _SYSTEM:
        words += _as_here(Path("/") / name, sandbox.root / name)
    words += ["--proc", "/proc", "--dev", "/dev", "--ro-bind", str(sandbox.state / "nvidiactl"), "/dev/nvidiactl"]
    for entry in sorted(Path("/sys").iterdir()):
        words += [] if entry.name == "bus" else ["--ro-bind-try", str(entry), str(entry)]
    words += ["--ro-bind", str(sandbox.buses), "/sys/bus"]
    for path in _own_paths():
        words += ["--ro-bind", str(path), str(path)]
    words += ["--bind", str(store.home()), str(store.home())]
    return [*words, *_full_disk(sandbox), "--chdir", "/root", "--", *command]


def _as_here(path: Path, shown: Path) -> list[str]:
    if path.is_symlink():
        return [] if shown.is_symlink() else ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)] if path.is_dir() else []


def _own_paths() -> list[Path]:
    """Where OmniTUI and its Python lie, as far as the system's folders do not hold them already."""
    wanted = {
        Path(path) for path in (sys.prefix, sys.base_prefix, sys.exec_prefix, *sys.path) if Path(path).is_dir()
    }
    wanted |= {package_root()}
    system = [Path("/") / name for name in _SYSTEM]
    outside = sorted(one for one in wanted if one != Path("/") and not any(one.is_relative_to(s) for s in system))
    return [one for one in outside if not any(one != other and one.is_relative_to(other) for other in outside)]


def _full_disk(sandbox: Sandbox) -> list[str]:
    try:
        size, _, small = (sandbox.state / "full-disk").read_text().strip().partition(" ")
    except OSError:
        return []
    return ["--size", size, "--tmpfs", small] if small else []


def environment(sandbox: Sandbox, secrets: Iterable[str], more: Mapping[str, str]) -> dict[str, str]:
    """The environment in the sandbox: little of the operator's, and nothing that leads out of it.

    Secrets have made-up values: stand-ins need no real ones, and may write down what they are given. `more` comes
    last.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    ours = package_root() / "omnitui" / "rehearsal" / "stand_ins" / "lib"
    paths = [str(ours), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        **kept,
        "PATH": f"{sandbox.programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "USER": "root",
        "PYTHONPATH": os.pathsep.join(paths),
        "OMNITUI_HOME": str(store.home()),
        "OMNITUI_LOCKS": str(sandbox.path / "locks"),
        REHEARSAL: str(sandbox.path),
        **{name: f"stand-in-{name.lower()}" for name in secrets},
        **more,
    }


def sandbox_of(environ: Mapping[str, str] = os.environ) -> Sandbox | None:
    """The sandbox that this process is in, or None."""
    given = environ.get(REHEARSAL)
    return Sandbox(Path(given)) if given else None
