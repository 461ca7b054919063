"""The verbs that only look at runs, and at what is set for all of them: runs, status, gates, config."""

import json
import time

import msgspec
import typer

from omnitui import config, headless, store
from omnitui.headless import say
from omnitui.live import Shown
from omnitui.machine_lines import machine_lines, machine_row
from omnitui.snapshot import GONE, Snapshot, is_stale, take
from omnitui.standing import gate_lines, gate_story, row, standing
from omnitui.verbs.options import Json, Run

app = typer.Typer()


@app.command()
def runs(as_json: Json = False) -> None:
    """List all runs, newest first."""
    rows = [row(run) for run in store.runs()]
    if as_json:
        say(json.dumps(rows, indent=2))
        return
    if not rows:
        say(f"No runs in {store.home() / 'runs'}. Start one with: omnitui run quickstart")
    for one in rows:
        mark = "REHEARSAL " if one.get("rehearsal") else ""
        say(f"{one['run']:<40} {one['outcome']:<12} {mark}{one['step'] or ''} {one['reason']}".rstrip())


@app.command()
def status(run: Run = None, as_json: Json = False) -> int:
    """Say where a run stands and what a resume would do."""
    snapshot = take(store.find(run))
    found = standing(snapshot)
    if as_json:
        gates = [
            {
                "word": g.word,
                "about": g.about,
                "verdict": g.kind,
                "reason": g.reason,
                "at": g.at,
                "stale": bool(_age(snapshot, g)),
            }
            for g in snapshot.gates
        ]
        lines = list(snapshot.resume.lines) if snapshot.resume else []
        say(json.dumps({**found, "gates": gates, "resume": lines, "machine": machine_row(snapshot.run)}, indent=2))
    else:
        mark = "REHEARSAL " if found["rehearsal"] else ""
        say(f"{mark}{found['run']}: {found['outcome']}, {found['done']} of {found['steps']} steps done")
        if snapshot.shortage:
            say(f"  {snapshot.shortage}")
        if found["step"]:
            say(f"at {found['step']}: {found['status']} {found['reason']}".rstrip())
        for scope, marks in found["marks"].items():
            say(f"  ! {scope} will not be averaged: {'; '.join(marks)}")
        for gate in (one for one in snapshot.gates if not one.ends or one.reason == GONE):
            late = _age(snapshot, gate)
            say(f"  {gate.word}: {gate.kind}: {gate.reason}{f' (STALE, {late} s old)' if late else ''}")
        for line in machine_lines(snapshot.run):
            say(f"  {line}")
        for line in snapshot.resume.lines if snapshot.resume else ():
            say(f"  {line}")
    return headless.EXIT[snapshot.outcome]


def _age(snapshot: Snapshot, gate: Shown) -> int:
    """How old a reading is, in seconds, if that is too old to be taken for how it is now."""
    now = time.time()
    planned = next((one for one in snapshot.plan if one.id == gate.about), None)
    return int(now - gate.at) if planned and is_stale(planned, gate, now) else 0


@app.command()
def gates(run: Run = None, as_json: Json = False) -> None:
    """Show every gate of a run as last read, and how its verdict changed."""
    found = gate_story(take(store.find(run)))
    say(json.dumps(found, indent=2) if as_json else gate_lines(found))


@app.command("config")
def config_verb(as_json: Json = False) -> None:
    """Print what is set for all runs, and in which file."""
    found, file = config.read(), config.path()
    if as_json:
        say(json.dumps({"file": str(file), "exists": file.exists(), **msgspec.to_builtins(found)}, indent=2))
    else:
        say(f"# {file}{'' if file.exists() else ' (not there; all is as by default)'}")
        say(config.as_toml(found).rstrip())
