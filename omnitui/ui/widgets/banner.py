"""What the operator must know now: why a step is red and what helps, what is asked, what going on will do."""

from collections.abc import Iterator

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from omnitui.model import Asking, Crashed, Failed, Running, Stopped
from omnitui.plan import PlannedStep
from omnitui.runbook.remedies import remedies_of
from omnitui.sanitise import plain
from omnitui.snapshot import Snapshot
from omnitui.ui.showing import marks_of
from omnitui.ui.signs import OUTCOMES

Line = tuple[str, str]
"""A text and the style that it is drawn in."""


class Banner(VerticalScroll, can_focus=False):
    """Hidden while all is well. Its class says how serious it is: `-red`, `-warn`, `-green` or `-calm`."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._text = Static(markup=False)
        self._shown: tuple[str, tuple[Line, ...]] = ("", ())
        self.display = False

    def compose(self) -> Iterator[Static]:
        """One text."""
        yield self._text

    def show(self, kind: str, lines: tuple[Line, ...]) -> None:
        """Show lines, or hide when there are none."""
        if (kind, lines) == self._shown:
            return
        self._shown = (kind, lines)
        self.display = bool(lines)
        for name in ("red", "warn", "green", "calm"):
            self.set_class(name == kind, f"-{name}")
        parts = [Content.styled(plain(text), style) for text, style in lines]
        self._text.update(Content("\n").join(parts))
        self.scroll_home(animate=False)


def banner_of(snapshot: Snapshot) -> tuple[str, tuple[Line, ...]]:
    """The kind and the lines of a run's banner."""
    planned = snapshot.current
    if snapshot.holder:
        return _spoiled(snapshot, planned)
    if planned is None:
        table = f"The table: o on the last step, or omnitui results {snapshot.run.name}"
        return "green", (
            ("✔ Every step is done.", "bold $text-success"),
            (f"Its passes: v on the checklist. {table}", "$text-muted"),
        )
    status = snapshot.record(planned).status
    sign = OUTCOMES[snapshot.outcome]
    resume = tuple((f"  · {line}", "") for line in snapshot.resume.lines) if snapshot.resume else ()
    match status:
        case Asking(question=question):
            keys = ("y says yes and goes on; s skips the step", "$text-muted")
            return "warn", ((f"? {question}", "bold $text-warning"), keys)
        case Failed(reason=reason) | Stopped(reason=reason) | Crashed(reason=reason):
            kind, style = ("warn", "$text-warning") if isinstance(status, Stopped) else ("red", "$text-error")
            told = reason if reason.startswith(sign.word) else f"{sign.word}: {reason}"
            head = (f"{sign.symbol} {planned.step.title} {told}", f"bold {style}")
            return kind, (head, *_remedies(snapshot, planned), ("Going on (r or a) will:", "$text-muted"), *resume)
        case Running():
            head = (f"{sign.symbol} {planned.step.title}: the runner is gone", "bold $text-warning")
            full = ((snapshot.shortage, "bold"),) if snapshot.shortage else ()
            return "warn", (head, *full, ("Going on (r or a) will:", "$text-muted"), *resume)
    keys = ("r runs the next step and stops; a runs on until something needs you.", "$text-muted")
    word = (
        f"Held before “{planned.step.title}”." if snapshot.state.steps else "Ready to begin; nothing has run yet."
    )
    plain_go_on = snapshot.resume is None or snapshot.resume.kind == "go_on"
    up = ", ".join(snapshot.state.servers)
    still = ((f"Still up: {up}. x stops what is up.", "$text-warning"),) if up else ()
    return "calm", ((f"○ {word}", "bold"), keys, *still, *(() if plain_go_on else resume))


def _spoiled(snapshot: Snapshot, planned: PlannedStep | None) -> tuple[str, tuple[Line, ...]]:
    """While a pass measures: what spoils it."""
    if planned is None or not (marks := marks_of(snapshot, planned.scope)):
        return "", ()
    head = f"! Pass {planned.label} will not be averaged: "
    return "warn", tuple((f"{head}{mark}", "bold $text-warning") for mark in marks)


def _remedies(snapshot: Snapshot, planned: PlannedStep) -> Iterator[Line]:
    for remedy in remedies_of(snapshot.runbook, planned.step):
        yield f"→ {remedy.say}", "bold"
        for line in remedy.run.strip().splitlines():
            yield f"    {line}", "$text-accent"
