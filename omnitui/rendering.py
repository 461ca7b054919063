"""A runbook as one shell script or one Markdown page, with its variables resolved."""

import re
import shlex
from collections.abc import Mapping

from omnitui.plan import PlannedStep, heading, lay_out
from omnitui.runbook.check import environment_of
from omnitui.runbook.gates import Gate, Output, PortFree
from omnitui.runbook.remedies import remedies_of
from omnitui.runbook.schema import Collect, Command, Confirm, Runbook, Schedule, Serve, Stop, Summarize
from omnitui.runbook.variables import BUILT_IN, expand, names_in


def as_shell(runbook: Runbook, schedule: Schedule, values: Mapping[str, str]) -> str:
    """Every command in order, with the words that each must print. For reading; gates are not enforced by bash."""
    about = [*runbook.title.splitlines(), *runbook.summary.splitlines()]
    lines = [f"export {name}={_quoted(value)}" for name, value in values.items()]
    lines += [f"# {name}: a secret, or set later" for name in runbook.variables if name not in values]
    scope = ""
    for planned in lay_out(runbook, schedule.order):
        if planned.scope != scope:
            scope = planned.scope
            lines += ["", f"# ==== {heading(scope)} ====", *_scope_lines(runbook, schedule, planned, values)]
        lines += [
            "",
            f"# -- {' '.join(planned.step.title.split())}",
            *(f"#    {line}" for line in _notes(runbook, planned)),
        ]
        lines += _commands(runbook, planned)
    head = ["#!/usr/bin/env bash", *(f"# {line}" for line in about), ""]
    # OmniTUI sets these itself; whoever runs the script by hand is told which are missing.
    own = [name for name in ("RUN_DIR", "RUNBOOK", "OMNITUI_PYTHON") if any(name in line for line in lines)]
    head += [f': "${{{name}:?}}"' for name in own]
    return "\n".join([*head, *lines]) + "\n"


def _scope_lines(
    runbook: Runbook, schedule: Schedule, planned: PlannedStep, values: Mapping[str, str]
) -> list[str]:
    own = schedule.series.get(planned.series, {})
    before = [f"export {name}={_quoted(value)}" for name, value in own.items()]
    if not planned.in_pass:
        return before
    later = {name: f"${{{name}}}" for name in (*runbook.variables, *BUILT_IN)}
    scoped = {**later, **values, **own, "SERIES": planned.series, "PASS": planned.label}
    lines = [f"export SERIES={planned.series} PASS={planned.label}"]
    return [*before, *lines, f'export OUT="{expand(runbook.passes.out, scoped)}"']


def _notes(runbook: Runbook, planned: PlannedStep) -> list[str]:
    words = [told(gate) for gate in planned.step.gates]
    lines = [*planned.step.note.strip().splitlines(), *(f"gate: {word}" for word in words)]
    for remedy in remedies_of(runbook, planned.step):
        lines.append(f"when red: {' '.join(remedy.say.split())}")
        lines += [f"    {line}" for line in remedy.run.strip().splitlines()]
    for one in planned.step.deviations:
        lines += [f"the page: {line}" for line in one.page.strip().splitlines()]
        lines += [f"instead: {' '.join(one.does.split())}", f"because: {' '.join(one.why.split())}"]
    return lines


def told(gate: Gate) -> str:
    """A gate in words."""
    if isinstance(gate, Output):
        asked = gate.word or f"a line matching {gate.pattern}"
        equal = f" = {', '.join(gate.equals)}" if gate.equals else ""
        return f"{asked}{equal}, exit status {' or '.join(map(str, gate.exit))}"
    if isinstance(gate, PortFree):
        return f"{gate.word}: nobody listens on port {gate.port}"
    return gate.word


def _quoted(text: str) -> str:
    """One word for bash in which every `${NAME}` is still expanded."""
    if not names_in(text):
        return shlex.quote(text)
    return '"' + re.sub(r'["\\`]|\$(?!\{[A-Za-z_])', r"\\\g<0>", text) + '"'


def _commands(runbook: Runbook, planned: PlannedStep) -> list[str]:
    step = planned.step
    match step:
        case Command() | Serve():
            environment = environment_of(runbook, step)
            before = [f"export {k}={_quoted(v)}" for k, v in environment.exports.items()]
            before += [f"unset {name}" for name in environment.unset]
            before += [f"cd -- {_quoted(environment.cwd)}"] * bool(environment.cwd)
            before += [f"taskset -pc {_quoted(environment.cpus)} $$"] * bool(environment.cpus)
            if isinstance(step, Serve):
                server = runbook.servers[step.server]
                tail = (
                    f"#    in the background, until {server.word}: {server.health} on port {server.port} says 200"
                )
                return ["(", *before, environment.prelude.strip("\n"), step.run.strip("\n"), ") &", tail]
            return ["(", *before, environment.prelude.strip("\n"), step.run.strip("\n"), ")"]
        case Stop():
            return [f"#    stop the process group of server {step.server}: TERM, after {step.grace_s:g} s KILL"]
        case Confirm():
            return [f"#    the operator is asked: {' '.join(step.ask.split())}"]
        case Collect():
            return ["#    omnitui collects the metrics and checks the coverage"]
        case Summarize():
            return ["#    omnitui results"]


def as_markdown(runbook: Runbook, schedule: Schedule, values: Mapping[str, str]) -> str:
    """The runbook as a page: variables, then each phase once with its steps."""
    lines = [
        f"# {runbook.title}",
        "",
        runbook.summary,
        "",
        "## Variables",
        "",
        "| name | value | |",
        "|---|---|---|",
    ]
    for name, variable in runbook.variables.items():
        unset = "(secret)" if variable.secret else "(from a step)" if variable.handed else ""
        lines.append(f"| `{name}` | `{values.get(name, unset)}` | {variable.help} |")
    order = schedule.order
    lines += ["", f"Passes in order: {', '.join(order) or 'none'}", ""]
    shown_steps: set[str] = set()
    for phase in runbook.phases:
        lines += [f"## {phase.title}", "", *([phase.note.strip(), ""] if phase.note else [])]
        lines += [*([f"Once in every {phase.per}.", ""] if phase.per != "run" else [])]
        for planned in lay_out(runbook, order):
            if planned.phase != phase.id or planned.step.id in shown_steps:
                continue
            shown_steps.add(planned.step.id)
            lines += [f"### {planned.step.title}", "", *_notes(runbook, planned), "", "```bash"]
            lines += [line for line in _commands(runbook, planned) if line not in ("(", ")", ") &", "")]
            lines += ["```", ""]
    if runbook.references:
        lines += ["## Reference results", "", "From other setups: never mixed with what a run measured.", ""]
        lines += ["| workload | source | setup | results |", "|---|---|---|---|"]
        lines += [f"| {one.workload} | {one.source} | {one.setup} | {one.results} |" for one in runbook.references]
    return "\n".join(lines)
