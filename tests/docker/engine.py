"""A real Docker engine of the tests' own: its data, its socket and its image, in a folder that goes with it.

`python -m tests.docker.engine` says whether this machine can run one, and why not.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

IMAGE = "omnitui-test:1"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "omnitui-tests"
_PACKAGES = "bash,python3,procps,curl"


class NoEngine(Exception):
    """This machine cannot run one."""


@dataclass(frozen=True)
class Engine:
    """A running engine. `folder` may be read by every user, as a benchmark's results may."""

    folder: Path

    @property
    def host(self) -> str:
        """The value of `DOCKER_HOST`."""
        return f"unix://{self.folder}/docker.sock"

    def docker(self, *arguments: str) -> str:
        """What a command of the client printed."""
        done = subprocess.run(
            ["docker", *arguments],
            env={**os.environ, "DOCKER_HOST": self.host},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            raise NoEngine(f"docker {' '.join(arguments[:2])}: {done.stderr.strip()}")
        return done.stdout.strip()


def rootfs() -> Path:
    """A small Debian as a tar file, made once and kept: a minute of work, and of downloads."""
    kept = CACHE / "bookworm.tar"
    if kept.exists():
        return kept
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", f"--include={_PACKAGES}", "bookworm", f"{folder}/root"],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            raise NoEngine(f"debootstrap: {(made.stderr.strip() or made.stdout.strip())[-300:]}")
        subprocess.run(["tar", "-C", f"{folder}/root", "-cf", f"{folder}/tar", "."], check=True)
        Path(folder, "tar").rename(kept)
    return kept


@contextmanager
def running() -> Iterator[Engine]:
    """An engine with the image, while the block lasts. Raises `NoEngine`."""
    missing = [name for name in ("dockerd", "debootstrap", "docker") if not shutil.which(name)]
    if missing:
        raise NoEngine(f"{missing[0]} is not installed: apt-get install docker.io debootstrap")
    if os.geteuid() != 0:
        raise NoEngine("an engine of one's own needs root")
    # A socket's path has at most 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="omnitui-docker-"))
    folder.chmod(0o755)
    engine = Engine(folder)
    # Tests that are killed must not leave an engine behind.
    argv = ["setpriv", "--pdeathsig", "TERM", "dockerd", "-H", engine.host]
    argv += ["--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec"]
    argv += ["--pidfile", f"{folder}/pid", "--storage-driver=vfs", "--bridge=none"]
    argv += ["--iptables=false", "--ip6tables=false"]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait_for(engine, process)
        engine.docker("import", str(rootfs()), IMAGE)
        yield engine
    finally:
        _end(engine, process)


def _wait_for(engine: Engine, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 30
    while True:
        if process.poll() is not None:
            raise NoEngine(f"dockerd: {_last_line(engine)}")
        try:
            engine.docker("info")
        except NoEngine:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return


def _last_line(engine: Engine) -> str:
    lines = (engine.folder / "log").read_text(errors="replace").splitlines()
    return lines[-1][-300:] if lines else "it said nothing"


def _end(engine: Engine, process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        for container in engine.docker("ps", "--all", "--quiet").split():
            engine.docker("rm", "--force", container)
        process.terminate()
        process.wait(30)
    # The engine leaves the host's own network mounted there.
    subprocess.run(["umount", f"{engine.folder}/exec/netns/default"], capture_output=True, check=False)
    shutil.rmtree(engine.folder, ignore_errors=True)


def main() -> int:
    """0 when containers run here."""
    try:
        with running() as engine:
            print(engine.docker("run", "--rm", "--network", "host", IMAGE, "echo", "containers run here"))
    except NoEngine as error:
        print(error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
