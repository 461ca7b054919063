"""Where runs and their gates stand, as plain values: the stable shape of `runs`, `status` and `gates --json`."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from omnitui import verdicts
from omnitui.errors import CorruptState, OmniError
from omnitui.snapshot import Snapshot, take
from omnitui.store import RunFolder

_SIGNS = {"green": "✔", "red": "✘", "moot": "–", "unknown": "◌"}


def row(run: RunFolder) -> dict[str, Any]:
    """The row of a run, also of one that cannot be read."""
    try:
        return standing(take(run))
    except OmniError as error:
        outcome = "corrupt" if isinstance(error, CorruptState) else "unreadable"
        return {"run": run.name, "runbook": "", "outcome": outcome, "step": None, "reason": str(error)}


def standing(snapshot: Snapshot) -> dict[str, Any]:
    """The row of a run that has been read."""
    step = snapshot.current
    status = snapshot.record(step).status if step else None
    done = sum(
        1 for planned in snapshot.plan if type(snapshot.record(planned).status).__name__ in ("Passed", "Skipped")
    )
    return {
        "run": snapshot.run.name,
        "runbook": snapshot.state.runbook,
        "outcome": snapshot.outcome,
        "step": step.id if step else None,
        "status": type(status).__name__.lower() if status else None,
        "reason": getattr(status, "reason", None) or getattr(status, "question", ""),
        "done": done,
        "steps": len(snapshot.plan),
        "created": snapshot.state.created,
        "rehearsal": snapshot.state.rehearsal,
        "runner_pid": snapshot.holder.identity.pid if snapshot.holder else None,
        "servers": sorted(snapshot.state.servers),
        "marks": {scope: list(one.marks) for scope, one in snapshot.state.passes.items() if one.marks},
        "folder": str(snapshot.run.path),
    }


def gate_story(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Every gate that was read, in that order: its last reading, and the changes of its verdict, oldest first."""
    live = {(one.about, one.word): one for one in snapshot.gates}
    found = []
    for (step, word), changes in verdicts.read(snapshot.run).items():
        shown, last = live.get((step, word)), changes[-1]
        found.append(
            {
                "step": step,
                "word": word,
                "verdict": shown.kind if shown else last.kind,
                "reason": shown.reason if shown else last.reason,
                "at": stamp(shown.at if shown else last.at),
                "live": shown is not None and not shown.ends and snapshot.holder is not None,
                "history": [
                    {"at": stamp(one.at), "attempt": one.attempt, "verdict": one.kind, "reason": one.reason}
                    for one in changes
                ],
            }
        )
    return found


def gate_lines(story: list[dict[str, Any]]) -> str:
    """The same to read."""
    return "\n".join(line for gate in story for line in _gate(gate)) or "No gate has been read yet."


def _gate(gate: dict[str, Any]) -> Iterator[str]:
    now = "" if gate["live"] else "last "
    yield f"{_SIGNS[gate['verdict']]} {gate['word']}  {gate['step']}  {now}{gate['verdict']}: {gate['reason']}"
    for one in gate["history"]:
        yield f"    {one['at']}  {one['attempt']:>2}  {_SIGNS[one['verdict']]} {one['verdict']:<8} {one['reason']}"


def stamp(at: float) -> str:
    """A time as the journal writes it: UTC, ISO 8601, to the millisecond."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
