"""Beginning a rehearsal, entering its sandbox, and leaving nothing behind when it is left."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from omnitui import store, supervise
from omnitui.errors import Blocked, JobError, StoreError, UsageError
from omnitui.model import REHEARSAL
from omnitui.places.local import Local, identity_of
from omnitui.probes.gpu import wanted_of
from omnitui.rehearsal import sandbox
from omnitui.rehearsal.faults import FAULTS
from omnitui.rehearsal.furnish import furnish
from omnitui.rehearsal.sandbox import Sandbox
from omnitui.rehearsal.stand_ins import containers, lingering, minicpmo_inputs, stage
from omnitui.runbook import load
from omnitui.runbook.gates import ContainerUp
from omnitui.runbook.narrow import of_run
from omnitui.runbook.schema import Command, Runbook
from omnitui.runbook.variables import BUILT_IN, expand, resolved
from omnitui.store import RunFolder
from omnitui.values import port_of, spec_of

NONE = "none"
_WITH_JOBS = 2 << 20
"""Bytes: enough for the jobs of a setup, too little for the speech of a pass."""
_ALONE = 12 << 10
"""Bytes: room for what a pass notes of itself and for the beginning of a log."""


def begin(
    name: str, given: Mapping[str, str], schedule: str | None, order: Sequence[str], fault: str = NONE
) -> RunFolder:
    """Make the run of a rehearsal and its sandbox. Raises `UsageError`, or `Blocked` where none can be made."""
    _known(fault, load.locate(name).name)
    sandbox.check()
    run = supervise.make_run(name, given, schedule, order, rehearsal=True)
    place = sandbox.of_run(run)
    with supervise.beginning(run):
        try:
            furnish(place)
            set_fault(run, fault)
        except BaseException as error:
            shutil.rmtree(place.path, ignore_errors=True)
            if isinstance(error, OSError | subprocess.CalledProcessError):
                raise StoreError(f"the sandbox {place.path} cannot be furnished: {error}") from error
            raise
    return run


def set_fault(run: RunFolder, fault: str) -> None:
    """Break something from now on, or nothing (`none`). Raises `UsageError`."""
    _known(fault, store.read(run).runbook)
    state = sandbox.of_run(run).state
    before = (state / "fault").read_text() if (state / "fault").exists() else NONE
    (state / "fault").write_text("" if fault == NONE else fault)
    minicpmo_inputs.write(sandbox.of_run(run).root, fault)
    (state / "full-disk").write_text(_full_disk(run) if fault == "disk-full" else "")
    if before == "reboot" and fault != before:
        # The host is up again, and somebody has started the container.
        (state / "start-again").touch()


def _known(fault: str, page: str) -> None:
    if fault in FAULTS and FAULTS[fault].page not in ("", page):
        raise UsageError(
            f"the fault {fault} is of the page {FAULTS[fault].page}, and {page} has nothing that it breaks; "
            "`omnitui rehearse --list-faults` tells which are of which"
        )
    if fault != NONE and fault not in FAULTS:
        near = get_close_matches(fault, [*FAULTS, NONE], n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else "`omnitui rehearse --list-faults` tells them all"
        raise UsageError(f"there is no fault {fault!r}; {hint}")


def _full_disk(run: RunFolder) -> str:
    """How many bytes the disk has that is full soon, and where it is mounted."""
    runbook, known = _known_values(run)
    folder = _output_folder(runbook, known)
    jobs = spec_of(runbook, runbook.passes.place, known).jobs
    # Jobs of the setup need room where they share the disk; without them it is full before the first result.
    size = _ALONE if jobs and not Path(jobs).is_relative_to(folder) else _WITH_JOBS
    return f"{size} {_on_host(runbook, known, folder)}"


def _output_folder(runbook: Runbook, known: Mapping[str, str]) -> str:
    """The folder below which the passes leave their output, as their place knows it and as far as it is known."""
    fixed = expand(runbook.passes.out, {**known, "SERIES": "${SERIES}", "PASS": "${PASS}"}).partition("$")[0]
    return fixed.rpartition("/")[0]


def _on_host(runbook: Runbook, known: Mapping[str, str], folder: str) -> str:
    for inside, outside in _mounts(runbook):
        # What a step has yet to hand on is not known; a stand-in's mount is one folder under both names.
        host = expand(outside, known)
        if "$" not in host and (folder == inside or folder.startswith(f"{inside}/")):
            return host + folder.removeprefix(inside)
    return folder


def _known_values(run: RunFolder) -> tuple[Runbook, dict[str, str]]:
    """The runbook, and its variables as far as they are known before anything has run."""
    state = store.read(run)
    runbook = of_run(run.runbook, state.variables)
    values = resolved(state.variables, {name: f"${{{name}}}" for name in BUILT_IN})
    return runbook, {name: f"${{{name}}}" for name in runbook.variables} | values


def _mounts(runbook: Runbook) -> list[tuple[str, str]]:
    steps = (step for phase in runbook.phases for step in phase.steps if isinstance(step, Command))
    gates = (gate for step in steps for gate in step.gates if isinstance(gate, ContainerUp))
    return [pair for gate in gates for pair in gate.mounts.items()]


def enter(run: RunFolder, arguments: Sequence[str]) -> int:
    """Run `omnitui ARGUMENTS` in the sandbox of a rehearsal; its exit code."""
    begun = sandbox.check()
    place = sandbox.of_run(run)
    if not place.root.is_dir():
        raise UsageError(f"{place.path} is gone, and with it the rehearsal {run.name}; start another one")
    if store.holder(run) is not None:
        raise Blocked(f"the rehearsal {run.name} is at work already; watch it with: omnitui attach {run.name}")
    clear(place)
    command = [sys.executable, "-m", "omnitui", *arguments]
    state = store.read(run)
    env = sandbox.environment(place, state.secrets, _of_container(run))
    if sys.stderr.isatty():
        sys.stderr.write("Laying out the sandbox; the rehearsal begins in some seconds.\n")
    child = subprocess.Popen(sandbox.argv(place, begun, command), env=env, cwd="/")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return child.wait()
    finally:
        signal.signal(signal.SIGINT, before)
        if store.holder(run) is None:
            clear(place)
        if arguments[0] == "rehearse" and (fault := (place.state / "fault").read_text()):
            lifted = f"omnitui rehearse --resume {run.name} --fault none"
            sys.stderr.write(f"The fault {fault} stays until it is lifted: {lifted}\n")


def _of_container(run: RunFolder) -> dict[str, str]:
    """Where OmniTUI itself is said to run in the container: what the page's `docker run` gives to that."""
    state = store.read(run)
    if state.variables.get("WHERE") != "local":
        return {}
    runbook, known = _known_values(run)
    count = len(wanted_of(expand(runbook.resources.gpus, known))) or 1
    cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    return {"NVIDIA_VISIBLE_DEVICES": ",".join(map(str, range(count))), "BENCH_CPUS": cpus, "CI_CPUS": cpus}


def inside(run: RunFolder) -> None:
    """What is to be done first in a sandbox: containers that were up are up again, and a port may be taken."""
    place = sandbox.sandbox_of()
    assert place is not None
    if stage.fault() == "port-taken":
        runbook, known = _known_values(run)
        for port in runbook.resources.ports:
            lingering.occupy(port_of(port, known))
    if stage.fault() == "demo-port-taken":
        lingering.occupy(port_of("${DEMO_PORT}", _known_values(run)[1]))
    again = place.state / "start-again"
    if again.exists():
        containers.start_all()
        again.unlink()
    containers.revive()


def clear(place: Sandbox) -> None:
    """End every process of a rehearsal, by its environment and its identity."""
    host = Local()

    def left() -> list[int]:
        return [
            process.pid
            for process in host.processes()
            if not process.zombie and (host.environ(process.pid) or {}).get(REHEARSAL) == str(place.path)
        ]

    until = time.monotonic() + 10.0
    while (found := [pid for pid in left() if pid != os.getpid()]) and time.monotonic() < until:
        for pid in found:
            try:
                host.signal(identity_of(pid), signal.SIGKILL)
            except JobError:
                continue
        time.sleep(0.02)
