"""What is wrong with the steps of a runbook, and the small checks that all of it shares."""

import math
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from omnitui.runbook.gates import AssetsCached, ContainerUp, Coverage, Gate, Output, Remedy
from omnitui.runbook.part import Part
from omnitui.runbook.remedies import remedies_of
from omnitui.runbook.schema import Command, Confirm, Phase, Runbook, Serve, Step, Stop
from omnitui.runbook.shell import script_problems

_SCRIPT = re.compile(r"\$\{?RUNBOOK\}?/([\w./-]+)")

Problem = tuple[str, str]
"""The key path, and what is wrong there."""


def phase_problems(folder: Path, runbook: Runbook, phase: Phase, key: str) -> Iterator[Problem]:
    """What is wrong with the steps of a phase."""
    labels = {entry.partition("/")[2] for schedule in runbook.schedules for entry in schedule.order}
    for index, step in enumerate(phase.steps):
        at = f"{key}.steps[{index}]({step.id})"
        yield from _step(folder, runbook, step, at)
        for label in step.skip_passes:
            yield from known(f"{at}.skip_passes", label, labels, "pass")
        if step.redo == "pass" and phase.per != "pass":
            yield f"{at}.redo", "only a step of a pass can begin its pass again"
        if isinstance(step, Command) and step.progress:
            yield from _progress(step.progress.files, f"{at}.progress", in_pass=phase.per == "pass")


def _progress(files: str, at: str, *, in_pass: bool) -> Iterator[Problem]:
    if not in_pass:
        yield at, "only a pass has an output folder whose files can be counted"
    if not files or files.startswith("/") or ".." in files.split("/"):
        yield f"{at}.files", f"{files!r} is no glob below the output folder"


def seconds(at: str, part: Part) -> Iterator[Problem]:
    """Fields in seconds that are none."""
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if name.endswith("_s") and not (math.isfinite(value) and value >= 0):
            yield f"{at}.{name}", f"{value} is no number of seconds"


def _step(folder: Path, runbook: Runbook, step: Step, at: str) -> Iterator[Problem]:
    yield from seconds(at, step)
    for gate in step.gates:
        yield from seconds(f"{at}.gates", gate)
    if step.env:
        yield from known(f"{at}.env", step.env, set(runbook.environments), "environment")
    for name in step.go_on:
        yield from known(f"{at}.go_on", name, {_called(gate) for gate in step.gates}, "gate")
    if step.go_on and not isinstance(step, Command):
        yield f"{at}.go_on", "only a command may be red and let the run go on"
    if isinstance(step, Serve | Stop):
        yield from known(f"{at}.server", step.server, set(runbook.servers), "server")
    scripts = [("run", step.run)] if isinstance(step, Command | Serve) else []
    if isinstance(step, Command) and step.satisfied_by:
        scripts.append(("satisfied_by.run", step.satisfied_by.run))
    scripts += [("remedies.run", remedy.run) for remedy in _remedies(runbook, step)]
    for field, text in scripts:
        yield from script_problems(f"{at}.{field}", text)
        for name in _SCRIPT.findall(text):
            if not (folder / name).exists():
                yield f"{at}.{field}", f"there is no {name} in the runbook's folder"
    yield from _gates(runbook, step, at)


def _remedies(runbook: Runbook, step: Step) -> tuple[Remedy, ...]:
    known = not isinstance(step, Serve) or step.server in runbook.servers
    return remedies_of(runbook, step) if known else ()


def _called(gate: Gate) -> str:
    return (gate.name or gate.word or gate.pattern) if isinstance(gate, Output) else gate.word


def _gates(runbook: Runbook, step: Step, at: str) -> Iterator[Problem]:
    words = [(gate.word or gate.pattern) if isinstance(gate, Output) else gate.word for gate in step.gates]
    for word in filter(None, dict.fromkeys(words)):
        if words.count(word) > 1:
            # Verdicts are kept by word: one would hide the other.
            yield f"{at}.gates", f"{words.count(word)} gates are called {word}; give each a word of its own"
    for number, gate in enumerate(step.gates):
        where = f"{at}.gates[{number}]"
        if isinstance(step, Serve | Confirm) or (isinstance(step, Stop) and isinstance(gate, Output)):
            yield where, f"a {type(step).__name__.lower()} step is not judged by such a gate; it would be ignored"
        if isinstance(gate, Output):
            yield from _output(gate, where)
        elif isinstance(gate, ContainerUp):
            yield from known(f"{where}.place", gate.place, set(runbook.places), "place")
        elif isinstance(gate, AssetsCached):
            for one in gate.assets:
                yield from known(f"{where}.assets", one, {asset.id for asset in runbook.assets}, "asset")
        elif isinstance(gate, Coverage) and not runbook.workloads:
            yield where, "coverage needs at least one workload"


def _output(gate: Output, at: str) -> Iterator[Problem]:
    if not gate.word and not gate.pattern:
        yield at, "an output gate needs a word or a pattern"
    if not compiles(gate.pattern):
        yield f"{at}.pattern", f"not a regular expression: {gate.pattern}"
    elif gate.equals and re.compile(gate.pattern).groups != len(gate.equals):
        yield (
            f"{at}.equals",
            f"{len(gate.equals)} values for {re.compile(gate.pattern).groups} groups of the pattern",
        )


def known(key: str, name: str, valid: set[str], kind: str) -> Iterator[Problem]:
    """A name that is not among the valid ones, with the nearest that is."""
    if name not in valid:
        near = get_close_matches(name, sorted(valid), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(sorted(valid)) or 'none'}"
        yield key, f"there is no {kind} {name}; {hint}"


def compiles(pattern: str) -> bool:
    """Whether it is a regular expression."""
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True
