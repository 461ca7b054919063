"""What a resume must know of the world: the job that was running, the servers that live, the runbook."""

from pathlib import Path

from omnitui.errors import UsageError
from omnitui.jobs.job import Job, job_of
from omnitui.model import PassRecord, Running, RunState
from omnitui.places import output_at
from omnitui.plan import Plan, PlannedStep, find_step, next_step
from omnitui.resumption import World
from omnitui.runbook import load
from omnitui.runbook.schema import Runbook, Serve, Stop
from omnitui.store import RunFolder, folder_id, move_aside


def server_jobs(
    run: RunFolder, runbook: Runbook, plan: Plan, state: RunState
) -> dict[str, tuple[PlannedStep, Job]]:
    """The recorded servers with the steps that started them."""
    found = {}
    for name, record in state.servers.items():
        planned = find_step(plan, record.step)
        found[name] = (planned, job_of(run, runbook, state, planned, int(Path(record.job).name)))
    return found


def observe(run: RunFolder, runbook: Runbook, plan: Plan, state: RunState) -> World:
    """Look at everything that decides how a run resumes. Changes nothing."""
    servers = server_jobs(run, runbook, plan, state)
    # A worker that outlived its server's own process serves nobody.
    live = frozenset(name for name, (_, job) in servers.items() if job.leader_lives())
    changed = source_changed(state)
    step = next_step(plan, state)
    status = state.step(step.id).status if step else None
    if step is None or not isinstance(status, Running) or isinstance(step.step, Stop):
        return World(live_servers=live, runbook_changed=changed)
    job = job_of(run, runbook, state, step, status.attempt)
    fact = job.fact() if job.folder.path.exists() else "lost"
    if isinstance(step.step, Serve) and fact == "ended":
        # A server that has ended cannot become ready any more.
        fact = "lost"
    return World(fact, live, changed)


def source_changed(state: RunState) -> bool:
    """Whether the runbook that the run was made from is another one by now, or gone."""
    try:
        return load.digest(load.locate(state.source)) != state.runbook_sha256
    except UsageError:
        return True


def move_output_aside(run: RunFolder, runbook: Runbook, state: RunState, scope: str) -> list[Path]:
    """Move aside what a pass has written: its metrics, and its output if that folder is still its own."""
    output = output_at(runbook, state, scope, run)
    known = state.passes.get(scope, PassRecord()).out
    ours = not known or folder_id(output.host) == known
    moved = output.place.move_aside(output.path) if ours else []
    return [*moved, *move_aside([run.pass_folder(scope)])]
