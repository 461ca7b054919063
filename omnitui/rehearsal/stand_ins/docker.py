"""Stand-in for `docker`, as far as runbooks use it. `exec` runs the command in the sandbox itself."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from omnitui.rehearsal.stand_ins import containers, docker_args, stage
from omnitui.rehearsal.stand_ins.containers import Container, DockerError, is_up
from omnitui.rehearsal.stand_ins.docker_format import rendered


def main(argv: list[str]) -> int:
    """`docker VERB ...`; the exit status."""
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


def _run(argv: list[str]) -> int:
    options, image, command = docker_args.split(argv)
    name = options.last("--name") or "stand-in"
    if name in containers.known():
        raise DockerError(f'Conflict. The container name "/{name}" is already in use')
    mounts = [docker_args.mount(text) for text in [*options.all("--volume"), *options.all("--mount")]]
    container = {
        "name": name,
        "id": f"57a4d1e5{time.time_ns():x}".ljust(64, "0"),
        "image": image,
        "command": command,
        "env": _environment(options),
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
    containers.start(container)
    stage.say("docker", f"container {name} is up; its programs are stand-ins, too")
    sys.stdout.write(f"{container['id']}\n")
    return 0


def _environment(options: docker_args.Options) -> dict[str, str]:
    env = dict(entry.partition("=")[::2] for entry in options.all("--env"))
    for file in options.all("--env-file"):
        lines = Path(file).read_text().splitlines()
        env |= dict(line.partition("=")[::2] for line in lines if "=" in line and not line.startswith("#"))
    # A name alone takes the value that it has here.
    return env | {entry: os.environ.get(entry, "") for entry in options.all("--env") if "=" not in entry}


def _exec(argv: list[str]) -> int:
    options, name, command = docker_args.split(argv)
    container = containers.find(name)
    if not is_up(container):
        raise DockerError(f"container {container['id']} is not running")
    # What was given with -e, then what the container has, then what stand-ins need.
    env = {key: os.environ[key] for key in containers.OWN if key in os.environ}
    env |= {**container["env"], "NVIDIA_VISIBLE_DEVICES": ",".join(container["gpus"]) or "void"}
    for entry in options.all("--env"):
        key, equals, value = entry.partition("=")
        if equals or key in os.environ:
            env[key] = value if equals else os.environ[key]
    env[containers.IN_CONTAINER] = container["name"]
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
    found = [_described(containers.find(name)) for name in [first, *rest]]
    if form:
        sys.stdout.write("".join(f"{rendered(form, one)}\n" for one in found))
    else:
        sys.stdout.write(json.dumps(found, indent=4) + "\n")
    return 0


def _described(container: Container) -> Container:
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
    for container in containers.known().values():
        up = is_up(container)
        if up or options.has("--all"):
            row = {
                "Names": container["name"],
                "Image": container["image"],
                "Status": "Up (stand-in)" if up else "Exited (137)",
                "ID": container["id"][:12],
                "State": "running" if up else "exited",
            }
            sys.stdout.write(f"{row['ID'] if options.has('--quiet') else rendered(form, row)}\n")
    return 0


def _start(argv: list[str]) -> int:
    for name in _names(argv):
        container = containers.find(name)
        if not is_up(container):
            containers.start(container)
        sys.stdout.write(f"{name}\n")
    return 0


def _stop(argv: list[str]) -> int:
    for name in _names(argv):
        containers.halt(name)
        sys.stdout.write(f"{name}\n")
    return 0


def _restart(argv: list[str]) -> int:
    _stop(argv)
    sys.stdout.flush()
    for name in _names(argv):
        containers.start(containers.find(name))
    return 0


def _rm(argv: list[str]) -> int:
    options, first, rest = docker_args.split(argv)
    for name in [first, *rest]:
        container = containers.find(name)
        if is_up(container) and not options.has("--force"):
            raise DockerError(f"cannot remove container {name}: container is running: stop it or use -f")
        if is_up(container):
            containers.halt(name)
        containers.forget(container)
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
