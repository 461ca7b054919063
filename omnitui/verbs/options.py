"""What several verbs are given, and how it is read."""

import getpass
import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import typer

from omnitui.errors import Blocked, UsageError
from omnitui.model import RunState
from omnitui.runbook import load
from omnitui.runbook.schema import Runbook

Run = Annotated[str | None, typer.Argument(help="The run's id or the beginning of it; the newest when left out.")]
GivenRun = Annotated[str, typer.Argument(help="The run's id or the beginning of it.")]
GivenRunbook = Annotated[str, typer.Argument(help="A runbook's id or its folder.")]
Given = Annotated[list[str], typer.Option("--set", metavar="K=V", help="Set a variable.")]
Headless = Annotated[bool, typer.Option("--headless", help="Tell it in plain lines instead of opening the app.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Answer every question with yes.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Where(StrEnum):
    """Where an interrupted pass goes on."""

    start = "start"
    step = "step"


At = Annotated[Where | None, typer.Option(help="Go on at the failed step, or from the start of its pass.")]


def loaded(name: str) -> Runbook:
    """The runbook with this id, or in this folder. Raises `OmniError`."""
    return load.load(load.locate(name))


def pairs(given: list[str], option: str = "--set") -> dict[str, str]:
    """The values of `NAME=VALUE`, as they were given behind an option. Raises `UsageError`."""
    values = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"{option} {pair}: write NAME=VALUE".lstrip())
        values[name] = value
    return values


def secrets_of(state: RunState, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Secrets from the command line or the environment; else the operator is asked, each time."""
    found = dict(given or {})
    for name in state.secrets:
        if name in found or os.environ.get(name):
            found.setdefault(name, os.environ.get(name, ""))
        elif sys.stdin.isatty():
            found[name] = getpass.getpass(f"{name} (not shown, not stored): ")
        else:
            raise Blocked(f"the secret {name} is not in the environment; it is never stored: export {name}=...")
    return found
