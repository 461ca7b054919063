"""What the types cannot say: names that must exist, scripts that bash must accept, patterns that must compile."""

import re
import subprocess
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from omnitui.errors import RunbookError
from omnitui.runbook.load import FILE, load
from omnitui.runbook.schema import (
    Command,
    Coverage,
    Environment,
    Output,
    Part,
    Phase,
    Runbook,
    Serve,
    Step,
    Stop,
)
from omnitui.runbook.variables import BUILT_IN, names_in, refusal, secret_names

_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_SCRIPT = re.compile(r"\$\{?RUNBOOK\}?/([\w./-]+)")


def problems(folder: Path) -> list[RunbookError]:
    """All that is wrong with a runbook; empty when it can be run."""
    try:
        runbook = load(folder)
    except RunbookError as error:
        return [error]
    found = [*_variables(runbook), *_schedules(runbook), *_environments(runbook), *_references(runbook)]
    for index, phase in enumerate(runbook.phases):
        found += _phase(folder, runbook, phase, f"phases[{index}]")
    found += _ids("phases", [phase.id for phase in runbook.phases])
    found += _ids("phases[].steps", [step.id for phase in runbook.phases for step in phase.steps])
    found += _ids("metrics", [metric.id for metric in runbook.metrics])
    return [RunbookError(folder / FILE, key, reason) for key, reason in found]


Problem = tuple[str, str]


def _ids(key: str, ids: list[str]) -> Iterator[Problem]:
    for one in dict.fromkeys(ids):
        if ids.count(one) > 1:
            yield key, f"the id {one!r} stands {ids.count(one)} times"
        if not _ID.fullmatch(one):
            yield key, f"the id {one!r} must be small letters, digits, dots, hyphens or underscores"


def _variables(runbook: Runbook) -> Iterator[Problem]:
    for name, variable in runbook.variables.items():
        key = f"variables.{name}"
        if name in BUILT_IN:
            yield key, "this name is set by OmniTUI itself"
        if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
            yield key, "a variable's name is capital letters, digits and underscores"
        if variable.secret and variable.default is not None:
            yield key, "a secret has no default"
        if not _compiles(variable.pattern):
            yield f"{key}.pattern", f"not a regular expression: {variable.pattern}"
        elif variable.default is not None and (reason := refusal(runbook, name, variable.default)):
            yield f"{key}.default", reason


def _schedules(runbook: Runbook) -> Iterator[Problem]:
    if any(phase.per != "run" for phase in runbook.phases) and not runbook.schedules:
        yield "schedules", "a runbook with passes needs one"
    for index, schedule in enumerate(runbook.schedules):
        for entry in schedule.order:
            if not re.fullmatch(r"[A-Za-z0-9.-]+/[A-Za-z0-9.-]+", entry):
                yield f"schedules[{index}].order", f"{entry!r} is not series/pass"
        yield from _repeated(f"schedules[{index}].order", schedule.order)
    known = {entry.partition("/")[2] for schedule in runbook.schedules for entry in schedule.order}
    for label in runbook.passes.unscored:
        yield from _known("passes.unscored", label, known, "pass")
    if any(phase.per == "pass" for phase in runbook.phases) and not runbook.passes.out:
        yield "passes.out", "passes need an output folder"


def _repeated(key: str, order: tuple[str, ...]) -> Iterator[Problem]:
    for entry in dict.fromkeys(order):
        if order.count(entry) > 1:
            yield key, f"{entry} stands {order.count(entry)} times; results would be overwritten"


def _environments(runbook: Runbook) -> Iterator[Problem]:
    for name, environment in runbook.environments.items():
        key = f"environments.{name}"
        if environment.place != "host" or runbook.places:
            yield from _known(f"{key}.place", environment.place, {"host", *runbook.places}, "place")
        yield from _script(f"{key}.prelude", environment.prelude, last_may_chain=False)


def _references(runbook: Runbook) -> Iterator[Problem]:
    values = {*runbook.variables, *BUILT_IN}
    parts: list[tuple[str, object]] = [
        *((f"environments.{n}", e) for n, e in runbook.environments.items()),
        *((f"servers.{n}", s) for n, s in runbook.servers.items()),
        *((f"workloads.{w.id}", w) for w in runbook.workloads),
        *((f"metrics.{m.id}", m) for m in runbook.metrics),
        *((f"steps.{s.id}", s) for p in runbook.phases for s in p.steps),
        ("passes", runbook.passes),
        ("resources", runbook.resources),
    ]
    for key, part in parts:
        for field, text in _strings(part):
            for name in names_in(text):
                yield from _known(f"{key}.{field}", name, values, "variable")
                if name in secret_names(runbook):
                    yield f"{key}.{field}", f"the secret {name} may only be read by a script, from its environment"


def _strings(part: object) -> Iterator[tuple[str, str]]:
    """Every string in which `${NAME}` is expanded by OmniTUI, not by bash."""
    if not isinstance(part, Part):
        return
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if isinstance(value, str) and field not in {
            "run",
            "prelude",
            "note",
            "help",
            "say",
            "title",
            "pattern",
        }:
            yield field, value
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, str):
                    yield field, item
                else:
                    yield from ((f"{field}.{inner}", text) for inner, text in _strings(item))
        elif isinstance(value, dict):
            yield from ((f"{field}.{k}", v) for k, v in value.items() if isinstance(v, str))


def _phase(folder: Path, runbook: Runbook, phase: Phase, key: str) -> Iterator[Problem]:
    labels = {entry.partition("/")[2] for schedule in runbook.schedules for entry in schedule.order}
    for index, step in enumerate(phase.steps):
        at = f"{key}.steps[{index}]({step.id})"
        yield from _step(folder, runbook, step, at)
        for label in step.skip_passes:
            yield from _known(f"{at}.skip_passes", label, labels, "pass")
        if step.redo == "pass" and phase.per != "pass":
            yield f"{at}.redo", "only a step of a pass can begin its pass again"


def _step(folder: Path, runbook: Runbook, step: Step, at: str) -> Iterator[Problem]:
    if step.env:
        yield from _known(f"{at}.env", step.env, set(runbook.environments), "environment")
    if isinstance(step, Serve | Stop):
        yield from _known(f"{at}.server", step.server, set(runbook.servers), "server")
    scripts = [("run", step.run)] if isinstance(step, Command | Serve) else []
    if isinstance(step, Command) and step.satisfied_by:
        scripts.append(("satisfied_by.run", step.satisfied_by.run))
    for field, text in scripts:
        yield from _script(f"{at}.{field}", text)
        for name in _SCRIPT.findall(text):
            if not (folder / name).exists():
                yield f"{at}.{field}", f"there is no {name} in the runbook's folder"
    yield from _gates(runbook, step, at)


def _gates(runbook: Runbook, step: Step, at: str) -> Iterator[Problem]:
    words = [(gate.word or gate.pattern) if isinstance(gate, Output) else gate.word for gate in step.gates]
    for word in filter(None, dict.fromkeys(words)):
        if words.count(word) > 1:
            # Verdicts are kept by word: one would hide the other.
            yield f"{at}.gates", f"{words.count(word)} gates are called {word}; give each a word of its own"
    for number, gate in enumerate(step.gates):
        where = f"{at}.gates[{number}]"
        if isinstance(gate, Output):
            yield from _output(gate, where)
        elif isinstance(gate, Coverage) and not runbook.workloads:
            yield where, "coverage needs at least one workload"


def _output(gate: Output, at: str) -> Iterator[Problem]:
    if not gate.word and not gate.pattern:
        yield at, "an output gate needs a word or a pattern"
    if not _compiles(gate.pattern):
        yield f"{at}.pattern", f"not a regular expression: {gate.pattern}"
    elif gate.equals and re.compile(gate.pattern).groups != len(gate.equals):
        yield (
            f"{at}.equals",
            f"{len(gate.equals)} values for {re.compile(gate.pattern).groups} groups of the pattern",
        )


def _script(key: str, text: str, *, last_may_chain: bool = True) -> Iterator[Problem]:
    if not text:
        return
    result = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
    if result.returncode:
        yield key, f"bash does not accept it: {result.stderr.strip().splitlines()[-1]}"
    lines = _commands(text)
    for number, line in enumerate(lines, 1):
        final = number == len(lines) and last_may_chain
        if _chains(line) and not final:
            yield (
                key,
                f"`{line.strip()[:60]}`: when the left side fails, bash goes on; write one command a line",
            )


def _chains(line: str) -> bool:
    bare = re.sub(r"'[^']*'|\"[^\"]*\"|\[\[.*?\]\]|\(\(.*?\)\)", "", line)
    return "&&" in bare and not re.match(r"\s*(if|elif|while|until)\b", bare)


def _commands(text: str) -> list[str]:
    """The command lines of a script: continuations joined, here-documents and comments left out."""
    lines: list[str] = []
    until = ""
    pending = ""
    for raw in text.splitlines():
        if until:
            until = "" if raw.strip() == until else until
            continue
        line = pending + raw
        if line.endswith("\\"):
            pending = line[:-1]
            continue
        pending = ""
        if heredoc := _HEREDOC.search(line):
            until = heredoc[1]
        if line.strip() and not line.lstrip().startswith("#"):
            lines.append(line)
    return lines


def _known(key: str, name: str, valid: set[str], kind: str) -> Iterator[Problem]:
    if name not in valid:
        near = get_close_matches(name, sorted(valid), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(sorted(valid)) or 'none'}"
        yield key, f"there is no {kind} {name}; {hint}"


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


def environment_of(runbook: Runbook, step: Step) -> Environment:
    """The environment that a step runs in; a step without one runs on the host with nothing added."""
    return runbook.environments[step.env] if step.env else Environment()
