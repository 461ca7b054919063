"""The values that rooms hand to each other. All frozen; a change is a new value.

A step's status is one of eight types, each with only its own data. `RunState` is what `state.toml` holds;
steps that never began are not stored.
"""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

SCHEMA = 1
RUN_WIDE = "_"
"""Stands in a step's id for the series or the pass that the step does not belong to."""
MARKER = "OMNITUI_JOB"
"""The environment variable by which a job's processes are known even in sessions of their own."""
REHEARSAL = "OMNITUI_REHEARSAL"
"""The environment variable that names the rehearsal in whose sandbox a process is."""

PINNED = "(pinned)"
"""The word of each job's gate whose environment asks for CPUs; in brackets, so that no page's can be the same."""


def marker(run: str, step_id: str, attempt: int) -> str:
    """The value of the marker variable in every process of an attempt."""
    return f"{run}:{step_id}:{attempt}"


class Value(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of every stored value."""


class Identity(Value, frozen=True, kw_only=True):
    """Who a process is: `pid` alone may be anybody later. `start` is in clock ticks since boot."""

    pid: int
    start: int
    boot: str


class Waiting(Value, tag="waiting", tag_field="is", frozen=True, kw_only=True):
    """Not begun."""


class Running(Value, tag="running", tag_field="is", frozen=True, kw_only=True):
    """An attempt is under way, or was when its runner died. `since` is UTC, ISO 8601."""

    attempt: int
    since: str


class Passed(Value, tag="passed", tag_field="is", frozen=True, kw_only=True):
    """Green, with the evidence that earned it. `already` means that it was true before it ran."""

    attempt: int
    at: str
    evidence: tuple[str, ...]
    already: bool = False


class Failed(Value, tag="failed", tag_field="is", frozen=True, kw_only=True):
    """A gate is red. `went_on`: the runbook lets the steps after it run all the same."""

    attempt: int
    at: str
    reason: str
    went_on: bool = False


class Stopped(Value, tag="stopped", tag_field="is", frozen=True, kw_only=True):
    """The operator stopped it."""

    attempt: int
    at: str
    reason: str


class Crashed(Value, tag="crashed", tag_field="is", frozen=True, kw_only=True):
    """The job is gone and left no exit status: nobody can say how it ended."""

    attempt: int
    at: str
    reason: str


class Skipped(Value, tag="skipped", tag_field="is", frozen=True, kw_only=True):
    """The operator decided to go on without it."""

    at: str
    reason: str


class Asking(Value, tag="asking", tag_field="is", frozen=True, kw_only=True):
    """Waits for the operator's answer."""

    at: str
    question: str


Status: TypeAlias = Waiting | Running | Passed | Failed | Stopped | Crashed | Skipped | Asking
Ended: TypeAlias = Passed | Failed | Stopped | Crashed | Skipped


class Attempt(Value, frozen=True, kw_only=True):
    """One ended execution of a step. Times are UTC; `seconds` comes from the monotonic clock."""

    n: int
    began: str
    seconds: float
    outcome: str
    reason: str = ""
    edited: bool = False


class StepRecord(Value, frozen=True, kw_only=True):
    """What is known of one step; `attempts` are the ended ones, oldest first."""

    status: Status = Waiting()
    attempts: tuple[Attempt, ...] = ()
    edited: str = ""
    """The operator's own command in place of the runbook's, or empty."""
    confirmed: bool = False
    """The operator has agreed to a step that deletes or rebuilds something."""


class ServerRecord(Value, frozen=True, kw_only=True):
    """A server that was started and not yet stopped. `job` is its folder below the run folder."""

    step: str
    job: str


class PassRecord(Value, frozen=True, kw_only=True):
    """One pass: how often it was begun, and why its numbers must not be averaged, if so."""

    round: int = 1
    marks: tuple[str, ...] = ()
    out: str = ""
    """Which folder its output went to, whatever it is called by now; empty before it was made."""
    containers: Mapping[str, str] = {}
    """In which container its steps work, by the container's name: the start of its id."""


class RunState(Value, frozen=True, kw_only=True):
    """Everything that `state.toml` holds."""

    schema: int
    run: str
    runbook: str
    runbook_sha256: str
    title: str
    created: str
    schedule: tuple[str, ...]
    """The passes in order, as `series/pass`."""
    variables: Mapping[str, str]
    series: Mapping[str, Mapping[str, str]] = {}
    """Values that a series has for itself, over those of the run."""
    secrets: tuple[str, ...] = ()
    """Names only: values never reach the disk."""
    source: str = ""
    """The folder that the runbook was taken from."""
    rehearsal: bool = False
    """Its programs are stand-ins: its numbers are no measurements, and never beside real ones."""
    handed: Mapping[str, Mapping[str, str]] = {}
    """What steps handed on, by scope: `_/_` the run, `series/_` or `series/pass`."""
    steps: Mapping[str, StepRecord] = {}
    servers: Mapping[str, ServerRecord] = {}
    passes: Mapping[str, PassRecord] = {}

    def step(self, step_id: str) -> StepRecord:
        """The record of a step; a step that never began is waiting."""
        return self.steps.get(step_id, StepRecord())

    def with_step(self, step_id: str, record: StepRecord) -> "RunState":
        """A copy in which one step has changed."""
        return replace(self, steps={**self.steps, step_id: record})


def ended_attempt(record: StepRecord, began: str, seconds: float, status: Ended) -> StepRecord:
    """A record that has moved to `status`, with the attempt that led there added to its history."""
    attempt = 0 if isinstance(status, Skipped) else status.attempt
    reason = "" if isinstance(status, Passed) else status.reason
    name = type(status).__name__.lower()
    row = Attempt(
        n=attempt,
        began=began,
        seconds=round(seconds, 3),
        outcome=name,
        reason=reason,
        edited=bool(record.edited),
    )
    return replace(record, status=status, attempts=(*record.attempts, row))
