"""The command and the attempts of a step as texts to read."""

import shlex
from typing import assert_never

from textual.content import Content
from textual.highlight import highlight

from omnitui.plan import PlannedStep
from omnitui.runbook.check import environment_of
from omnitui.runbook.schema import Collect, Command, Confirm, Environment, Runbook, Serve, Step, Stop, Summarize
from omnitui.sanitise import plain
from omnitui.snapshot import Snapshot
from omnitui.ui.statuses import of_status
from omnitui.ui.widgets.rows import Cell, Row
from omnitui.values import command_of


def cleaned(text: str) -> str:
    """A text of several lines with nothing in it that a terminal would obey."""
    return "\n".join(map(plain, text.split("\n")))


def command_text(snapshot: Snapshot, planned: PlannedStep) -> Content:
    """What the step runs, and what its environment does first."""
    command = cleaned(command_of(planned, snapshot.state)).strip("\n")
    parts = []
    before = _environment(environment_of(snapshot.runbook, planned.step))
    if before and command:
        parts.append(Content.styled(f"# first, the environment {planned.step.env}", "$text-muted italic"))
        parts.append(highlight(before, language="bash"))
        parts.append(Content(""))
    if snapshot.record(planned).edited:
        parts.append(Content.styled("# edited by the operator", "$text-warning"))
    parts.append(
        highlight(command, language="bash") if command else Content(_action(snapshot.runbook, planned.step))
    )
    if isinstance(planned.step, Serve):
        server = snapshot.runbook.servers[planned.step.server]
        parts.append(Content(""))
        line = f"# in the background, until {server.word}: {server.health} on port {server.port} answers 200"
        parts.append(Content.styled(cleaned(line), "$text-muted italic"))
    return Content("\n").join(parts)


def _environment(environment: Environment) -> str:
    lines = [f"export {name}={shlex.quote(value)}" for name, value in environment.exports.items()]
    lines += [f"unset {name}" for name in environment.unset]
    lines += [f"cd {environment.cwd}"] * bool(environment.cwd)
    lines += [f"taskset -pc {environment.cpus} $$"] * bool(environment.cpus)
    return cleaned("\n".join([*lines, environment.prelude.strip("\n")])).strip("\n")


def _action(runbook: Runbook, step: Step) -> str:
    match step:
        case Stop():
            title = runbook.servers[step.server].title
            return plain(f"Stops {title}: TERM to its whole process group, KILL after {step.grace_s:g} s.")
        case Confirm():
            return plain(f"Asks you: {step.ask}")
        case Collect():
            return "Reads the result files of the pass, checks coverage and audio, and writes its metrics."
        case Summarize():
            return "Prints the table over the scored passes of each series."
        case Command() | Serve():
            return "Runs nothing."
    assert_never(step)


def attempt_rows(snapshot: Snapshot, planned: PlannedStep) -> tuple[Row, ...]:
    """A line for each attempt, newest first; the step and its number are the key."""
    record = snapshot.record(planned)
    signs = {"passed": ("✔", "green"), "skipped": ("–", "muted"), "stopped": ("■", "warn")}
    rows = []
    for attempt in record.attempts:
        symbol, tone = signs.get(attempt.outcome, ("✘", "red"))
        words = Cell(f"{symbol} {attempt.outcome}", tone, 11)  # type: ignore[arg-type]
        edited = Cell("edited  " if attempt.edited else "", "warn")
        left = (Cell(f"{attempt.n}", "strong", 4), words, edited, Cell(attempt.reason, "muted"))
        took = Cell(f"{attempt.seconds:.1f} s", "muted", 10)
        rows.append(
            Row(f"{planned.id} {attempt.n}", left, (Cell(attempt.began[:19].replace("T", " "), "muted"), took))
        )
    running = getattr(record.status, "attempt", 0)
    key = f"{planned.id} {running}"
    if running and all(row.key != key for row in rows):
        sign = of_status(record.status, alive=snapshot.holder is not None)
        rows.append(Row(key, (Cell(f"{running}", "strong", 4), Cell(f"{sign.symbol} {sign.word}", sign.tone))))
    return tuple(reversed(rows))
