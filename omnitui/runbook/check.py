"""What the types cannot say: names that must exist, scripts that bash must accept, patterns that must compile."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from omnitui.errors import RunbookError
from omnitui.runbook.check_steps import Problem, compiles, known, phase_problems, seconds
from omnitui.runbook.load import FILE, load
from omnitui.runbook.part import Part, When
from omnitui.runbook.schema import ENTRY, Environment, Runbook, Schedule, Serve, Step, Stop
from omnitui.runbook.shell import script_problems
from omnitui.runbook.variables import BUILT_IN, names_in, refusal, secret_names

_ID = re.compile(r"[a-z0-9][a-z0-9._-]*")


def problems(folder: Path) -> list[RunbookError]:
    """All that is wrong with a runbook; empty when it can be run."""
    try:
        runbook = load(folder)
    except RunbookError as error:
        return [error]
    found = [*_variables(runbook), *_schedules(runbook), *_environments(runbook), *_references(runbook)]
    found += [*_servers(runbook), *_results(runbook), *_places(runbook), *_conditions(runbook)]
    for index, phase in enumerate(runbook.phases):
        found += phase_problems(folder, runbook, phase, f"phases[{index}]")
    found += _ids("phases", [phase.id for phase in runbook.phases])
    found += _ids("phases[].steps", [step.id for phase in runbook.phases for step in phase.steps])
    found += _ids("assets", [asset.id for asset in runbook.assets])
    found += _ids("metrics", [metric.id for metric in runbook.metrics])
    found += _ids("workloads", [workload.id for workload in runbook.workloads])
    found += _ids("samples", [one.id for one in runbook.samples])
    found += _ids("provenance", [one.id for one in runbook.provenance])
    return [RunbookError(folder / FILE, key, reason) for key, reason in found]


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
        if variable.many and not variable.choices:
            yield f"{key}.many", "a list needs choices"
        if variable.secret and variable.default is not None:
            yield key, "a secret has no default"
        if variable.handed and (variable.secret or variable.default is not None or variable.choices):
            yield key, "what a step hands on has no default and no choices, and is no secret"
        if not compiles(variable.pattern):
            yield f"{key}.pattern", f"not a regular expression: {variable.pattern}"
        elif variable.default is not None and (reason := refusal(runbook, name, variable.default)):
            yield f"{key}.default", reason


def _schedules(runbook: Runbook) -> Iterator[Problem]:
    if any(phase.per != "run" for phase in runbook.phases) and not runbook.schedules:
        yield "schedules", "a runbook with passes needs one"
    for index, schedule in enumerate(runbook.schedules):
        for entry in schedule.order:
            if not ENTRY.fullmatch(entry):
                yield f"schedules[{index}].order", f"{entry!r} is not series/pass"
        yield from _repeated(f"schedules[{index}].order", schedule.order)
        yield from _series(runbook, schedule, f"schedules[{index}].series")
    labels = {entry.partition("/")[2] for schedule in runbook.schedules for entry in schedule.order}
    for label in runbook.passes.unscored:
        yield from known("passes.unscored", label, labels, "pass")
    if any(phase.per == "pass" for phase in runbook.phases):
        yield from _out(runbook)


def _series(runbook: Runbook, schedule: Schedule, key: str) -> Iterator[Problem]:
    for series, values in schedule.series.items():
        yield from known(key, series, {entry.partition("/")[0] for entry in schedule.order}, "series")
        for name, value in values.items():
            yield from known(f"{key}.{series}", name, set(runbook.variables), "variable")
            for inner in names_in(value):
                yield from known(f"{key}.{series}.{name}", inner, {*runbook.variables, *BUILT_IN}, "variable")
            if name in secret_names(runbook):
                yield f"{key}.{series}.{name}", "a secret is given by the operator, in the environment"


def _out(runbook: Runbook) -> Iterator[Problem]:
    named = names_in(runbook.passes.out)
    if "PASS" not in named:
        yield "passes.out", "must contain ${PASS}, or passes would share an output folder"
    for index, schedule in enumerate(runbook.schedules):
        series = {entry.partition("/")[0] for entry in schedule.order}
        own = {tuple(schedule.series.get(one, {}).get(name, "") for name in named) for one in series}
        if "SERIES" not in named and len(own) < len(series):
            yield (
                "passes.out",
                f"must contain ${{SERIES}}, or a variable of its own for each series of schedules[{index}]; "
                "or they would share an output folder",
            )


def _places(runbook: Runbook) -> Iterator[Problem]:
    places = {"host", *runbook.places}
    for name, place in runbook.places.items():
        kinds = runbook.variables[place.kind[2:-1]].choices if place.kind[2:-1] in runbook.variables else ()
        for kind in kinds or (place.kind,):
            yield from known(f"places.{name}.kind", kind, {"local", "docker"}, "kind of place")
        if "docker" in (kinds or (place.kind,)) and not (place.container and place.jobs):
            yield f"places.{name}", "a docker place needs container and jobs"
    yield from known("passes.place", runbook.passes.place, places, "place")
    yield from known("cache.place", runbook.cache.place, places, "place")
    if runbook.assets and not runbook.cache.hub:
        yield "cache.hub", "assets need to know the folder of the cache"


def _conditions(runbook: Runbook) -> Iterator[Problem]:
    parts: list[tuple[str, When]] = [
        *((f"variables.{name}", variable.when) for name, variable in runbook.variables.items()),
        *((f"phases.{phase.id}", phase.when) for phase in runbook.phases),
        *((f"steps.{step.id}", step.when) for phase in runbook.phases for step in phase.steps),
        *((f"workloads.{one.id}", one.when) for one in runbook.workloads),
        *((f"metrics.{one.id}", one.when) for one in runbook.metrics),
        *((f"samples.{one.id}", one.when) for one in runbook.samples),
        *((f"provenance.{one.id}", one.when) for one in runbook.provenance),
        *((f"assets.{one.id}", one.when) for one in runbook.assets),
        *((f"resources.also[{number}]", one.when) for number, one in enumerate(runbook.resources.also)),
        *((f"servers.{name}.remedies", one.when) for name, s in runbook.servers.items() for one in s.remedies),
        *(
            (f"steps.{step.id}.remedies", one.when)
            for phase in runbook.phases
            for step in phase.steps
            for one in (*step.remedies, *(remedy for gate in step.gates for remedy in gate.remedies))
        ),
    ]
    for key, when in parts:
        for name, wanted in when.items():
            choosing = {name for name, variable in runbook.variables.items() if variable.choices}
            yield from known(f"{key}.when", name, choosing, "variable with choices")
            for value in wanted if name in choosing else ():
                choices = set(runbook.variables[name].choices)
                yield from known(f"{key}.when.{name}", value, choices, "choice")


def _servers(runbook: Runbook) -> Iterator[Problem]:
    """A server lives within one block of phases: who needs it is told from the steps around it."""
    for name, server in runbook.servers.items():
        yield from seconds(f"servers.{name}", server)
    for per, phases in groupby(runbook.phases, key=lambda phase: phase.per):
        up: dict[str, str] = {}
        for step in (step for phase in phases for step in phase.steps):
            if isinstance(step, Serve | Stop) and step.server not in runbook.servers:
                continue
            if isinstance(step, Serve):
                if step.server in up:
                    yield f"steps.{step.id}.server", f"{step.server} is up already, since step {up[step.server]}"
                up[step.server] = step.id
            elif isinstance(step, Stop) and up.pop(step.server, None) is None:
                yield f"steps.{step.id}.server", f"no step before this one starts {step.server}"
        for name, step_id in up.items():
            yield f"steps.{step_id}.server", f"no later step of the phases once a {per} stops {name}"


def _results(runbook: Runbook) -> Iterator[Problem]:
    for workload in runbook.workloads:
        if bool(workload.rows) == bool(workload.count):
            yield f"workloads.{workload.id}", "needs rows or count, and not both"
    for metric in runbook.metrics:
        for guard in metric.guards:
            yield from known(f"metrics.{metric.id}.guards", guard, {one.id for one in runbook.metrics}, "metric")
    for one in runbook.provenance:
        if sum(map(bool, (one.file, one.value, one.from_step))) != 1:
            yield f"provenance.{one.id}", "needs one of file, value and from_step"
    paths = [(f"workloads.{w.id}.rows", w.rows or w.count or "@") for w in runbook.workloads]
    paths += [(f"workloads.{w.id}.checks", check.path) for w in runbook.workloads for check in w.checks]
    paths += [(f"workloads.{w.id}", path) for w in runbook.workloads for path in (w.failed, w.skipped) if path]
    paths += [(f"metrics.{metric.id}.path", metric.path) for metric in runbook.metrics]
    paths += [(f"samples.{one.id}", path) for one in runbook.samples for path in (one.rows, one.value)]
    paths += [(f"provenance.{one.id}.path", one.path) for one in runbook.provenance if one.path]
    if paths:
        import jmespath  # noqa: PLC0415 - 13 ms that only a check needs

        for key, path in paths:
            try:
                jmespath.compile(path)
            except jmespath.exceptions.JMESPathError:
                yield key, f"not a JMESPath: {path}"


def _repeated(key: str, order: tuple[str, ...]) -> Iterator[Problem]:
    for entry in dict.fromkeys(order):
        if order.count(entry) > 1:
            yield key, f"{entry} stands {order.count(entry)} times; results would be overwritten"


def _environments(runbook: Runbook) -> Iterator[Problem]:
    for name, environment in runbook.environments.items():
        key = f"environments.{name}"
        if environment.place != "host" or runbook.places:
            yield from known(f"{key}.place", environment.place, {"host", *runbook.places}, "place")
        yield from script_problems(f"{key}.prelude", environment.prelude, last_may_chain=False)


def _references(runbook: Runbook) -> Iterator[Problem]:
    values = {*runbook.variables, *BUILT_IN}
    parts: list[tuple[str, object]] = [
        *((f"environments.{n}", e) for n, e in runbook.environments.items()),
        *((f"servers.{n}", s) for n, s in runbook.servers.items()),
        *((f"workloads.{w.id}", w) for w in runbook.workloads),
        *((f"metrics.{m.id}", m) for m in runbook.metrics),
        *((f"samples.{one.id}", one) for one in runbook.samples),
        *((f"provenance.{one.id}", one) for one in runbook.provenance),
        *((f"steps.{s.id}", s) for p in runbook.phases for s in p.steps),
        *((f"steps.{s.id}.progress", getattr(s, "progress", None)) for p in runbook.phases for s in p.steps),
        *((f"places.{n}", p) for n, p in runbook.places.items()),
        *((f"assets.{a.id}", a) for a in runbook.assets),
        ("cache", runbook.cache),
        ("passes", runbook.passes),
        ("resources", runbook.resources),
    ]
    for key, part in parts:
        for field, text in _strings(part):
            for name in names_in(text):
                yield from known(f"{key}.{field}", name, values, "variable")
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
            "page",
            "does",
            "why",
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


def environment_of(runbook: Runbook, step: Step) -> Environment:
    """The environment that a step runs in; a step without one runs on the host with nothing added."""
    return runbook.environments[step.env] if step.env else Environment()
