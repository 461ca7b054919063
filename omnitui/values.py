"""The values that a step's script finds in its environment, and the script itself. Pure."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from omnitui.errors import UsageError
from omnitui.model import RUN_WIDE, RunState
from omnitui.plan import PlannedStep
from omnitui.runbook.schema import Command, Environment, Runbook, Serve
from omnitui.runbook.variables import expand, resolved


def of_scope(runbook: Runbook, state: RunState, scope: str, run_folder: Path) -> dict[str, str]:
    """All values in a scope, with references expanded; the narrower scope wins. Secrets are not among them."""
    series, _, label = scope.partition("/")
    known: dict[str, str] = {}
    for wide in dict.fromkeys((f"{RUN_WIDE}/{RUN_WIDE}", f"{series}/{RUN_WIDE}", scope)):
        known.update(state.handed.get(wide, {}))
    known |= {
        "RUN_DIR": str(run_folder),
        "RUNBOOK": str(run_folder / "runbook"),
        "OMNITUI_PYTHON": sys.executable,
        **({"SERIES": series} if series != RUN_WIDE else {}),
        **({"PASS": label} if label != RUN_WIDE else {}),
    }
    given = {**state.variables, **state.series.get(series, {})}
    own = {name: value for name, value in given.items() if name not in known}
    values = resolved(own, known)
    if label != RUN_WIDE:
        values["OUT"] = expand(runbook.passes.out, values)
        if not Path(values["OUT"]).is_absolute() or len(Path(values["OUT"]).parts) < 3:
            raise UsageError(f"the output folder {values['OUT']!r} must be absolute and not at the root")
    return values


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
    return "\n".join(["test -f ~/.bashrc && . ~/.bashrc", *_before(environment, values), ""])


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
