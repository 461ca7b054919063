"""The containers of the stand-in for `docker`: entries in a file, each with one real process.

That is its init: its pid is `State.Pid`, and the container runs as long as it lives. A mounted folder is shown at
its place in the container by a link.
"""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from omnitui.rehearsal.stand_ins import lingering, stage

IN_CONTAINER = "OMNITUI_STAND_IN_CONTAINER"
"""Names the container in the environment of what runs in it."""
OWN = ("PATH", "HOME", "TERM", "LANG", "PYTHONPATH", "OMNITUI_HOME", "OMNITUI_LOCKS", stage.VARIABLE)
"""What stand-ins need in their environment."""
Container: TypeAlias = dict[str, Any]


class DockerError(Exception):
    """What the daemon would answer."""


def _file() -> Path:
    return stage.state() / "containers.json"


def known() -> dict[str, Container]:
    """All containers, by their names."""
    found: dict[str, Container] = stage.read_json(_file(), {})
    return found


def _keep(containers: dict[str, Container]) -> None:
    stage.write_json(_file(), containers)


def find(name: str) -> Container:
    """By its name or its id. Raises `DockerError`."""
    for other, container in known().items():
        if name in (other, container["id"], container["id"][:12]):
            return container
    raise DockerError(f"No such container: {name}")


def is_up(container: Container) -> bool:
    """Whether its init lives."""
    return container["start"] is not None and stage.start_of(container["pid"]) == container["start"]


def start(container: Container) -> None:
    """Show its folders, let its init live, and remember it."""
    for mount in container["mounts"]:
        _show(Path(mount["Source"]), Path(mount["Destination"]))
    # The init of a real container is no child of the step that asked for it.
    env = {name: os.environ[name] for name in OWN if name in os.environ}
    init = lingering.start(env={**env, IN_CONTAINER: container["name"]})
    begun = {
        **container, "pid": init.pid, "start": stage.start_of(init.pid), "wanted": True,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S.000000000Z", time.gmtime()),
    }  # fmt: skip
    _keep({**known(), container["name"]: begun})


def _show(source: Path, destination: Path) -> None:
    """Let the folder of the host be seen at its place in the container."""
    if not source.exists():
        source.mkdir(parents=True)
    if destination.exists() and destination.samefile(source):
        return
    if destination.is_symlink():
        destination.unlink()
    elif destination.is_dir():
        try:
            destination.rmdir()
        except OSError:
            # OmniTUI itself may lie below it: then the host's folder is the one that is only a link.
            _link(destination, source)
            return
    destination.parent.mkdir(parents=True, exist_ok=True)
    destination.symlink_to(source)


def _link(destination: Path, source: Path) -> None:
    try:
        source.rmdir()
    except OSError as error:
        why = f"{destination} and {source} both have content; a stand-in container cannot show one as the other"
        raise DockerError(why) from error
    source.symlink_to(destination)


def halt(name: str) -> None:
    """End a container with everything in it; its programs get no warning."""
    container = find(name)
    _keep({**known(), container["name"]: {**container, "wanted": False}})
    mine = os.getpid()
    inside = [pid for pid in stage.pids() if stage.environ_of(pid).get(IN_CONTAINER) == container["name"]]
    for pid in [one for one in inside if one != mine] + [one for one in inside if one == mine]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        if pid == container["pid"]:
            stage.wait_for_death(pid, 5.0)


def revive() -> None:
    """Start the containers again that were up when the sandbox was left."""
    for container in known().values():
        if container["wanted"] and not is_up(container):
            start(container)


def start_all() -> None:
    """Let every container be up from now on."""
    _keep({name: {**container, "wanted": True} for name, container in known().items()})


def forget(container: Container) -> None:
    """Take away the links to its folders, and its entry."""
    for mount in container["mounts"]:
        shown = Path(mount["Destination"])
        if shown.is_symlink():
            shown.unlink()
    _keep({key: one for key, one in known().items() if key != container["name"]})


def stop_here() -> NoReturn:
    """End the container that this process is in, as a reboot of its host does."""
    halt(os.environ.get(IN_CONTAINER, "stand-in"))
    raise SystemExit(137)
