"""Where runs stand, as rows of plain values: the stable shape of `runs --json` and `status --json`."""

from typing import Any

from omnitui.errors import CorruptState, OmniError
from omnitui.snapshot import Snapshot, take
from omnitui.store import RunFolder


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
        "folder": str(snapshot.run.path),
    }
