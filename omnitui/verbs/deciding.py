"""The verbs that carry out what the operator decided: hold, stop, redo, confirm, skip, remedy, repair."""

from typing import Annotated

import typer

from omnitui import decisions, store, supervise, worlds
from omnitui.errors import UsageError
from omnitui.headless import say
from omnitui.plan import lay_out, named_step
from omnitui.runbook.narrow import of_run
from omnitui.snapshot import take
from omnitui.store import RunFolder
from omnitui.verbs.options import GivenRun, secrets_of

app = typer.Typer()


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
    step: Annotated[str, typer.Argument(help="The step's id, as `status` shows it, or its last part.")],
    reason: Annotated[str, typer.Option(help="Why the run may go on without it.")],
) -> None:
    """Go on without a step. A pass that lacks one is left out of the averages."""
    folder = store.find(run)
    step_id = _step_id(folder, step)
    decisions.skip(folder, step_id, reason)
    say(f"skipped {step_id}")


@app.command()
def remedy(
    run: GivenRun,
    step: Annotated[str, typer.Argument(help="The id of the step that is red, or its last part.")],
    number: Annotated[int | None, typer.Argument(help="Which of its remedies to take.")] = None,
) -> int:
    """List what the page says to do when a step is red, or do it: its command runs where the step does."""
    from omnitui import remedies  # noqa: PLC0415 - brings what only a runner needs

    folder = store.find(run)
    step = _step_id(folder, step)
    if number is None:
        planned, found = remedies.offered(folder, step)
        for index, one in enumerate(found, 1):
            say(f"{index}. {one.say}" + "".join(f"\n     {line}" for line in one.run.strip().splitlines()))
        if not found:
            say(f"“{planned.step.title}” has no remedies.")
        return 0
    if (code := _in_its_sandbox(folder, "remedy", step, str(number))) is not None:
        return code
    secrets = secrets_of(store.read(folder))
    status = remedies.take(folder, step, number, secrets, say)
    say(f"exit status {status}; go on with: omnitui {_resuming(folder)}")
    return 0 if status == 0 else 1


@app.command()
def repair(run: GivenRun) -> None:
    """Rebuild a corrupt state from the journal and the job folders."""
    for line in decisions.repair(store.find(run)):
        say(line)


def _step_id(run: RunFolder, name: str) -> str:
    state = store.read(run)
    return named_step(lay_out(of_run(run.runbook, state.variables), state.schedule), name).id


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
