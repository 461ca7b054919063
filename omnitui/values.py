"""The values that a step's script finds in its environment, and the script itself. Pure."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from omnitui.errors import UsageError
from omnitui.model import RUN_WIDE, RunState
from omnitui.plan import PlannedStep
from omnitui.runbook.check import environment_of
from omnitui.runbook.schema import (
    Collect,
    Command,
    Environment,
    PlaceSpec,
    Runbook,
    Serve,
    Step,
    Stop,
    Summarize,
)
from omnitui.runbook.variables import expand, resolved

HOST = "host"
"""The place that is always there."""


def of_scope(runbook: Runbook, state: RunState, scope: str, run_folder: Path, place: str = HOST) -> dict[str, str]:
    """All values in a scope, with references expanded; the narrower scope wins. Secrets are not among them.

    Paths of the run are those that `place` knows. The output folder is always a path of the passes' own place.
    """
    values = _at(runbook, state, scope, run_folder, place)
    if not scope.endswith(f"/{RUN_WIDE}"):
        there = _at(runbook, state, scope, run_folder, runbook.passes.place)
        values["OUT"] = expand(runbook.passes.out, there)
        if not Path(values["OUT"]).is_absolute() or len(Path(values["OUT"]).parts) < 3:
            raise UsageError(f"the output folder {values['OUT']!r} must be absolute and not at the root")
    return values


def _at(runbook: Runbook, state: RunState, scope: str, run_folder: Path, place: str) -> dict[str, str]:
    values = _resolved(state, scope, run_folder, sys.executable)
    spec = spec_of(runbook, place, values)
    if spec.kind != "docker":
        return values
    return _resolved(state, scope, inside(spec, run_folder.name), "python3")


def inside(spec: PlaceSpec, run: str) -> Path:
    """The folder of a run in a container: its jobs, and its copy of the runbook."""
    return Path(spec.jobs, run)


def spec_of(runbook: Runbook, place: str, values: Mapping[str, str]) -> PlaceSpec:
    """A place of the runbook, its variables replaced."""
    spec = runbook.places.get(place, PlaceSpec())
    kind, container, jobs = (expand(text, values) for text in (spec.kind, spec.container, spec.jobs))
    return PlaceSpec(kind=kind, container=container, jobs=jobs)


def _resolved(state: RunState, scope: str, run_folder: Path, python: str) -> dict[str, str]:
    series, _, label = scope.partition("/")
    known: dict[str, str] = {}
    for wide in dict.fromkeys((f"{RUN_WIDE}/{RUN_WIDE}", f"{series}/{RUN_WIDE}", scope)):
        known.update(state.handed.get(wide, {}))
    known |= {
        "RUN_DIR": str(run_folder),
        "RUNBOOK": str(run_folder / "runbook"),
        "OMNITUI_PYTHON": python,
        **({"SERIES": series} if series != RUN_WIDE else {}),
        **({"PASS": label} if label != RUN_WIDE else {}),
    }
    given = {**state.variables, **state.series.get(series, {})}
    own = {name: value for name, value in given.items() if name not in known}
    return resolved(own, known)


def environment_at(runbook: Runbook, step: Step) -> Environment:
    """The environment in which a step's own process starts.

    What collects and summarizes is OmniTUI itself: it runs on its own machine, whatever the step's environment.
    """
    own = environment_of(runbook, step)
    return Environment() if isinstance(step, Collect | Summarize) and own.place != HOST else own


def place_of(runbook: Runbook, step: Step) -> str:
    """The place that a step is about: where its process starts; of one that stops a server, where that runs."""
    if isinstance(step, Stop):
        serving = (one for phase in runbook.phases for one in phase.steps if isinstance(one, Serve))
        started = next((one for one in serving if one.server == step.server), step)
        return environment_at(runbook, started).place
    return environment_at(runbook, step).place


def port_of(text: str, values: Mapping[str, str]) -> int:
    """The TCP port that a string of the runbook names. Raises `UsageError`."""
    port = expand(text, values)
    if not port.isdecimal() or not 0 < int(port) < 65536:
        raise UsageError(f"{text} is {port!r}, no port between 1 and 65535; set it with --set in a new run")
    return int(port)


def script(environment: Environment, title: str, run: str, values: Mapping[str, str]) -> str:
    """The whole script of a step: strictness, the environment's lines, then the step's own."""
    strict = ["set -eo pipefail"] if environment.strict else []
    own = [f"# {' '.join(title.split())}", run.strip("\n"), ""]
    return "\n".join(["#!/usr/bin/env bash", *strict, *_before(environment, values), *own])


def shell_rc(environment: Environment, values: Mapping[str, str]) -> str:
    """What an interactive shell in the step's environment reads first. Not strict: a typo must not end it."""
    return "\n".join(["test -f ~/.bashrc && . ~/.bashrc", *_before(environment, values), "unset OMNITUI_RC", ""])


def _before(environment: Environment, values: Mapping[str, str]) -> list[str]:
    lines = [f"export {name}={shlex.quote(expand(value, values))}" for name, value in environment.exports.items()]
    lines += [f"unset {name}" for name in environment.unset]
    if environment.cwd:
        lines.append(f"cd -- {shlex.quote(expand(environment.cwd, values))}")
    if environment.cpus:
        lines.append(f"taskset -pc {shlex.quote(expand(environment.cpus, values))} $$")
    if environment.prelude:
        lines.append(environment.prelude.strip("\n"))
    return lines


def command_of(planned: PlannedStep, state: RunState) -> str:
    """The lines that the step will run: the operator's, if edited, else the runbook's."""
    edited = state.step(planned.id).edited
    if edited:
        return edited
    return planned.step.run if isinstance(planned.step, Command | Serve) else ""
