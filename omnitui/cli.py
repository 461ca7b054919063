"""The verbs. The one place where an error becomes an exit code.

0 all green · 1 a gate is red · 2 usage or runbook error · 3 blocked or waiting for the operator · 4 corrupt state
130 stopped
"""

import getpass
import json
import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, cast

import msgspec
import typer

from omnitui import (
    __version__,
    config,
    cpu_groups,
    decisions,
    headless,
    preflight,
    provision,
    result_verbs,
    store,
    supervise,
    worlds,
)
from omnitui.errors import Blocked, OmniError, UsageError
from omnitui.headless import say
from omnitui.machine_lines import machine_lines, machine_row
from omnitui.model import RunState
from omnitui.plan import Resume, schedule_of
from omnitui.plan import resume as decide
from omnitui.probes.topology import read_topology
from omnitui.rendering import as_markdown, as_shell
from omnitui.runbook import load
from omnitui.runbook.check import problems
from omnitui.runbook.narrow import narrow
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import BUILT_IN, items_of, refusal, resolved
from omnitui.sanitise import plain
from omnitui.snapshot import Snapshot, take
from omnitui.standing import gate_lines, gate_story, row, standing
from omnitui.store import RunFolder
from omnitui.world import observe

app = typer.Typer(
    help="Runbooks for GPU serving benchmarks as checklists that run their commands and earn every green.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(result_verbs.app)
Run = Annotated[str | None, typer.Argument(help="The run's id or the beginning of it; the newest when left out.")]
GivenRun = Annotated[str, typer.Argument(help="The run's id or the beginning of it.")]
Headless = Annotated[bool, typer.Option("--headless", help="Tell it in plain lines instead of opening the app.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Answer every question with yes.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class Where(StrEnum):
    """Where an interrupted pass goes on."""

    start = "start"
    step = "step"


class ShowFormat(StrEnum):
    """How a runbook is shown."""

    sh = "sh"
    md = "md"


# Newer Typers carry a click of their own, so the base of their errors is found through one of them.
_ClickException = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[2])


def run_cli(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code."""
    try:
        result = app(arguments, standalone_mode=False)
    except typer.Abort:
        return 130
    except _ClickException as error:
        error.show()
        return UsageError.exit_code
    except OmniError as error:
        sys.stderr.write(f"omnitui: {plain(str(error))}\n")
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return result if isinstance(result, int) else 0


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Entry of all verbs."""
    if version:
        say(f"omnitui {__version__}")
        raise typer.Exit


@app.command("open")
def open_runbook(
    runbook: Annotated[str | None, typer.Argument(help="A runbook to open a new run of.")] = None,
) -> int:
    """Open the app, on the New run screen of a runbook if one is named."""
    if not sys.stdout.isatty():
        raise UsageError("the app needs a terminal; without one: omnitui run RUNBOOK --headless")
    from omnitui.ui.app import open_app  # noqa: PLC0415

    return open_app(runbook=str(load.locate(runbook)) if runbook else None)


@app.command("run")
def run_verb(
    runbook: Annotated[str, typer.Argument(help="A runbook's id or its folder.")],
    given: Annotated[list[str], typer.Option("--set", metavar="K=V", help="Set a variable.")] = [],  # noqa: B006
    schedule: Annotated[
        str | None, typer.Option(help="Which order of passes; the runbook's first by default.")
    ] = None,
    order: Annotated[
        str, typer.Option(metavar="S/P,...", help="Your own order of passes, in place of the schedule's.")
    ] = "",
    plain: Headless = False,
    detach: Annotated[bool, typer.Option("--detach", help="Start it and return at once.")] = False,
    yes: Yes = False,
) -> int:
    """Start a new run of a runbook."""
    config.read()  # What is wrong with it is told now, not when somebody should have been called.
    values = _pairs(given)
    names = [name for name, variable in _loaded(runbook).variables.items() if variable.secret]
    secrets = {name: values.pop(name) for name in names if name in values}
    run = supervise.make_run(runbook, values, schedule, _order(order))
    for warning in preflight.preflight(_loaded(runbook), values):
        sys.stderr.write(f"omnitui: {warning}\n")
    supervise.start(run, _secrets(store.read(run), secrets), yes=yes)
    return _watch(run, plain=plain, detach=detach)


def _loaded(name: str) -> Runbook:
    return load.load(load.locate(name))


@app.command()
def resume(
    run: Run = None,
    plain: Headless = False,
    yes: Yes = False,
    at: Annotated[
        Where | None, typer.Option(help="Go on at the failed step, or from the start of its pass.")
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Start it and return at once.")] = False,
) -> int:
    """Take up an interrupted, failed or held run; says first what it will do."""
    config.read()
    folder = store.find(run)
    snapshot = take(folder)
    if snapshot.holder:
        say(f"Run {folder.name} is at work already; watching it.")
        return _watch(folder, plain=plain, detach=detach)
    decided = _decided(snapshot, at)
    for line in decided.lines:
        say(line)
    if decided.kind == "complete":
        return 0
    if not yes and sys.stdin.isatty() and not typer.confirm("Go on?", default=True):
        return Blocked.exit_code
    where = {None: None, Where.step: "place", Where.start: "start"}[at]
    offset = _journal_size(folder)
    supervise.start(folder, _secrets(snapshot.state, {}), yes=yes, where=where)
    return _watch(folder, plain=plain, detach=detach, offset=offset, told=decided.lines)


def _decided(snapshot: Snapshot, at: Where | None) -> Resume:
    world = observe(snapshot.run, snapshot.runbook, snapshot.plan, snapshot.state)
    return decide(snapshot.plan, snapshot.state, world, None if at is None else at is Where.step)


def _journal_size(run: RunFolder) -> int:
    try:
        return run.journal.stat().st_size
    except OSError:
        return 0


def _watch(run: RunFolder, *, plain: bool, detach: bool, offset: int = 0, told: tuple[str, ...] = ()) -> int:
    if detach:
        say(run.name)
        return 0
    if plain or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return headless.follow(run, offset, told=told)
    from omnitui.ui.app import open_app  # noqa: PLC0415

    return open_app(run=run)


@app.command()
def rehearse(
    runbook: Annotated[str | None, typer.Argument(help="A runbook's id or its folder.")] = None,
    given: Annotated[list[str], typer.Option("--set", metavar="K=V", help="Set a variable.")] = [],  # noqa: B006
    schedule: Annotated[
        str | None, typer.Option(help="Which order of passes; the runbook's first by default.")
    ] = None,
    order: Annotated[str, typer.Option(metavar="S/P,...", help="Your own order of passes.")] = "",
    fault: Annotated[str | None, typer.Option(help="What to break on purpose; `none` to lift it.")] = None,
    again: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="Take up a rehearsal in its sandbox.")
    ] = None,
    at: Annotated[
        Where | None, typer.Option(help="Go on at the failed step, or from the start of its pass.")
    ] = None,
    plain: Headless = False,
    yes: Yes = False,
    list_faults: Annotated[bool, typer.Option("--list-faults", help="Say what can be broken.")] = False,
) -> int:
    """Run a real runbook against stand-ins, in a sandbox: to learn the page, or to see how it breaks."""
    from omnitui.rehearsal import faults, rehearse, sandbox  # noqa: PLC0415 - only this verb needs them

    if list_faults:
        for name, one in faults.FAULTS.items():
            of = f" ({one.page})" if one.page else ""
            say(f"{name:<16} {one.breaks}; ends red at {one.ends}{of}")
        return 0
    if sandbox.sandbox_of():
        return _rehearse_inside(store.find(again), plain=plain, yes=yes, at=at)
    if (runbook is None) == (again is None):
        raise UsageError("name a runbook, or --resume with a rehearsal")
    if again is not None:
        folder = store.find(again)
        if not store.read(folder).rehearsal:
            raise UsageError(f"run {folder.name} is no rehearsal; go on with: omnitui resume {folder.name}")
        if fault is not None:
            rehearse.set_fault(folder, fault)
    else:
        values = _pairs(given)
        for name, variable in _loaded(runbook or "").variables.items():
            if variable.secret:
                values.pop(name, None)
        folder = rehearse.begin(runbook or "", values, schedule, _order(order), fault or rehearse.NONE)
    flags = ["--headless"] * plain + ["--yes"] * yes + (["--at", at.value] if at else [])
    return rehearse.enter(folder, ["rehearse", "--resume", folder.name, *flags])


def _rehearse_inside(folder: RunFolder, *, plain: bool, yes: bool, at: Where | None) -> int:
    from omnitui.rehearsal import rehearse  # noqa: PLC0415

    rehearse.inside(folder)
    where = {None: None, Where.step: "place", Where.start: "start"}[at]
    state = store.read(folder)
    offset = _journal_size(folder) if state.steps else 0
    if take(folder).outcome != "complete":
        supervise.start(folder, _secrets(state, {}), yes=yes, where=where)
    return _watch(folder, plain=plain, detach=False, offset=offset)


@app.command()
def attach(run: Run = None, plain: Headless = False) -> int:
    """Watch a run: its Run screen, or its story in plain lines."""
    return _watch(store.find(run), plain=plain, detach=False)


@app.command()
def runs(as_json: Json = False) -> None:
    """List all runs, newest first."""
    rows = [row(run) for run in store.runs()]
    if as_json:
        say(json.dumps(rows, indent=2))
        return
    if not rows:
        say(f"No runs in {store.home() / 'runs'}. Start one with: omnitui run quickstart")
    for one in rows:
        mark = "REHEARSAL " if one.get("rehearsal") else ""
        say(f"{one['run']:<40} {one['outcome']:<12} {mark}{one['step'] or ''} {one['reason']}".rstrip())


@app.command()
def status(run: Run = None, as_json: Json = False) -> int:
    """Say where a run stands and what a resume would do."""
    snapshot = take(store.find(run))
    found = standing(snapshot)
    if as_json:
        gates = [
            {"word": g.word, "about": g.about, "verdict": g.kind, "reason": g.reason, "at": g.at}
            for g in snapshot.gates
        ]
        lines = list(snapshot.resume.lines) if snapshot.resume else []
        say(json.dumps({**found, "gates": gates, "resume": lines, "machine": machine_row(snapshot.run)}, indent=2))
    else:
        mark = "REHEARSAL " if found["rehearsal"] else ""
        say(f"{mark}{found['run']}: {found['outcome']}, {found['done']} of {found['steps']} steps done")
        if snapshot.shortage:
            say(f"  {snapshot.shortage}")
        if found["step"]:
            say(f"at {found['step']}: {found['status']} {found['reason']}".rstrip())
        for scope, marks in found["marks"].items():
            say(f"  ! {scope} will not be averaged: {'; '.join(marks)}")
        for gate in (one for one in snapshot.gates if not one.ends):
            say(f"  {gate.word}: {gate.kind}: {gate.reason}")
        for line in machine_lines(snapshot.run):
            say(f"  {line}")
        for line in snapshot.resume.lines if snapshot.resume else ():
            say(f"  {line}")
    return headless.EXIT[snapshot.outcome]


@app.command()
def gates(run: Run = None, as_json: Json = False) -> None:
    """Show every gate of a run as last read, and how its verdict changed."""
    found = gate_story(take(store.find(run)))
    say(json.dumps(found, indent=2) if as_json else gate_lines(found))


@app.command("config")
def config_verb(as_json: Json = False) -> None:
    """Print what is set for all runs, and in which file."""
    found, file = config.read(), config.path()
    if as_json:
        say(json.dumps({"file": str(file), "exists": file.exists(), **msgspec.to_builtins(found)}, indent=2))
    else:
        say(f"# {file}{'' if file.exists() else ' (not there; all is as by default)'}")
        say(config.as_toml(found).rstrip())


@app.command()
def hold(run: GivenRun) -> None:
    """End the runner after the step it is at."""
    say(supervise.hold_run(store.find(run)))


@app.command()
def stop(run: GivenRun) -> int:
    """Stop the step at work, its servers and the runner."""
    folder = store.find(run)
    # A live runner is only asked; what one that is gone has left can be ended only where it is.
    code = _in_its_sandbox(folder, "stop") if store.holder(folder) is None else None
    if code is None:
        say(supervise.stop_run(folder))
    return code or 0


@app.command()
def redo(run: GivenRun, scope: Annotated[str, typer.Argument(metavar="SERIES/PASS", help="The pass.")]) -> int:
    """Begin a pass again: its output is moved aside, never deleted. `resume` goes on."""
    folder = store.find(run)
    if (code := _in_its_sandbox(folder, "redo", scope)) is not None:
        return code
    for path in decisions.redo_pass(folder, scope):
        say(f"moved aside: {path}")
    say(f"go on with: omnitui {_resuming(folder)}")
    return 0


def _resuming(run: RunFolder) -> str:
    return f"{'rehearse --resume' if store.read(run).rehearsal else 'resume'} {run.name}"


def _in_its_sandbox(run: RunFolder, verb: str, *arguments: str) -> int | None:
    """The exit code of a verb that acts on the world of a rehearsal, from its sandbox; None: it is done here."""
    state = store.read(run)
    if not state.rehearsal:
        return None
    from omnitui.rehearsal import rehearse  # noqa: PLC0415 - only rehearsals need it

    if worlds.is_other(state):
        return rehearse.enter(run, [verb, run.name, *arguments])
    rehearse.inside(run)
    return None


@app.command()
def confirm(run: GivenRun) -> None:
    """Say yes to the step that asks; `resume` goes on."""
    folder = store.find(run)
    step = take(folder).current
    if step is None:
        raise UsageError(f"run {folder.name} is complete; nothing asks")
    decisions.confirm(folder, step.id)
    say(f"confirmed {step.id}; go on with: omnitui {_resuming(folder)}")


@app.command()
def skip(
    run: GivenRun,
    step: Annotated[str, typer.Argument(help="The step's id, as `status` shows it.")],
    reason: Annotated[str, typer.Option(help="Why the run may go on without it.")],
) -> None:
    """Go on without a step. A pass that lacks one is left out of the averages."""
    decisions.skip(store.find(run), step, reason)
    say(f"skipped {step}")


@app.command()
def remedy(
    run: GivenRun,
    step: Annotated[str, typer.Argument(help="The step that is red.")],
    number: Annotated[int | None, typer.Argument(help="Which of its remedies to take.")] = None,
) -> int:
    """List what the page says to do when a step is red, or do it: its command runs where the step does."""
    from omnitui import remedies  # noqa: PLC0415 - brings what only a runner needs

    folder = store.find(run)
    if number is None:
        planned, found = remedies.offered(folder, step)
        for index, one in enumerate(found, 1):
            say(f"{index}. {one.say}" + "".join(f"\n     {line}" for line in one.run.strip().splitlines()))
        if not found:
            say(f"“{planned.step.title}” has no remedies.")
        return 0
    if (code := _in_its_sandbox(folder, "remedy", step, str(number))) is not None:
        return code
    secrets = _secrets(store.read(folder), {})
    status = remedies.take(folder, step, number, secrets, say)
    say(f"exit status {status}; go on with: omnitui {_resuming(folder)}")
    return 0 if status == 0 else 1


@app.command()
def check(runbook: Annotated[str, typer.Argument(help="A runbook's id or its folder.")]) -> int:
    """Check a runbook: keys, names, scripts, patterns."""
    folder = load.locate(runbook)
    found = problems(folder)
    for problem in found:
        sys.stderr.write(f"{plain(str(problem))}\n")
    if found:
        return UsageError.exit_code
    say(f"{folder / load.FILE}: ok")
    return 0


@app.command()
def show(
    runbook: Annotated[str, typer.Argument(help="A runbook's id or its folder.")],
    form: Annotated[ShowFormat, typer.Option("--format", help="sh or md.")] = ShowFormat.md,
    given: Annotated[list[str], typer.Option("--set", metavar="K=V", help="Set a variable.")] = [],  # noqa: B006
    schedule: Annotated[str | None, typer.Option(help="Which order of passes.")] = None,
) -> None:
    """Print a runbook with its variables resolved."""
    loaded = _loaded(runbook)
    pairs = _pairs(given)
    for name, value in pairs.items():
        if name not in loaded.variables:
            known = ", ".join(loaded.variables) or "none"
            raise UsageError(f"the runbook has no variable {name}; it has: {known}")
        if reason := refusal(loaded, name, value):
            raise UsageError(reason)
    values = {name: pairs.get(name, variable.default) for name, variable in loaded.variables.items()}
    own = {
        name: value for name, value in values.items() if value is not None and not loaded.variables[name].secret
    }
    later = [*BUILT_IN, *(name for name, variable in loaded.variables.items() if variable.handed)]
    found = resolved(own, {name: f"${{{name}}}" for name in later})
    shown = {name: found[name] for name in own}
    picked = schedule_of(loaded, schedule)
    narrowed = narrow(loaded, own)
    shape = as_shell if form is ShowFormat.sh else as_markdown
    say(shape(narrowed, picked, shown))


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
    runbook: Annotated[str, typer.Argument(help="A runbook's id or its folder.")],
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Which to download; all.")] = None,
    given: Annotated[list[str], typer.Option("--set", metavar="K=V", help="Set a variable.")] = [],  # noqa: B006
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
    found = provision.look(runbook, _pairs(given))
    code = 0
    if download:
        code = provision.bring(found.shelf, provision.chosen(found, ids or []), quiet)
        found = provision.look(runbook, _pairs(given))
    counted = provision.tell_rows(found, quiet) if rows else []
    say(provision.as_json(found, counted) if as_json else provision.table(found))
    return code or int(not found.complete)


@app.command()
def repair(run: GivenRun) -> None:
    """Rebuild a corrupt state from the journal and the job folders."""
    for line in decisions.repair(store.find(run)):
        say(line)


def _order(given: str) -> list[str]:
    entries = items_of(given)
    if given and not entries:
        raise UsageError(f"--order {given!r} names no pass; write SERIES/PASS,SERIES/PASS")
    return entries


def _pairs(given: list[str]) -> dict[str, str]:
    values = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--set {pair}: write NAME=VALUE")
        values[name] = value
    return values


def _secrets(state: RunState, given: Mapping[str, str]) -> dict[str, str]:
    """Secrets from the command line or the environment; else the operator is asked, each time."""
    found = dict(given)
    for name in state.secrets:
        if name in found or os.environ.get(name):
            found.setdefault(name, os.environ.get(name, ""))
        elif sys.stdin.isatty():
            found[name] = getpass.getpass(f"{name} (not shown, not stored): ")
        else:
            raise Blocked(f"the secret {name} is not in the environment; it is never stored: export {name}=...")
    return found
