"""Making a run, starting its detached runner, and acting for the operator while no runner is at work."""

import json
import os
import pwd
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from secrets import token_hex

from msgspec.structs import replace

from omnitui import errors, store
from omnitui.errors import CorruptState, OmniError, StoreError, UsageError
from omnitui.gates import judge_port_free
from omnitui.jobs.output import tail
from omnitui.model import (
    SCHEMA,
    Asking,
    Passed,
    PassRecord,
    Running,
    RunState,
    Skipped,
    StepRecord,
    Stopped,
    ended_attempt,
)
from omnitui.places.local import identity_of
from omnitui.plan import apply, edit_mark, find_step, is_done, lay_out, next_step, redo, schedule_of
from omnitui.probes import listeners
from omnitui.runbook import load
from omnitui.runbook.check import problems
from omnitui.runbook.schema import Confirm, Runbook
from omnitui.runbook.variables import BUILT_IN, chosen, resolved, secret_names
from omnitui.store import Owned, RunFolder
from omnitui.values import of_scope, port_of

_BEGIN_S = 30.0
SHELL_CPUS = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()
"""The CPUs of the operator's shell, before anything of ours moves away: what runners and jobs are given."""


def make_run(name: str, given: Mapping[str, str], schedule: str | None) -> RunFolder:
    """Make a new run of a runbook. Raises `UsageError` or `RunbookError`; nothing runs yet."""
    folder = load.locate(name)
    for problem in problems(folder):
        raise problem
    runbook = load.load(folder)
    values = chosen(runbook, given)
    resolved(values, dict.fromkeys(BUILT_IN, ""))
    # The id marks every process of the run: two users who start a page in the same second must not share it.
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    state = RunState(
        schema=SCHEMA,
        run=f"{stamp}-{folder.name}-{token_hex(3)}",
        runbook=folder.name,
        runbook_sha256=load.digest(folder),
        title=runbook.title,
        created=store.now(),
        schedule=schedule_of(runbook, schedule).order,
        variables=values,
        secrets=secret_names(runbook),
        source=str(folder),
    )
    return store.create(state, folder, load.files_of(folder))


def start(
    run: RunFolder,
    secrets: Mapping[str, str] | None = None,
    *,
    one: bool = False,
    yes: bool = False,
    where: str | None = None,
) -> int:
    """Start a detached runner; its pid once it has begun. Raises what it says, or what it died of.

    `where` is "place" or "start" to override where an interrupted pass resumes.
    """
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    argv = [sys.executable, "-m", "omnitui.runner", str(run.path), "--handoff", str(writing)]
    argv += ["--one"] * one + ["--yes"] * yes + (["--where", where] if where else [])
    if SHELL_CPUS:
        argv += ["--cpus", ",".join(map(str, sorted(SHELL_CPUS)))]
    try:
        with open(os.open(run.runner_log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as log:
            child = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[writing],
                start_new_session=True,
                env={**os.environ, **(secrets or {})},
            )
    except OSError as error:
        raise StoreError(f"the runner could not be started: {error}") from error
    finally:
        os.close(writing)
    _CHILDREN.append(child)
    try:
        return _handed_off(run, child, reading)
    finally:
        os.close(reading)


_CHILDREN: list["subprocess.Popen[bytes]"] = []


def reap() -> None:
    """Let ended runners go, so that they do not stay as zombies while the app lives."""
    _CHILDREN[:] = [child for child in _CHILDREN if child.poll() is None]


def _handed_off(run: RunFolder, child: "subprocess.Popen[bytes]", pipe: int) -> int:
    line = b""
    with suppress(OSError):
        while not line.endswith(b"\n"):
            data = os.read(pipe, 4096)
            if not data:
                break
            line += data
    if not line.endswith(b"\n"):
        status = child.wait()
        said = tail(run.runner_log, 3)
        raise OmniError(
            f"the runner died (status {status}) before it began: {' | '.join(said) or 'it said nothing'}"
        )
    told = json.loads(line)
    if "begun" in told:
        return int(told["begun"])
    child.wait()
    kind = getattr(errors, told["type"], OmniError)
    if not issubclass(kind, OmniError) or issubclass(kind, errors.RunbookError):
        kind = UsageError if told["exit"] == UsageError.exit_code else OmniError
    raise kind(told["error"])


def stop_run(run: RunFolder, patience_s: float = 90.0) -> str:
    """Stop a run and its servers, whether a runner is at work or not; what was done."""
    if store.holder(run) is None:
        return _stop_left_overs(run)
    store.ask(run, "stop")
    until = time.monotonic() + patience_s
    while store.holder(run) is not None:
        reap()
        if time.monotonic() > until:
            raise OmniError(f"run {run.name} has not stopped within {patience_s:.0f} s; its log: {run.runner_log}")
        time.sleep(0.05)
    return "stopped"


def _stop_left_overs(run: RunFolder) -> str:
    with acting(run) as owned:
        stopped = [*_stop_orphan(owned), *(f"server {name}" for name in _stop_servers(owned))]
        stopped += _stop_stragglers(owned)
    return f"stopped {', '.join(stopped)}" if stopped else "nothing was running"


def _stop_orphan(owned: Owned) -> list[str]:
    """Stop the job that a dead runner left at work; its step then reads as stopped. The step's title."""
    import asyncio  # noqa: PLC0415 - only these rare decisions need it

    from omnitui.jobs.job import look_of  # noqa: PLC0415
    from omnitui.jobs.stop import stop  # noqa: PLC0415
    from omnitui.world import job_of  # noqa: PLC0415

    runbook = load.load(owned.run.runbook)
    step = next_step(lay_out(runbook, owned.state.schedule), owned.state)
    record = owned.state.step(step.id) if step else StepRecord()
    if step is None or not isinstance(record.status, Running):
        return []
    job = job_of(owned.run, runbook, step, record.status.attempt)
    alive = [one for one in (job, look_of(job)) if one.fact() == "alive"]
    for one in alive:
        done = asyncio.run(stop(one, 30.0))
        if done.survivors:
            raise OmniError(f"{step.id} is still alive: pid {', '.join(map(str, done.survivors))}")
    if not alive:
        return []
    ended = Stopped(attempt=record.status.attempt, at=store.now(), reason="stopped by the operator")
    after = owned.state.with_step(step.id, ended_attempt(record, record.status.since, 0.0, ended))
    owned.commit("step_ended", after, step=step.id, by=user())
    return [f"“{step.step.title}”"]


def _stop_servers(owned: Owned) -> list[str]:
    import asyncio  # noqa: PLC0415 - only these rare decisions need it

    from omnitui.jobs.stop import stop  # noqa: PLC0415
    from omnitui.world import server_jobs  # noqa: PLC0415

    runbook = load.load(owned.run.runbook)
    jobs = server_jobs(owned.run, runbook, lay_out(runbook, owned.state.schedule), owned.state)
    for name, (_, job) in jobs.items():
        done = asyncio.run(stop(job, 30.0))
        if done.survivors:
            raise OmniError(f"server {name} is still alive: pid {', '.join(map(str, done.survivors))}")
        servers = {key: record for key, record in owned.state.servers.items() if key != name}
        owned.commit("server_gone", replace(owned.state, servers=servers), server=name, by="operator")
    return list(jobs)


def _stop_stragglers(owned: Owned) -> list[str]:
    import asyncio  # noqa: PLC0415 - only these rare decisions need it

    from omnitui.jobs.stop import stop_stragglers  # noqa: PLC0415
    from omnitui.places.local import Local  # noqa: PLC0415

    left = asyncio.run(stop_stragglers(Local(), owned.run.name, 10.0))
    if left:
        owned.commit("stragglers", stopped=left)
    return [f"{left} processes that steps had left behind"] if left else []


def redo_pass(run: RunFolder, scope: str) -> list[Path]:
    """Begin a pass again: servers stopped, output moved aside, steps waiting. What was moved, by its new name."""
    runbook = load.load(run.runbook)
    with acting(run) as owned:
        plan = lay_out(runbook, owned.state.schedule)
        decided = redo(plan, owned.state, scope)
        _stop_orphan(owned)
        _stop_servers(owned)
        out = of_scope(runbook, owned.state, scope, run.path)["OUT"]
        moved = store.move_aside([Path(out), run.pass_folder(scope)])
        owned.commit("moved_aside", moved=[str(path) for path in moved])
        owned.commit("redo", apply(owned.state, decided), at=decided.at, by=user())
    return moved


def hold_run(run: RunFolder) -> str:
    """Ask the live runner to end after the step it is at."""
    if store.holder(run) is None:
        return "no runner is at work; nothing to hold"
    store.ask(run, "hold")
    return "the run holds after the step it is at"


def acting(run: RunFolder) -> AbstractContextManager[Owned]:
    """The run's lock, for a decision of the operator while no runner is at work."""
    return store.owned(run, identity_of(os.getpid()), role="operator")


def confirm(run: RunFolder, step_id: str) -> None:
    """Say yes to the step that asks."""
    runbook = load.load(run.runbook)
    with acting(run) as owned:
        planned = find_step(lay_out(runbook, owned.state.schedule), step_id)
        record = owned.state.step(step_id)
        if not isinstance(record.status, Asking):
            raise UsageError(f"{step_id} does not ask anything")
        if isinstance(planned.step, Confirm):
            attempt = len(record.attempts) + 1
            done = Passed(attempt=attempt, at=store.now(), evidence=(f"confirmed by {user()}",))
            after = ended_attempt(record, record.status.at, 0.0, done)
        else:
            after = StepRecord(attempts=record.attempts, edited=record.edited, confirmed=True)
        owned.commit("confirmed", owned.state.with_step(step_id, after), step=step_id, by=user())


def skip(run: RunFolder, step_id: str, reason: str) -> None:
    """Go on without a step; a pass that lacks one is left out of the averages."""
    if not reason.strip():
        raise UsageError("a skipped step needs a reason")
    runbook = load.load(run.runbook)
    with acting(run) as owned:
        planned = find_step(lay_out(runbook, owned.state.schedule), step_id)
        _stop_orphan(owned)
        record = owned.state.step(step_id)
        if is_done(record.status):
            raise UsageError(f"{step_id} is done already")
        after = ended_attempt(record, store.now(), 0.0, Skipped(at=store.now(), reason=reason))
        state = owned.state.with_step(step_id, after)
        if planned.in_pass:
            state = _marked(state, planned.scope, f"{planned.step.id} was skipped: {reason}")
        owned.commit("skipped", state, step=step_id, reason=reason, by=user())


def edit(run: RunFolder, step_id: str, command: str) -> None:
    """Replace a step's command for its next attempt; its pass is marked as deviating."""
    runbook = load.load(run.runbook)
    with acting(run) as owned:
        planned = find_step(lay_out(runbook, owned.state.schedule), step_id)
        record = owned.state.step(step_id)
        state = owned.state.with_step(step_id, replace(record, edited=command))
        if planned.in_pass and command:
            state = _marked(state, planned.scope, edit_mark(step_id))
        owned.commit("edited", state, step=step_id, command=command, by=user())


def _marked(state: RunState, scope: str, mark: str) -> RunState:
    known = state.passes.get(scope, PassRecord())
    marks = tuple(dict.fromkeys((*known.marks, mark)))
    return replace(state, passes={**state.passes, scope: replace(known, marks=marks)})


def user() -> str:
    """Who acts."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid {os.getuid()}"


def repair(run: RunFolder) -> list[str]:
    """Rebuild a corrupt state from the journal and the job folders; what was done and what cannot be known."""
    try:
        store.read(run)
    except CorruptState as error:
        reason = str(error)
    else:
        return [f"{run.state} is sound; nothing to repair"]
    report = [reason]
    with store.locked(run, identity_of(os.getpid()), "operator"):
        state = store.replay(run)
        if run.state.exists():
            names = (run.state.with_name(f"state.toml.corrupt-{number}") for number in count(1))
            kept = next(name for name in names if not name.exists())
            run.state.rename(kept)
            report.append(f"the corrupt file is kept as {kept.name}")
        Owned(run, state).restore()
    report.append(f"rebuilt from {len(store.events(run)[0])} journal lines: {len(state.steps)} steps were begun")
    for step_id, record in state.steps.items():
        if not is_done(record.status):
            report.append(
                f"{step_id} reads as {type(record.status).__name__.lower()}; `omnitui resume` will look at it"
            )
    return report


def preflight(runbook: Runbook, given: Mapping[str, str]) -> list[str]:
    """What would stand in the way of a run with these values, or end it: ports that are taken, logind's habits."""
    values = resolved(chosen(runbook, given), dict.fromkeys(BUILT_IN, ""))
    found = []
    for text in runbook.resources.ports:
        reading = listeners.look(port_of(text, values))
        if reading.listeners or reading.error:
            found.append(judge_port_free(reading).reason)
    return [*found, *filter(None, [killed_at_logout()])]


def killed_at_logout(config: Path = Path("/etc/systemd/logind.conf")) -> str:
    """How to keep the run alive where logind kills a user's processes at logout; empty where it does not."""
    with suppress(OSError):
        if "session-" not in Path("/proc/self/cgroup").read_text():
            return ""
        texts = [config, *sorted(Path(f"{config}.d").glob("*.conf"))]
        lines = [line.strip() for file in texts if file.exists() for line in file.read_text().splitlines()]
        answers = [
            line.partition("=")[2].strip().lower() for line in lines if line.startswith("KillUserProcesses=")
        ]
        if answers and answers[-1] in ("yes", "true", "1", "on"):
            return (
                "This host kills a user's processes at logout (KillUserProcesses in logind.conf): the run would "
                "die with your session. Run once: loginctl enable-linger; then start with: "
                "systemd-run --user --scope omnitui"
            )
    return ""
