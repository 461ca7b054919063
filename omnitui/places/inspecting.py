"""What Docker's engine tells of a container: only the fields that are asked for, never its environment."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from posixpath import normpath
from typing import Any

from omnitui.containers import ContainerReading

FIELDS = (
    ".Id",
    ".Image",
    ".Config.Image",
    ".State.Running",
    ".State.StartedAt",
    ".HostConfig.CpusetCpus",
    ".HostConfig.DeviceRequests",
    ".Mounts",
)
FORMAT = "\n".join(f"{{{{json {field}}}}}" for field in FIELDS)
DIGESTS = "{{json .RepoDigests}}"
_PATIENCE_S = 10.0
_MISSING = ("no such container", "no such object")


def inspect(docker: str, name: str) -> ContainerReading:
    """Ask the engine. A container that is not there has no id; an engine that does not answer is an error."""
    told = _ask(docker, "inspect", "--type", "container", "--format", FORMAT, name)
    if isinstance(told, str):
        if any(words in told.lower() for words in _MISSING):
            return ContainerReading(name=name)
        return ContainerReading(name=name, error=f"docker does not tell of container {name}: {told}")
    if len(told) != len(FIELDS):
        return ContainerReading(name=name, error=f"docker tells {len(told)} fields of container {name}")
    digests = _ask(docker, "image", "inspect", "--format", DIGESTS, str(told[1]))
    known = digests[0] if not isinstance(digests, str) and digests and digests[0] else []
    return reading_of(name, dict(zip(FIELDS, told, strict=True)), known)


def reading_of(name: str, told: Mapping[str, Any], digests: list[str]) -> ContainerReading:
    """The reading from the fields that the engine told."""
    gpus = [request for request in told[".HostConfig.DeviceRequests"] or [] if _is_gpu(request)]
    ids = [one for request in gpus for one in request.get("DeviceIDs") or _counted(request)]
    mounts = {one["Destination"]: one["Source"] for one in told[".Mounts"] or [] if one.get("Source")}
    return ContainerReading(
        name=name,
        id=told[".Id"],
        running=told[".State.Running"],
        started=told[".State.StartedAt"],
        image=told[".Config.Image"],
        digests=(*digests, told[".Image"]),
        gpus=tuple(ids),
        cpuset=told[".HostConfig.CpusetCpus"],
        mounts=mounts,
    )


def _is_gpu(request: Mapping[str, Any]) -> bool:
    return any("gpu" in capabilities for capabilities in request.get("Capabilities") or [])


def _counted(request: Mapping[str, Any]) -> list[str]:
    count = request.get("Count", 0)
    return ["all"] if count == -1 else [f"any {count}"]


def _ask(docker: str, *arguments: str) -> list[Any] | str:
    """The JSON values of the lines that docker printed, or why there are none."""
    try:
        done = subprocess.run(
            [docker, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_PATIENCE_S:g} s"
    except OSError as error:
        return str(error)
    if done.returncode:
        return " ".join((done.stderr.strip() or f"exit status {done.returncode}").split())[:300]
    try:
        return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
    except ValueError:
        return f"no JSON: {done.stdout[:100]!r}"


def on_host(mounts: Mapping[str, str], path: str) -> Path | None:
    """Where a path of the container lies on the host, through the mount that is nearest to it."""
    wanted = PurePosixPath(normpath(path))
    below = [inside for inside in mounts if wanted.is_relative_to(inside)]
    if not below:
        return None
    nearest = max(below, key=lambda inside: len(PurePosixPath(inside).parts))
    return Path(mounts[nearest], wanted.relative_to(nearest))
