"""Stand-in for `docker`: containers are entries in a file. `exec` runs the command in the sandbox itself.

A container has one real process, its init: its pid is `State.Pid`, and the container runs as long as that lives.
A mounted folder is shown at its place in the container by a link.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from omnitui.rehearsal.stand_ins import docker_args, lingering, stage
from omnitui.rehearsal.stand_ins.docker_format import rendered

IN_CONTAINER = "OMNITUI_STAND_IN_CONTAINER"
"""Names the container in the environment of what runs in it."""
_OWN = ("PATH", "HOME", "TERM", "LANG", "PYTHONPATH", "OMNITUI_HOME", "OMNITUI_LOCKS", stage.VARIABLE)


class DockerError(Exception):
    """What the daemon would answer."""


def main(argv: list[str]) -> int:
    """`docker VERB ...`, as far as runbooks use it."""
    verbs: dict[str, Callable[[list[str]], int]] = {
        "run": _run, "exec": _exec, "inspect": _inspect, "ps": _ps, "start": _start, "stop": _stop,
        "restart": _restart, "rm": _rm, "version": _version, "info": _version, "image": _image, "pull": _pull,
        "logs": _pull,
    }  # fmt: skip
    words = argv[1:] if argv[:1] == ["container"] else argv
    if words[:1] in (["--version"], ["-v"]):
        words = ["version"]
    if not words or words[0] not in verbs:
        stage.say("docker", f"knows {', '.join(verbs)}; not {' '.join(argv[:2])!r}")
        return 1
    try:
        return verbs[words[0]](words[1:])
    except DockerError as error:
        sys.stderr.write(f"Error response from daemon (stand-in docker): {error}\n")
        return 1


# -- what is known ---------------------------------------------------------------------------------------------


def _file() -> Path:
    return stage.state() / "containers.json"


def _all() -> dict[str, dict[str, Any]]:
    known: dict[str, dict[str, Any]] = stage.read_json(_file(), {})
    return known


def _keep(known: dict[str, dict[str, Any]]) -> None:
    stage.write_json(_file(), known)


def _one(name: str) -> dict[str, Any]:
    for known, container in _all().items():
        if name in (known, container["id"], container["id"][:12]):
            return container
    raise DockerError(f"No such container: {name}")


def is_up(container: dict[str, Any]) -> bool:
    """Whether its init lives."""
    return container["start"] is not None and stage.start_of(container["pid"]) == container["start"]


# -- verbs -----------------------------------------------------------------------------------------------------


def _run(argv: list[str]) -> int:
    options, image, command = docker_args.split(argv)
    name = options.last("--name") or "stand-in"
    known = _all()
    if name in known:
        raise DockerError(f'Conflict. The container name "/{name}" is already in use')
    env = dict(entry.partition("=")[::2] for entry in options.all("--env"))
    for file in options.all("--env-file"):
        lines = Path(file).read_text().splitlines()
        env |= dict(line.partition("=")[::2] for line in lines if "=" in line and not line.startswith("#"))
    for entry in options.all("--env"):
        if "=" not in entry:
            env[entry] = os.environ.get(entry, "")
    mounts = [docker_args.mount(text) for text in [*options.all("--volume"), *options.all("--mount")]]
    container = {
        "name": name,
        "id": f"57a4d1e5{time.time_ns():x}".ljust(64, "0"),
        "image": image,
        "command": command,
        "env": env,
        "mounts": [m for m in mounts if m["Source"]],
        "gpus": docker_args.gpus(options.last("--gpus")),
        "cpuset": options.last("--cpuset-cpus"),
        "host": {
            "Init": options.has("--init"),
            "IpcMode": options.last("--ipc") or "private",
            "CapAdd": options.all("--cap-add"),
            "ShmSize": options.last("--shm-size"),
            "NetworkMode": options.last("--network") or "default",
        },
        "workdir": options.last("--workdir") or "/",
        "created": time.strftime("%Y-%m-%dT%H:%M:%S.000000000Z", time.gmtime()),
        "pid": 0,
        "start": None,
        "wanted": True,
    }
    known[name] = _begun(container)
    _keep(known)
    stage.say("docker", f"container {name} is up; its programs are stand-ins, too")
    sys.stdout.write(f"{container['id']}\n")
    return 0


def _begun(container: dict[str, Any]) -> dict[str, Any]:
    """The container with its folders shown and its init alive."""
    for mount in container["mounts"]:
        _show(Path(mount["Source"]), Path(mount["Destination"]))
    # The init of a real container is no child of the step that asked for it.
    env = {name: os.environ[name] for name in _OWN if name in os.environ}
    init = lingering.start(env={**env, IN_CONTAINER: container["name"]})
    return {
        **container, "pid": init.pid, "start": stage.start_of(init.pid), "wanted": True,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S.000000000Z", time.gmtime()),
    }  # fmt: skip


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


def _exec(argv: list[str]) -> int:
    options, name, command = docker_args.split(argv)
    container = _one(name)
    if not is_up(container):
        raise DockerError(f"container {container['id']} is not running")
    # What was given with -e, then what the container has, then what stand-ins need.
    env = {key: os.environ[key] for key in _OWN if key in os.environ}
    env |= {**container["env"], "NVIDIA_VISIBLE_DEVICES": ",".join(container["gpus"]) or "void"}
    for entry in options.all("--env"):
        key, equals, value = entry.partition("=")
        if equals or key in os.environ:
            env[key] = value if equals else os.environ[key]
    env[IN_CONTAINER] = container["name"]
    if options.has("--detach"):
        subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, start_new_session=True)
        return 0
    terminal = options.has("--tty")
    stdin = None if options.has("--interactive") else subprocess.DEVNULL
    workdir = options.last("--workdir") or container["workdir"]
    try:
        # Without a terminal the command is no child of the client's group: it outlives a client that dies.
        child = subprocess.Popen(command, env=env, stdin=stdin, cwd=workdir, start_new_session=not terminal)
    except OSError as error:
        sys.stderr.write(f"stand-in docker: exec failed: {command[0]}: {error.strerror}\n")
        return 127
    status = child.wait()
    return 128 - status if status < 0 else status


def _inspect(argv: list[str]) -> int:
    options, first, rest = docker_args.split(argv)
    form = options.last("--format")
    found = [_described(_one(name)) for name in [first, *rest]]
    if form:
        sys.stdout.write("".join(f"{rendered(form, one)}\n" for one in found))
    else:
        sys.stdout.write(json.dumps(found, indent=4) + "\n")
    return 0


def _described(container: dict[str, Any]) -> dict[str, Any]:
    up = is_up(container)
    gpus = container["gpus"]
    requests = [{"Driver": "", "Count": 0, "DeviceIDs": gpus, "Capabilities": [["gpu"]], "Options": {}}]
    return {
        "Id": container["id"],
        "Name": f"/{container['name']}",
        "Created": container["created"],
        "State": {
            "Status": "running" if up else "exited",
            "Running": up,
            "Paused": False,
            "Restarting": False,
            "OOMKilled": False,
            "Dead": False,
            "Pid": container["pid"] if up else 0,
            "ExitCode": 0 if up else 137,
            "StartedAt": container["started"],
        },
        "Image": f"sha256:{'57a4d1e5' * 8}",
        "Mounts": [{"Type": "bind", "Mode": "", "RW": True, **mount} for mount in container["mounts"]],
        "Config": {
            "Image": container["image"],
            "Env": [f"{name}={value}" for name, value in container["env"].items()],
            "Cmd": container["command"],
            "WorkingDir": container["workdir"],
        },
        "HostConfig": {
            **container["host"],
            "CpusetCpus": container["cpuset"],
            "DeviceRequests": requests if gpus else [],
            "Binds": [f"{mount['Source']}:{mount['Destination']}" for mount in container["mounts"]],
        },
        "NetworkSettings": {"Networks": {"bridge": {}}},
    }


def _ps(argv: list[str]) -> int:
    options, _, _ = docker_args.split(argv)
    form = options.last("--format") or "{{.Names}}\t{{.Image}}\t{{.Status}}"
    for container in _all().values():
        if is_up(container) or options.has("--all"):
            status = "Up (stand-in)" if is_up(container) else "Exited (137)"
            known = {"Names": container["name"], "Image": container["image"], "Status": status}
            row = {**known, "ID": container["id"][:12], "State": "running" if is_up(container) else "exited"}
            sys.stdout.write(f"{container['id'][:12] if options.has('--quiet') else rendered(form, row)}\n")
    return 0


def _start(argv: list[str]) -> int:
    for name in _names(argv):
        container = _one(name)
        if not is_up(container):
            _keep({**_all(), container["name"]: _begun(container)})
        sys.stdout.write(f"{name}\n")
    return 0


def _stop(argv: list[str]) -> int:
    for name in _names(argv):
        halt(name)
        sys.stdout.write(f"{name}\n")
    return 0


def halt(name: str) -> None:
    """End a container with everything in it; its programs get no warning."""
    container = _one(name)
    _keep({**_all(), container["name"]: {**container, "wanted": False}})
    mine = os.getpid()
    inside = [pid for pid in stage.pids() if stage.environ_of(pid).get(IN_CONTAINER) == container["name"]]
    for pid in [one for one in inside if one != mine] + [one for one in inside if one == mine]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        if pid == container["pid"]:
            stage.wait_for_death(pid, 5.0)


def revive() -> None:
    """Start the containers again that were up when the sandbox was left."""
    for name, container in _all().items():
        if container["wanted"] and not is_up(container):
            _keep({**_all(), name: _begun(container)})


def start_all() -> None:
    """Let every container be up from now on."""
    _keep({name: {**container, "wanted": True} for name, container in _all().items()})


def _restart(argv: list[str]) -> int:
    _stop(argv)
    sys.stdout.flush()
    for name in _names(argv):
        _keep({**_all(), name: _begun(_one(name))})
    return 0


def _rm(argv: list[str]) -> int:
    options, first, rest = docker_args.split(argv)
    for name in [first, *rest]:
        container = _one(name)
        if is_up(container) and not options.has("--force"):
            raise DockerError(f"cannot remove container {name}: container is running: stop it or use -f")
        if is_up(container):
            halt(name)
        for mount in container["mounts"]:
            shown = Path(mount["Destination"])
            if shown.is_symlink():
                shown.unlink()
        _keep({key: one for key, one in _all().items() if key != container["name"]})
        sys.stdout.write(f"{name}\n")
    return 0


def _names(argv: list[str]) -> list[str]:
    _, first, rest = docker_args.split(argv)
    return [first, *rest]


def _version(argv: list[str]) -> int:
    form = docker_args.split(argv)[0].last("--format")
    sys.stdout.write("0.0 (stand-in docker)\n" if form else "Docker version 0.0, stand-in docker\n")
    return 0


def _image(argv: list[str]) -> int:
    if argv[:1] == ["inspect"]:
        options, first, rest = docker_args.split(argv[1:])
        digests = [name for name in (first, *rest) if "@sha256:" in name]
        whole = [{"Id": "sha256:" + "57a4d1e5" * 8, "RepoDigests": digests}]
        sys.stdout.write(
            f"{json.dumps(digests if 'RepoDigests' in (options.last('--format') or '') else whole)}\n"
        )
        return 0
    return _pull(argv)


def _pull(argv: list[str]) -> int:
    stage.say("docker", "there is nothing to pull")
    return 0


def stop_here() -> NoReturn:
    """End the container that this process is in, as a reboot of its host does."""
    halt(os.environ.get(IN_CONTAINER, "stand-in"))
    raise SystemExit(137)
