"""Variables: the values that a run is given, and `${NAME}` in the strings of a runbook."""

import re
from collections.abc import Mapping

from omnitui.errors import UsageError
from omnitui.runbook.part import When
from omnitui.runbook.schema import Runbook

NAME = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
BUILT_IN = frozenset({"RUN_DIR", "RUNBOOK", "SERIES", "PASS", "OUT", "OMNITUI_PYTHON"})
"""Set by the runner for every step."""


def names_in(text: str) -> list[str]:
    """The variables that a string refers to, in order."""
    return NAME.findall(text)


def expand(text: str, values: Mapping[str, str]) -> str:
    """`text` with every `${NAME}` replaced, once: what a value holds is not looked at again."""
    missing = [name for name in names_in(text) if name not in values]
    if missing:
        raise UsageError(f"variable {missing[0]} has no value; set it with --set {missing[0]}=...")
    return NAME.sub(lambda m: values[m[1]], text)


def resolved(values: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    """`values`, which may refer to each other and to `known` ones, with every reference replaced.

    Raises `UsageError` for a reference to nothing, or for a circle.
    """
    found = dict(known)
    waiting = dict(values)
    while waiting:
        ready = [name for name, text in waiting.items() if not set(names_in(text)) & waiting.keys()]
        if not ready:
            raise UsageError(f"variables refer to each other in a circle: {', '.join(waiting)}")
        for name in ready:
            found[name] = expand(waiting.pop(name), found)
    return found


def chosen(runbook: Runbook, given: Mapping[str, str]) -> dict[str, str]:
    """The values of a run: what was given over the defaults, each checked. Secrets are left out.

    Raises `UsageError` for an unknown name, a missing value, or one that its choices or pattern refuse.
    """
    for name in given:
        if name not in runbook.variables:
            known = ", ".join(runbook.variables) or "none"
            raise UsageError(f"the runbook has no variable {name}; it has: {known}")
        if runbook.variables[name].handed:
            raise UsageError(f"{name} is handed on by a step of the run; it cannot be given")
    values: dict[str, str] = {}
    asked = asked_for(runbook, given)
    for name, variable in runbook.variables.items():
        value = given.get(name, variable.default)
        if variable.secret or variable.handed:
            continue
        if value is None and name not in asked:
            values[name] = ""
            continue
        if value is None:
            raise UsageError(f"variable {name} has no value ({variable.help}); set it with --set {name}=...")
        reason = refusal(runbook, name, value)
        if reason:
            raise UsageError(reason)
        values[name] = value
    return values


def refusal(runbook: Runbook, name: str, value: str) -> str:
    """Why a variable must not have this value, or an empty string."""
    variable = runbook.variables[name]
    if variable.many and not items_of(value):
        return f"{name}: must name at least one of {', '.join(variable.choices)}"
    wrong = [one for one in (items_of(value) if variable.many else [value]) if one not in variable.choices]
    if variable.choices and wrong:
        return f"{name}={wrong[0]}: must be one of {', '.join(variable.choices)}"
    if variable.pattern and not names_in(value) and not re.fullmatch(variable.pattern, value):
        return f"{name}={value}: must match {variable.pattern} ({variable.help})"
    if "\0" in value or "\n" in value:
        return f"{name}: must be one line"
    if any("\ud800" <= char <= "\udfff" for char in value):
        return f"{name}: is not valid UTF-8"
    return ""


def holds(when: When, variables: Mapping[str, str]) -> bool:
    """Whether each variable's list has one of the values asked for."""
    return all(set(items_of(variables.get(name, ""))) & set(wanted) for name, wanted in when.items())


def items_of(value: str) -> list[str]:
    """The items of a list separated by commas."""
    return [item.strip() for item in value.split(",") if item.strip()]


def asked_for(runbook: Runbook, given: Mapping[str, str]) -> frozenset[str]:
    """The variables that a run with these values asks for."""
    defaults = {name: variable.default or "" for name, variable in runbook.variables.items()}
    known = {**defaults, **given}
    return frozenset(name for name, variable in runbook.variables.items() if holds(variable.when, known))


def secret_names(runbook: Runbook) -> tuple[str, ...]:
    """The variables that must never reach the disk."""
    return tuple(name for name, variable in runbook.variables.items() if variable.secret)
