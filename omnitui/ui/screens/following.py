"""What the Run screen follows beside the state: the journal's gates and notices, and how far the step is."""

import threading
from collections.abc import Callable

from omnitui import store
from omnitui.errors import OmniError
from omnitui.model import Running
from omnitui.notices import Listener, Notice
from omnitui.progress import Meter, Progress
from omnitui.snapshot import Snapshot
from omnitui.store import RunFolder
from omnitui.ui.messages import NoticeHeard, TitleChanged
from omnitui.ui.run_messages import JournalRead, ProgressRead
from omnitui.ui.screens.remedy_keys import RemedyKeys
from omnitui.ui.signs import OUTCOMES
from omnitui.ui.terminal_voice import told
from omnitui.ui.widgets.checklist import Checklist
from omnitui.ui.widgets.step_pane import StepPane
from omnitui.verdicts import Gates, History

_JOURNAL_S = 0.25
_PROGRESS_S = 1.0


class Following(RemedyKeys):
    """Two threads read, and end in messages. A count that hangs with its disk holds up nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.gate_history: Gates = {}
        self._left = threading.Event()
        self._outcome = ""

    def on_mount(self) -> None:
        """Begin to read."""
        self.run_worker(self._watch_journal, thread=True, group="journal")
        self.run_worker(self._watch_progress, thread=True, group="progress")

    def on_unmount(self) -> None:
        """Stop reading."""
        self._left.set()
        self.app.post_message(TitleChanged("OmniTUI"))

    def _watch_journal(self) -> None:
        tale = Tale(self.run)
        while not self._left.is_set():
            found = tale.read()
            if found:
                self.post_message(found)
            self._left.wait(_JOURNAL_S)

    def _watch_progress(self) -> None:
        meter, before = Meter(self.run), None
        while not self._left.is_set():
            if now := self.snapshot:
                found = _progress(meter, now, self.clock)
                if found != before:
                    before = found
                    self.post_message(ProgressRead(*found))
            self._left.wait(_PROGRESS_S)

    @staticmethod
    def clock() -> float:
        """Seconds since the epoch."""
        raise NotImplementedError

    def on_journal_read(self, message: JournalRead) -> None:
        """Gates have changed, or there is something to tell."""
        self.gate_history = message.gates
        for notice in message.notices:
            self.post_message(NoticeHeard(told(notice, self._named)))

    @property
    def _named(self) -> str:
        return self.snapshot.state.runbook if self.snapshot else self.run.name

    def on_progress_read(self, message: ProgressRead) -> None:
        """Hand it down."""
        self.query_one(StepPane).show_progress(message.step_id, message.progress)
        self.query_one(Checklist).show_progress(message.step_id, message.progress)

    def tell_outcome(self, snapshot: Snapshot) -> None:
        """The window's title says where the run stands; a runner that is gone is a notice, as nobody wrote one."""
        sign, step = OUTCOMES[snapshot.outcome], snapshot.current
        at = f" · {step.step.title}" if step else ""
        self.post_message(TitleChanged(f"{sign.symbol} {snapshot.state.runbook}: {sign.word}{at}"))
        if (self._outcome, snapshot.outcome) == ("running", "interrupted"):
            lost = Notice("ended", "", "interrupted: the runner is gone")
            self.post_message(NoticeHeard(told(lost, self._named)))
        self._outcome = snapshot.outcome


def _progress(meter: Meter, now: Snapshot, clock: Callable[[], float]) -> tuple[str, Progress | None]:
    step = now.current
    if step is None or now.holder is None or not isinstance(now.record(step).status, Running):
        return "", None
    return step.id, meter.read(now.runbook, now.state, step, clock())


class Tale:
    """Reads the journal on. What was written before is history; only what comes later is told as a notice."""

    def __init__(self, run: RunFolder) -> None:
        self._run = run
        self._history = History()
        self._listener = Listener()
        self._offset = 0
        self._new = False

    def read(self) -> JournalRead | None:
        """What is new, if anything is."""
        try:
            if self._run.journal.stat().st_size == self._offset:
                self._new = True
                return None
            events, self._offset = store.events(self._run, self._offset)
        except (OSError, OmniError):
            return None
        changed = self._history.take(events)
        notices = []
        for event in events:
            step = event.get("set", {}).get("steps", {}).get(str(event.get("step", "")), {})
            notice = self._listener.heard(event["event"], event, step.get("status", {}))
            notices += [notice] if notice and self._new else []
        self._new = True
        return JournalRead(self._history.gates, tuple(notices)) if changed or notices else None
