"""A remedy whose shell was killed goes on without it: nothing may begin beside it."""

from omnitui.errors import Blocked
from omnitui.jobs.folder import JobFolder
from omnitui.jobs.job import Job, job_of
from omnitui.model import RunState, marker
from omnitui.places import Local
from omnitui.plan import PlannedStep, find_step, lay_out
from omnitui.runbook.schema import Runbook
from omnitui.store import RunFolder


def remedy_job(
    run: RunFolder, runbook: Runbook, state: RunState, planned: PlannedStep, name: str, *, on_host: bool
) -> Job:
    """The job of a remedy, whether it has been started or not: a folder beside the attempts of its step."""
    mark = f"{marker(run.name, planned.id, 0)}-{name}"
    if on_host:
        return Job(JobFolder(run.job(planned.id, 1).with_name(name)), Local(), mark)
    step = job_of(run, runbook, state, planned, 1)
    return Job(step.folder.beside(name), step.place, mark)


def refuse(run: RunFolder, runbook: Runbook, state: RunState) -> None:
    """Raise `Blocked` while a remedy of the run is at work that nobody waits for any more."""
    plan = lay_out(runbook, state.schedule)
    for folder in sorted((run.path / "jobs").glob("*/*/*/remedy-*")):
        if JobFolder(folder).exit_status() is not None:
            continue
        planned = find_step(plan, "/".join(folder.relative_to(run.path / "jobs").parts[:3]))
        # The folder of a job in a container is a link to where the host mounts it.
        job = remedy_job(run, runbook, state, planned, folder.name, on_host=not folder.is_symlink())
        job.give_up()
        if job.fact() == "alive":
            raise Blocked(
                f"{folder.name} of {planned.id} is still at work, though its shell is gone; "
                f"wait for it, or end it with: omnitui stop {run.name}"
            )
