"""Write down what two runs must share to be compared, into session.txt of a folder, and hand it on.

Argument: the folder. What cannot be read is `unknown`; `none` means that it was looked for and is not there.
"""

import hashlib
import os
import re
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path

MPS = "nvidia-cuda-mps"
HUB = Path("/root/.cache/huggingface/hub")
UNPINNED = {
    "SEEDTTS_50": "datasets--zhaochenyang20--seed-tts-eval-50-arrow",
    "MMMU_CI_50": "datasets--zhaochenyang20--mmmu-ci-50",
    "MMSU_CI_2000": "datasets--zhaochenyang20--mmsu-ci-2000",
}


def text_of(path: str) -> str:
    """A small file, or `unknown`."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return "unknown"


def one_line(value: str) -> str:
    """A value that may be handed on: without line ends, and without what would be taken for a variable."""
    return " ".join(value.split()).replace("${", "$ {")


def container_id(mounts: str) -> str:
    """The id of the container whose files are mounted here, else the host's name, which is its short id."""
    found = re.search(r"/containers/([0-9a-f]{64})/", mounts)
    return found[1] if found else socket.gethostname()


def started(stat: str) -> str:
    """When pid 1 started, in clock ticks since boot: another start of the container is another session."""
    fields = stat.rpartition(")")[2].split()
    return fields[19] if len(fields) > 19 else "unknown"


def mps() -> str:
    """Whether CUDA's multi process service is at work: in the environment, as a process, or by its pipe."""
    pipe = os.environ.get("CUDA_MPS_PIPE_DIRECTORY")
    if pipe or Path("/tmp/nvidia-mps/control").exists():
        return f"on ({pipe or '/tmp/nvidia-mps'})"
    commands = (text_of(f"/proc/{entry.name}/comm") for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return "on (a control process runs)" if any(command.startswith(MPS) for command in commands) else "off"


def gpu() -> str:
    """Name, UUID and driver of the GPU that is measured."""
    query = ["nvidia-smi", "-i", "0", "--query-gpu=name,uuid,driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    return done.stdout.strip() if done.returncode == 0 and done.stdout.strip() else "unknown"


def compile_cache() -> str:
    """What the first server finds: run0 is there to fill the cache, and later runs were checked to be warm."""
    if os.environ.get("COLD_START") == "yes":
        return "cold"
    return "as run0 finds it" if os.environ.get("PASS") == "run0" else "warm"


def packages() -> str:
    """The freeze list of this environment."""
    pairs = {f"{d.metadata['Name']}=={d.version}" for d in metadata.distributions() if d.metadata["Name"]}
    return "".join(f"{pair}\n" for pair in sorted(pairs))


def facts(freeze: str) -> dict[str, str]:
    """All that is recorded, by name."""
    environment = os.environ.get
    found = {
        "BOOT": text_of("/proc/sys/kernel/random/boot_id"),
        "HOST_BOOT": environment("HOST_BOOT", "unknown"),
        "ALLOCATION": environment("ALLOCATION", "unknown"),
        "CONTAINER": container_id(text_of("/proc/self/mountinfo")),
        "CONTAINER_STARTED": started(text_of("/proc/1/stat")),
        "GPU": gpu(),
        "CPUS": ",".join(map(str, sorted(os.sched_getaffinity(0)))),
        "MPS": mps(),
        "SEED": environment("SEED") or "none, as CI",
        "TORCH_COMPILE": environment("SGLANG_OMNI_TORCH_COMPILE_DEFAULT", "on (unset)"),
        "ALLOC_CONF": environment("PYTORCH_ALLOC_CONF", "unset"),
        "COMPILE_CACHE": compile_cache(),
        "PACKAGES": hashlib.sha256(freeze.encode()).hexdigest()[:16],
    }
    heads = {f"HEAD_{name}": HUB / folder / "refs" / "main" for name, folder in UNPINNED.items()}
    return found | {name: text_of(str(file)) for name, file in heads.items() if file.exists()}


def main() -> int:
    """Write, print, hand on."""
    folder, freeze = Path(sys.argv[1]), packages()
    (folder / "packages.txt").write_text(freeze)
    text = "".join(f"SESSION_{name}={one_line(value)}\n" for name, value in facts(freeze).items())
    (folder / "session.txt").write_text(text)
    with open(os.environ["OMNITUI_ENV"], "a", encoding="utf-8") as handed:
        handed.write(text)
    print(text + "SESSION_RECORDED")
    return 0


if __name__ == "__main__":
    sys.exit(main())
