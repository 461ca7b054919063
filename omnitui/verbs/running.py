"""The verbs that open the app, start a runner, or watch one: open, run, resume, rehearse, attach."""

import os
import sys
from collections.abc import Mapping
from typing import Annotated

import typer

from omnitui import config, headless, preflight, store, supervise
from omnitui.errors import Blocked, UsageError
from omnitui.headless import say
from omnitui.model import RunState
from omnitui.resumption import Resume
from omnitui.resumption import resume as decide
from omnitui.runbook import load
from omnitui.runbook.variables import items_of
from omnitui.snapshot import Snapshot, take
from omnitui.store import RunFolder
from omnitui.verbs.options import At, Given, GivenRunbook, Headless, Run, Where, Yes, loaded, pairs, secrets_of
from omnitui.world import observe

app = typer.Typer()
Schedule = Annotated[str | None, typer.Option(help="Which order of passes; the runbook's first by default.")]
Detach = Annotated[bool, typer.Option("--detach", help="Start it and return at once.")]


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
    runbook: GivenRunbook,
    given: Given = [],
    schedule: Schedule = None,
    order: Annotated[
        str, typer.Option(metavar="S/P,...", help="Your own order of passes, in place of the schedule's.")
    ] = "",
    plain: Headless = False,
    detach: Detach = False,
    yes: Yes = False,
) -> int:
    """Start a new run of a runbook."""
    config.read()  # What is wrong with it is told now, not when somebody should have been called.
    values = pairs(given)
    names = [name for name, variable in loaded(runbook).variables.items() if variable.secret]
    secrets = {name: values.pop(name) for name in names if name in values}
    run = supervise.make_run(runbook, values, schedule, _order(order))
    with supervise.beginning(run):
        for warning in preflight.preflight(loaded(runbook), values):
            sys.stderr.write(f"omnitui: {warning}\n")
        _start(run, store.read(run), secrets, yes=yes)
    return _watch(run, plain=plain, detach=detach)


def _order(given: str) -> list[str]:
    entries = items_of(given)
    if given and not entries:
        raise UsageError(f"--order {given!r} names no pass; write SERIES/PASS,SERIES/PASS")
    return entries


@app.command()
def resume(
    run: Run = None,
    plain: Headless = False,
    yes: Yes = False,
    at: At = None,
    detach: Detach = False,
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
    offset = _journal_size(folder)
    _start(folder, snapshot.state, yes=yes, at=at)
    return _watch(folder, plain=plain, detach=detach, offset=offset, told=decided.lines)


def _decided(snapshot: Snapshot, at: Where | None) -> Resume:
    world = observe(snapshot.run, snapshot.runbook, snapshot.plan, snapshot.state)
    return decide(snapshot.plan, snapshot.state, world, None if at is None else at is Where.step)


@app.command()
def rehearse(
    runbook: Annotated[str | None, typer.Argument(help="A runbook's id or its folder.")] = None,
    given: Given = [],
    schedule: Schedule = None,
    order: Annotated[str, typer.Option(metavar="S/P,...", help="Your own order of passes.")] = "",
    fault: Annotated[str | None, typer.Option(help="What to break on purpose; `none` to lift it.")] = None,
    again: Annotated[
        str | None, typer.Option("--resume", metavar="RUN", help="Take up a rehearsal in its sandbox.")
    ] = None,
    at: At = None,
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
        folder = _rehearsal(again)
        if fault is not None:
            rehearse.set_fault(folder, fault)
    else:
        values = pairs(given)
        for name, variable in loaded(runbook or "").variables.items():
            if variable.secret:
                values.pop(name, None)
        folder = rehearse.begin(runbook or "", values, schedule, _order(order), fault or rehearse.NONE)
    flags = ["--headless"] * plain + ["--yes"] * yes + (["--at", at.value] if at else [])
    return rehearse.enter(folder, ["rehearse", "--resume", folder.name, *flags])


def _rehearsal(name: str) -> RunFolder:
    folder = store.find(name)
    if not store.read(folder).rehearsal:
        raise UsageError(f"run {folder.name} is no rehearsal; go on with: omnitui resume {folder.name}")
    return folder


def _rehearse_inside(folder: RunFolder, *, plain: bool, yes: bool, at: Where | None) -> int:
    from omnitui.rehearsal import rehearse  # noqa: PLC0415

    rehearse.inside(folder)
    state = store.read(folder)
    offset = _journal_size(folder) if state.steps else 0
    if take(folder).outcome != "complete":
        _start(folder, state, yes=yes, at=at)
    return _watch(folder, plain=plain, detach=False, offset=offset)


@app.command()
def attach(run: Run = None, plain: Headless = False) -> int:
    """Watch a run: its Run screen, or its story in plain lines."""
    return _watch(store.find(run), plain=plain, detach=False)


def _start(
    run: RunFolder,
    state: RunState,
    given: Mapping[str, str] | None = None,
    *,
    yes: bool,
    at: Where | None = None,
) -> None:
    where = {None: None, Where.step: "place", Where.start: "start"}[at]
    supervise.start(run, secrets_of(state, given), yes=yes, where=where)


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
