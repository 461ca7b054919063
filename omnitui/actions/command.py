"""Steps that run a script to its end: commands, collecting, summarizing; and the question to the operator."""

import asyncio
import os
from collections.abc import Mapping

from msgspec.structs import replace

from omnitui import store
from omnitui.actions.context import Context, Result, failed, passed
from omnitui.actions.gating import decide, look
from omnitui.actions.pinning import pinned, pinning_of
from omnitui.actions.watching import wait_job
from omnitui.errors import JobError
from omnitui.gates import Green, Red, Verdict, earned, judge_output, word_of
from omnitui.jobs.folder import read_handed
from omnitui.jobs.job import Job, look_of, start
from omnitui.jobs.output import Scanner, tail, words_of
from omnitui.model import Asking, Crashed
from omnitui.plan import PlannedStep, servers_at
from omnitui.runbook.gates import Coverage, Gate, Output
from omnitui.runbook.schema import Collect, Command, Confirm, Step
from omnitui.runbook.variables import expand
from omnitui.values import command_of, environment_at, script

_COLLECT = 'exec "$OMNITUI_PYTHON" -m omnitui.results.collect "$RUN_DIR" "$SERIES/$PASS"'
_LOST, _CUT = "(lost)", "(cut short)"
"""Verdicts that come from the job itself; in brackets, so that no gate's word can be the same."""
_SUMMARIZE = 'exec "$OMNITUI_PYTHON" -m omnitui results "$RUN_DIR"'


async def act_command(ctx: Context, planned: PlannedStep, attempt: int) -> Result:
    """Run the step's script and judge its gates, unless it is already true."""
    step = planned.step
    assert isinstance(step, Command)
    begun = os.path.lexists(ctx.job(planned, attempt).folder.path)
    if not begun and (true := await _true_already(ctx, planned, step, attempt)):
        return passed(attempt, true, "already true", already=True)
    if not begun and has_look(step) and must_ask(ctx, planned):
        return Asking(at=store.now(), question=destroys(planned))
    return await _act(ctx, planned, attempt, command_of(planned, ctx.owned.state), step.gates)


async def _true_already(ctx: Context, planned: PlannedStep, step: Command, attempt: int) -> dict[str, Verdict]:
    """What shows that the step is true already: all of its looks, or nothing."""
    seen: dict[str, Verdict] = {}
    if step.look_first:
        seen = await look(ctx, planned, attempt, step.gates)
        if not earned(seen):
            return {}
    if not step.satisfied_by:
        return seen
    job = look_of(ctx.job(planned, attempt))
    if job.folder.path.exists():
        return {}
    word = Output(word=step.satisfied_by.word)
    verdicts = await _run(ctx, planned, job, step.satisfied_by.run, (word,), looking=True)
    if isinstance(verdicts.get(word.word), Green):
        return {**seen, **verdicts}
    ctx.board.forget(planned.id)
    return {}


def must_ask(ctx: Context, planned: PlannedStep) -> bool:
    """Whether the operator has not yet agreed to a step that deletes or rebuilds something."""
    return planned.step.destructive and not (ctx.yes or ctx.owned.state.step(planned.id).confirmed)


def has_look(step: Step) -> bool:
    """Whether a step can be found to be true already, without running it."""
    return isinstance(step, Command) and (step.look_first or step.satisfied_by is not None)


def destroys(planned: PlannedStep) -> str:
    """The question before a step that deletes or rebuilds something."""
    return f"“{planned.step.title}” deletes or rebuilds something. Go on?"


async def act_collect(ctx: Context, planned: PlannedStep, attempt: int) -> Result:
    """Collect the pass in a job of its own, then judge its coverage from what was written."""
    gates = planned.step.gates or (Output(word="RUN_COMPLETE"), Coverage(word="coverage"))
    return await _act(ctx, planned, attempt, _COLLECT, gates)


async def act_summarize(ctx: Context, planned: PlannedStep, attempt: int) -> Result:
    """Print the table over the scored passes; red when one of them is incomplete."""
    return await _act(ctx, planned, attempt, _SUMMARIZE, planned.step.gates)


async def act_confirm(ctx: Context, planned: PlannedStep, attempt: int) -> Result:
    """Ask the operator; the runner ends until the answer is there."""
    step = planned.step
    assert isinstance(step, Confirm)
    if ctx.yes:
        return passed(attempt, {"confirmed": Green("by --yes")})
    return Asking(at=store.now(), question=expand(step.ask, ctx.values(planned)))


async def _act(ctx: Context, planned: PlannedStep, attempt: int, run: str, gates: tuple[Gate, ...]) -> Result:
    verdicts = await _run(ctx, planned, ctx.job(planned, attempt), run, gates)
    if _LOST in verdicts:
        return Crashed(attempt=attempt, at=store.now(), reason=verdicts[_LOST].reason)
    borne = set(planned.step.go_on)
    # What is incomplete says more than that a word is missing.
    if _reds(verdicts).keys() <= borne or isinstance(planned.step, Collect):
        verdicts |= await decide(ctx, planned, attempt, gates)
    reds = _reds(verdicts)
    if reds:
        reason = "; ".join(f"{word}: {told}" for word, told in reds.items())
        return replace(failed(attempt, reason), went_on=reds.keys() <= borne)
    try:
        _hand_on(ctx, planned, attempt)
    except JobError as error:
        return failed(attempt, ctx.without_secrets(str(error)))
    return passed(attempt, verdicts)


def _reds(verdicts: Mapping[str, Verdict]) -> dict[str, str]:
    return {word: verdict.reason for word, verdict in verdicts.items() if isinstance(verdict, Red)}


async def _run(
    ctx: Context, planned: PlannedStep, job: Job, run: str, gates: tuple[Gate, ...], *, looking: bool = False
) -> dict[str, Verdict]:
    """Run (or adopt) the job and judge its output gates; an exit status is always judged."""
    values = ctx.values(planned)
    outputs = [_expanded(gate, values) for gate in gates if isinstance(gate, Output)] or [Output()]
    job = job if job.folder.path.exists() else await _started(ctx, planned, job, run)
    patterns = tuple(gate.pattern for gate in outputs if gate.pattern)
    scanner = Scanner(job.folder.log, words_of(outputs), patterns, tuple(ctx.secrets.values()))

    def judged(exit_status: int | None = None, *, ended: bool = False) -> dict[str, Verdict]:
        reading = scanner.reading(exit_status, ended=ended)
        verdicts = {word_of(gate): ctx.masked(judge_output(gate, reading)) for gate in outputs}
        for word, verdict in verdicts.items():
            # A look that does not find its word is no red gate: the step itself comes next.
            if looking and not isinstance(verdict, Green):
                continue
            # A word that was printed is told at once, though the step has not ended.
            if ctx.board.show(planned.id, word, verdict, by_reason=True):
                ctx.owned.commit("gate", step=planned.id, word=word, verdict=verdict)
        return verdicts

    def changed() -> bool:
        return any(isinstance(verdict, Red) for verdict in judged().values())

    judged()
    servers = servers_at(ctx.plan, planned.id)
    async with pinned(None if looking else pinning_of(ctx, planned, job)) as kept:
        why = await wait_job(ctx, job, scanner, changed, planned.step.timeout_s, servers)
    scanner.read()
    status = job.folder.exit_status()
    if status is None and not why:
        return {_LOST: Red(await asyncio.to_thread(_lost, job))}
    verdicts = {**judged(status, ended=True), **kept}
    if why:
        trouble = await asyncio.to_thread(job.place.trouble, job.folder.begun) if status is None else ""
        verdicts[_CUT] = Red(f"{why}; {trouble}" if trouble else why)
    if scanner.leaks:
        ctx.owned.commit("leak", step=planned.id, attempt=job.folder.path.name, places=len(scanner.leaks))
    return verdicts


async def _started(ctx: Context, planned: PlannedStep, job: Job, run: str) -> Job:
    values = ctx.values(planned)
    text = script(environment_at(ctx.runbook, planned.step), planned.step.title, run, values)
    return await start(job.place, job.folder, text, {**values, **ctx.secrets}, job.marker, ctx.secrets)


def _lost(job: Job) -> str:
    last = tail(job.folder.log, 1)
    return job.lost() + (f"; its last line: {last[0][:200]}" if last else "")


def _expanded(gate: Output, values: dict[str, str]) -> Output:
    return replace(gate, equals=tuple(expand(value, values) for value in gate.equals))


def _hand_on(ctx: Context, planned: PlannedStep, attempt: int) -> None:
    handed = read_handed(ctx.job(planned, attempt).folder)
    if not handed:
        return
    secret = next((name for name in handed if name in ctx.owned.state.secrets), None)
    if secret:
        raise JobError(f"{secret} is a secret; it must not be handed on through $OMNITUI_ENV")
    carrier = next((name for name, value in handed.items() if value != ctx.without_secrets(value)), None)
    if carrier:
        raise JobError(f"the value of {carrier} holds a secret; it must not be handed on through $OMNITUI_ENV")
    known = ctx.owned.state.handed
    scope = planned.scope
    together = {**known, scope: {**known.get(scope, {}), **handed}}
    ctx.owned.commit("handed", replace(ctx.owned.state, handed=together), step=planned.id, names=sorted(handed))
