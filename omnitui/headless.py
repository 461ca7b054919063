"""The same run told in plain lines: for CI, for `TERM=dumb`, and for whoever likes it."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from omnitui import store, supervise
from omnitui.jobs.folder import JobFolder
from omnitui.jobs.output import tail
from omnitui.model import Running
from omnitui.plan import Outcome, PlannedStep, heading
from omnitui.progress import Meter, Progress, told
from omnitui.results.sources import of_folder
from omnitui.results.telling.report import as_table
from omnitui.sanitise import plain
from omnitui.snapshot import Watch
from omnitui.store import RunFolder
from omnitui.viewers import Viewer

EXIT: dict[Outcome, int] = {
    "complete": 0,
    "failed": 1,
    "interrupted": 1,
    "asking": 3,
    "held": 3,
    "running": 0,
    "stopped": 130,
}
"""The exit code for how a run stands."""
_POLL_S = 0.1
_PROGRESS_S = 5.0
_PROGRESS_SHARE = 0.1
"""A bar is told at most so often, and only when so much more is done."""


def say(text: str) -> None:
    """Print text: to a terminal without what it would obey, to a file or a pipe as it is."""
    lines = map(plain, text.split("\n")) if sys.stdout.isatty() else [text]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def follow(
    run: RunFolder, offset: int = 0, say: Callable[[str], None] | None = None, told: tuple[str, ...] = ()
) -> int:
    """Tell what happens until no runner is at work; the exit code. Ctrl-C leaves the run alone and says so."""
    teller = Teller(Watch(run), say or _print)
    teller.told = told
    try:
        with Viewer(run) as viewer:
            while store.holder(run) is not None:
                viewer.watches(live=True)
                offset = teller.tell(offset)
                supervise.reap()
                teller.tell_progress(time.time())
                time.sleep(_POLL_S)
        supervise.reap()
        teller.tell(offset)
        return teller.closing()
    except KeyboardInterrupt:
        teller.say(
            f"\nDetached; the run goes on. Watch it: omnitui attach {run.name}; stop it: omnitui stop {run.name}"
        )
        return 0


def _print(text: str) -> None:
    sys.stdout.write("".join(f"{plain(line)}\n" for line in text.split("\n")))
    sys.stdout.flush()


class Teller:
    """Turns journal events into lines."""

    def __init__(self, watch: Watch, say: Callable[[str], None]) -> None:
        self._watch = watch
        self.say = say
        self._scope = ""
        self.told: tuple[str, ...] = ()
        """The lines of a resume that somebody has told already."""
        self._steps: dict[str, PlannedStep] = {}
        self._meter = Meter(watch.run)
        self._looked = 0.0
        self._at: tuple[str, float] = ("", 0.0)

    def tell_progress(self, now: float) -> None:
        """Tell how far the running step is, if that has changed enough; `now` is in seconds since the epoch."""
        if now - self._looked < _PROGRESS_S:
            return
        self._looked = now
        snapshot = self._watch.take()
        step = snapshot.current
        if step is None or not isinstance(snapshot.record(step).status, Running):
            return
        progress = self._meter.read(snapshot.runbook, snapshot.state, step, now)
        if progress and (share := progress.share) is not None and self._is_news(step.id, share):
            self.say(f"    {_label(progress)}{told(progress)}")

    def _is_news(self, step_id: str, share: float) -> bool:
        before = self._at[1] if self._at[0] == step_id else 0.0
        # Less than before is another bar.
        if 0 <= share - before < _PROGRESS_SHARE:
            return False
        self._at = (step_id, share)
        return True

    def tell(self, offset: int) -> int:
        """Tell the events from a byte offset of the journal on; the new offset."""
        found, offset = store.events(self._watch.run, offset)
        for event in found:
            told = getattr(self, f"_on_{event['event']}", None)
            if told:
                # A line that lacks what its event should have was edited by somebody; the next ones still count.
                with suppress(KeyError, IndexError, TypeError, AttributeError):
                    told(event)
        return offset

    def _step(self, event: dict[str, Any]) -> PlannedStep | None:
        if not self._steps:
            self._steps = {planned.id: planned for planned in self._watch.take().plan}
        return self._steps.get(str(event.get("step")))

    def _on_created(self, event: dict[str, Any]) -> None:
        rehearsed = event["set"].get("rehearsal", False)
        self.say(f"{'REHEARSAL' if rehearsed else 'Run'} {event['set']['run']} · {event['set']['title']}")
        if rehearsed:
            self.say("  Its programs are stand-ins: no number here is a measurement.")

    def _on_runner_started(self, event: dict[str, Any]) -> None:
        for line in event["lines"] if tuple(event["lines"]) != self.told else ():
            self.say(f"  {line}")

    def _on_left_half_done(self, event: dict[str, Any]) -> None:
        for line in event["lines"]:
            self.say(f"  {line}")

    def _on_step_started(self, event: dict[str, Any]) -> None:
        step = self._step(event)
        if step is None:
            return
        if step.scope != self._scope:
            self._scope = step.scope
            self.say(f"── {heading(step.scope)} ──")
        self.say(f"▶ {step.step.title}")

    def _on_gate(self, event: dict[str, Any]) -> None:
        verdict = event["verdict"]
        sign = {"green": "✔", "red": "✘", "moot": "–"}.get(verdict["is"])
        if sign:
            reason = "" if verdict["reason"] == event["word"] else f"  {plain(verdict['reason'])}"
            self.say(f"    {sign} {event['word']}{reason}")

    def _on_step_ended(self, event: dict[str, Any]) -> None:
        step = self._step(event)
        record = event["set"]["steps"].get(event["step"])
        if step is None or record is None:
            return
        status, attempt = record["status"], record["attempts"][-1]
        if status["is"] == "passed":
            already = "already true, " if status.get("already") else ""
            self.say(f"  ✔ {step.step.title} ({already}{attempt['seconds']:.1f} s)")
            return
        self.say(f"  ✘ {step.step.title}: {status['is']}: {plain(status['reason'])}")
        job = JobFolder(self._watch.run.job(step.id, attempt["n"]))
        for line in tail(job.log, 15):
            self.say(f"    | {line}")

    def _on_moved_aside(self, event: dict[str, Any]) -> None:
        for path in event["moved"]:
            self.say(f"  moved aside: {path}")

    def _on_asking(self, event: dict[str, Any]) -> None:
        question = event["set"]["steps"][event["step"]]["status"]["question"]
        self.say(f"  ? {plain(question)}")

    def _on_remedy_taken(self, event: dict[str, Any]) -> None:
        self.say(f"  → {event['step']}: {plain(event['remedy'])} (exit status {event['exit']})")

    def _on_stragglers(self, event: dict[str, Any]) -> None:
        self.say(f"  ! stopped {event['stopped']} processes that steps had left behind")

    def _on_contaminated(self, event: dict[str, Any]) -> None:
        scope = str(event["step"]).rpartition("/")[0]
        self.say(f"  ! {scope} is spoiled and will not be averaged: {plain(event['reason'])}")

    def _on_on_event_failed(self, event: dict[str, Any]) -> None:
        self.say(f"  ! on_event: {plain(event['reason'])}")

    def _on_leak(self, event: dict[str, Any]) -> None:
        self.say(f"  ! the log of {event['step']} contains a secret; it is blanked where it is shown")

    def closing(self) -> int:
        """The last lines: the table when the run is complete, else where it stands and what to do."""
        snapshot = self._watch.take()
        name = snapshot.run.name
        if snapshot.outcome == "complete":
            if snapshot.state.schedule:
                self.say(as_table(of_folder(snapshot.run), "table"))
            self.say(f"\nRun {name} is complete.")
        else:
            self.say(f"\nRun {name}: {snapshot.outcome}.")
            if snapshot.shortage:
                self.say(f"  {snapshot.shortage}")
            for line in snapshot.resume.lines if snapshot.resume else ():
                self.say(f"  {line}")
            for server in snapshot.state.servers:
                self.say(f"  Server {server} is still up; `omnitui stop {name}` stops it.")
            for line in tail(snapshot.run.runner_log, 5):
                self.say(f"  | {line}")
            if snapshot.outcome == "asking":
                self.say(f"Say yes with: omnitui confirm {name}")
            self.say(f"Go on with: omnitui {'rehearse --resume' if snapshot.state.rehearsal else 'resume'} {name}")
        return EXIT[snapshot.outcome]


def _label(progress: Progress) -> str:
    return f"{progress.label}: " if progress.label else ""
