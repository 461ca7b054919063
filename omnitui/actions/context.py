"""What an action is given, and what it may end in."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TypeAlias

from msgspec.structs import replace

from omnitui import claims, values
from omnitui.actions.changes import Changes
from omnitui.claims import claimed
from omnitui.contamination import Kind
from omnitui.gates import Green, Verdict, earned
from omnitui.jobs.job import Job, job_of
from omnitui.live import Board
from omnitui.model import Asking, Crashed, Failed, Passed, PassRecord, ServerRecord
from omnitui.places import Output, Place, output_at, place_at
from omnitui.plan import Plan, PlannedStep
from omnitui.runbook.schema import Runbook
from omnitui.store import Owned, now

Result: TypeAlias = Passed | Failed | Crashed | Asking


_LONGEST_REASON = 400


class StopAsked(Exception):
    """The operator asked to stop; the runner ends the step."""


@dataclass
class Context:
    """One run at work."""

    owned: Owned
    runbook: Runbook
    plan: Plan
    secrets: Mapping[str, str]
    board: Board
    changes: Changes
    stop_asked: asyncio.Event
    yes: bool = False
    hold_asked: bool = False
    claims: set[str] = field(default_factory=set)
    held: ExitStack = field(default_factory=ExitStack)
    """What the run has claimed of this host, by name, and the locks of what was claimed on the way."""
    servers: dict[str, "RunningServer"] = field(default_factory=dict)

    def claim_output(self, planned: PlannedStep) -> None:
        """Hold the output folder of the step's pass, if it is not held yet. Raises `ResourceBusy`."""
        if planned.in_pass:
            wanted = claims.output(self.output(planned.scope).host)
            missing = {name: thing for name, thing in wanted.items() if name not in self.claims}
            self.held.enter_context(claimed(missing, self.owned.run.name))
            self.claims |= wanted.keys()

    def values(self, planned: PlannedStep) -> dict[str, str]:
        """The step's values, without secrets. Paths are those of its place."""
        place = values.place_of(self.runbook, planned.step)
        return values.of_scope(self.runbook, self.owned.state, planned.scope, self.owned.run.path, place)

    def place(self, name: str, scope: str) -> Place:
        """The place of this name, as the values of a scope make it."""
        run = self.owned.run
        known = values.of_scope(self.runbook, self.owned.state, scope, run.path)
        return place_at(self.runbook, name, known, run)

    def output(self, scope: str) -> Output:
        """Where a pass leaves its output."""
        return output_at(self.runbook, self.owned.state, scope, self.owned.run)

    def masked(self, verdict: Verdict) -> Verdict:
        """The verdict with every secret in its reason blanked."""
        # Cut only after blanking: the beginning of a secret must not remain.
        reason = self.without_secrets(verdict.reason)[:_LONGEST_REASON]
        return verdict if reason == verdict.reason else replace(verdict, reason=reason)

    def without_secrets(self, text: str) -> str:
        """The text with every secret blanked."""
        for secret in filter(None, self.secrets.values()):
            text = text.replace(secret, "*" * 8)
        return text

    def spoil(self, planned: PlannedStep, kind: Kind, reason: str) -> None:
        """Mark the step's pass, so that it is not averaged: once for each kind in each round of the pass."""
        state = self.owned.state
        known = state.passes.get(planned.scope, PassRecord())
        if any(mark.startswith(kind) for mark in known.marks):
            return
        told = self.without_secrets(f"{reason} during {planned.step.id}")
        passes = {**state.passes, planned.scope: replace(known, marks=(*known.marks, told))}
        self.owned.commit("contaminated", replace(state, passes=passes), step=planned.id, kind=kind, reason=told)

    def job(self, planned: PlannedStep, attempt: int) -> Job:
        """The job of an attempt, whether it has been started or not."""
        return job_of(self.owned.run, self.runbook, self.owned.state, planned, attempt)

    def server_state(self, name: str, record: ServerRecord | None) -> None:
        """Commit a server's record, or its removal when `record` is None."""
        servers = dict(self.owned.state.servers)
        if record is None:
            servers.pop(name, None)
        else:
            servers[name] = record
        event = "server_gone" if record is None else "server_started"
        self.owned.commit(event, replace(self.owned.state, servers=servers), server=name)


@dataclass
class RunningServer:
    """A server of this run that should be up, and a future of its end."""

    name: str
    job: Job
    ended: "asyncio.Task[int | None]"
    watch: "asyncio.Task[None] | None" = None
    leaks: "asyncio.Task[None] | None" = None
    """Notes where secrets stand in the server's log, as it is written."""
    pins: "asyncio.Task[None] | None" = None
    """Reads back now and then that it keeps to its CPUs."""

    def let_go(self) -> None:
        """Watch it no more."""
        for task in (self.ended, self.watch, self.leaks, self.pins):
            if task:
                task.cancel()


Action: TypeAlias = Callable[[Context, PlannedStep, int], Awaitable[Result]]


def passed(attempt: int, verdicts: Mapping[str, Verdict], *extra: str, already: bool = False) -> Passed:
    """Green with its evidence. Only verdicts that earned it make it green."""
    assert earned(verdicts)
    evidence = tuple(
        verdict.reason if word in (verdict.reason, "(stopped)") else f"{word}: {verdict.reason}"
        for word, verdict in verdicts.items()
        if isinstance(verdict, Green)
    )
    return Passed(attempt=attempt, at=now(), evidence=(*evidence, *extra), already=already)


def failed(attempt: int, reason: str) -> Failed:
    """Red with its reason."""
    return Failed(attempt=attempt, at=now(), reason=reason)
