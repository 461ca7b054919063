"""The verbs about a runbook before it runs, and what it needs: check, show, cpu-groups, assets."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from omnitui import cpu_groups, provision
from omnitui.errors import UsageError
from omnitui.headless import say
from omnitui.plan import schedule_of
from omnitui.probes.topology import read_topology
from omnitui.rendering import as_markdown, as_shell
from omnitui.runbook import load
from omnitui.runbook.check import problems
from omnitui.runbook.narrow import narrow
from omnitui.runbook.variables import BUILT_IN, refusal, resolved
from omnitui.sanitise import plain
from omnitui.verbs.options import Given, GivenRunbook, Json, loaded, pairs

app = typer.Typer()


class ShowFormat(StrEnum):
    """How a runbook is shown."""

    sh = "sh"
    md = "md"


@app.command()
def check(
    runbooks: Annotated[list[str], typer.Argument(metavar="RUNBOOK...", help="Names of the library, or folders.")],
) -> int:
    """Check runbooks: keys, names, scripts, patterns."""
    code = 0
    for folder in map(load.locate, runbooks):
        found = problems(folder)
        for problem in found:
            sys.stderr.write(f"{plain(str(problem))}\n")
            code = UsageError.exit_code
        if not found:
            say(f"{folder / load.FILE}: ok")
    return code


@app.command()
def show(
    runbook: GivenRunbook,
    form: Annotated[ShowFormat, typer.Option("--format", help="sh or md.")] = ShowFormat.md,
    given: Given = [],
    schedule: Annotated[str | None, typer.Option(help="Which order of passes.")] = None,
) -> None:
    """Print a runbook with its variables resolved."""
    whole = loaded(runbook)
    asked = pairs(given)
    for name, value in asked.items():
        if name not in whole.variables:
            known = ", ".join(whole.variables) or "none"
            raise UsageError(f"the runbook has no variable {name}; it has: {known}")
        if reason := refusal(whole, name, value):
            raise UsageError(reason)
    values = {name: asked.get(name, variable.default) for name, variable in whole.variables.items()}
    own = {name: value for name, value in values.items() if value is not None and not whole.variables[name].secret}
    later = [*BUILT_IN, *(name for name, variable in whole.variables.items() if variable.handed)]
    found = resolved(own, {name: f"${{{name}}}" for name in later})
    shown = {name: found[name] for name in own}
    shape = as_shell if form is ShowFormat.sh else as_markdown
    say(shape(narrow(whole, own), schedule_of(whole, schedule), shown))


@app.command("cpu-groups")
def cpu_groups_verb(
    gpu_a: Annotated[str, typer.Argument(metavar="GPU_A", help="The GPU that measurements run on, by its index.")],
    gpu_b: Annotated[str, typer.Argument(metavar="GPU_B", help="The other GPU of the pair.")],
    cores: Annotated[int, typer.Option(min=1, help="Cores for each GPU.")] = cpu_groups.CORES,
) -> None:
    """Print the CPUs of a GPU pair: whole cores on each GPU's NUMA node, without cores 0 and 1."""
    found = cpu_groups.cpu_lists(*read_topology(), (gpu_a, gpu_b), cores)
    say("\n".join(f"{name}={cpus}" for name, cpus in found.items()))


@app.command()
def assets(
    runbook: GivenRunbook,
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Which to download; all.")] = None,
    given: Given = [],
    download: Annotated[
        bool, typer.Option("--download", help="Bring what is not there, at its revision.")
    ] = False,
    rows: Annotated[bool, typer.Option("--rows", help="Count the rows of the data sets, and note them.")] = False,
    as_json: Json = False,
) -> int:
    """Show which pinned models and data sets are cached, whole, at their revisions; or download them."""
    if ids and not download:
        raise UsageError(f"{ids[0]}: assets are named to be downloaded, with --download")
    quiet = (lambda _: None) if as_json else say
    found = provision.look(runbook, pairs(given))
    code = 0
    if download:
        code = provision.bring(found.shelf, provision.chosen(found, ids or []), quiet)
        found = provision.look(runbook, pairs(given))
    counted = provision.tell_rows(found, quiet) if rows else []
    say(provision.as_json(found, counted) if as_json else provision.table(found))
    return code or int(not found.complete)
