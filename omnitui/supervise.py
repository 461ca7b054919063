"""Making a run, starting its detached runner with a hand-off, and asking it to hold or stop."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from secrets import token_hex

from omnitui import errors, store, worlds
from omnitui.decisions import NOTHING, stop_left_overs
from omnitui.errors import OmniError, StoreError, UsageError
from omnitui.jobs.output import tail
from omnitui.model import MARKER, SCHEMA, RunState
from omnitui.places.local import identity_of
from omnitui.plan import custom, lay_out, schedule_of
from omnitui.runbook import load
from omnitui.runbook.check import problems
from omnitui.runbook.narrow import narrow
from omnitui.runbook.schema import Runbook, Schedule
from omnitui.runbook.variables import BUILT_IN, asked_for, chosen, expand, refusal, resolved, secret_names
from omnitui.store import RunFolder
from omnitui.values import port_of

SHELL_CPUS = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else frozenset()
"""The CPUs of the operator's shell, before anything of ours moves away: what runners and jobs are given."""


def make_run(
    name: str,
    given: Mapping[str, str],
    schedule: str | None,
    order: Sequence[str] = (),
    *,
    rehearsal: bool = False,
) -> RunFolder:
    """Make a new run of a runbook; `order` is the operator's own, in place of the schedule's.

    Raises `UsageError` or `RunbookError`; nothing runs yet.
    """
    folder = load.locate(name)
    for problem in problems(folder):
        raise problem
    runbook = load.load(folder)
    values = chosen(runbook, given)
    picked = _picked(runbook, values, schedule, order)
    # The id marks every process of the run: two users who start a page in the same second must not share it.
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    state = RunState(
        schema=SCHEMA,
        run=f"{stamp}-{folder.name}-{token_hex(3)}",
        runbook=folder.name,
        runbook_sha256=load.digest(folder),
        title=runbook.title,
        created=store.now(),
        schedule=picked.order,
        variables=values,
        series=picked.series,
        secrets=tuple(name for name in secret_names(runbook) if name in asked_for(runbook, given)),
        source=str(folder),
        rehearsal=rehearsal,
    )
    return store.create(state, folder, load.files_of(folder))


def _picked(runbook: Runbook, values: Mapping[str, str], schedule: str | None, order: Sequence[str]) -> Schedule:
    """The order of passes, once nothing in the values stands against it."""
    known = resolved(values, dict.fromkeys(BUILT_IN, ""))
    for text in (*runbook.resources.ports, *(server.port for server in runbook.servers.values())):
        port_of(text, known)
    picked = schedule_of(runbook, schedule)
    if order:
        picked = custom(picked, order)
    refuse_series(runbook, picked, values)
    if not lay_out(narrow(runbook, values), picked.order):
        raise UsageError("these values leave no step of the runbook: a run of nothing would end green")
    return picked


def refuse_series(runbook: Runbook, schedule: Schedule, values: Mapping[str, str]) -> None:
    """Raise `UsageError` when a series has a value that its variable refuses, or shares an output folder.

    Two series may be one commit under two names: their folders must differ all the same.
    """
    # What a step still has to hand on stays a name here: it may turn out to be the same for both.
    known = {**dict.fromkeys(runbook.variables, ""), **{name: f"${{{name}}}" for name in BUILT_IN}}
    run = {entry.partition("/")[0] for entry in schedule.order}
    for series, written in ((name, own) for name, own in schedule.series.items() if name in run):
        found = resolved({**values, **written}, known)
        for name, text in written.items():
            if reason := refusal(runbook, name, found[name]):
                raise UsageError(f"series {series} takes {name} from {text}: {reason}")
    seen: dict[str, str] = {}
    for entry in schedule.order if runbook.passes.out else ():
        series, _, label = entry.partition("/")
        own = {**values, **schedule.series.get(series, {})}
        out = expand(runbook.passes.out, {**known, **resolved(own, {**known, "SERIES": series, "PASS": label})})
        if seen.setdefault(out, entry) != entry:
            both = f"passes {seen[out]} and {entry}"
            raise UsageError(f"{both} would share the output folder {out}; give their series different names")


@contextmanager
def beginning(run: RunFolder) -> Iterator[None]:
    """Start a new run within: nothing is left of one that is refused, which would be the newest run."""
    try:
        yield
    except BaseException:
        store.take_back(run, identity_of(os.getpid()))
        raise


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
    worlds.refuse_other(store.read(run))
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
                # A run that is started by a step of another one is no part of it.
                env={name: v for name, v in os.environ.items() if name != MARKER} | dict(secrets or {}),
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
            f"the runner of {run.name} died (status {status}) before it began: "
            f"{' | '.join(said) or 'it said nothing'}"
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
        return stop_left_overs(run)
    store.ask(run, "stop")
    until = time.monotonic() + patience_s
    while store.holder(run) is not None:
        reap()
        if time.monotonic() > until:
            raise OmniError(f"run {run.name} has not stopped within {patience_s:.0f} s; its log: {run.runner_log}")
        time.sleep(0.05)
    if worlds.is_other(store.read(run)):
        return "stopped"
    # A runner that was killed, or a step that failed meanwhile, may have left something at work.
    left = stop_left_overs(run)
    return "stopped" if left == NOTHING else left


def hold_run(run: RunFolder) -> str:
    """Ask the live runner to end after the step it is at."""
    if store.holder(run) is None:
        return "no runner is at work; nothing to hold"
    store.ask(run, "hold")
    return "the run holds after the step it is at"
