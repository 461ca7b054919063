"""The keys of the Run screen, and what is asked before each of them does anything.

What takes time is done by threads, each of which ends in one message; what follows it begins there.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic
from typing import ClassVar

from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.message import Message

from omnitui import decisions, store, supervise
from omnitui.errors import OmniError
from omnitui.model import Asking, Running
from omnitui.places import place_at
from omnitui.plan import PlannedStep, is_done
from omnitui.resumption import resume
from omnitui.runbook.schema import Command, Serve
from omnitui.sanitise import plain
from omnitui.snapshot import Snapshot, take
from omnitui.store import RunFolder
from omnitui.ui.lending import lend_terminal
from omnitui.ui.messages import WorkDone, WorkFailed
from omnitui.ui.run_messages import Plans, PlansRead, SnapshotRead
from omnitui.ui.screens.dialogs import Choice, ChoiceScreen, EditScreen, Field, PromptScreen
from omnitui.ui.screens.working import Working
from omnitui.ui.step_texts import cleaned
from omnitui.values import command_of, environment_at, of_scope, place_of, shell_rc
from omnitui.world import observe

LET_GO_S = 0.7
"""A key that comes again sooner is held down: terminals tell nothing else, first after up to 0.66 s."""
_GOING_ON = frozenset("ray")

AT_WORK = "A runner is at work: h holds it, x stops it."


def read_plans(run: RunFolder) -> Plans:
    """Look at the run and at the world. Raises `OmniError`."""
    now = take(run)
    world = observe(run, now.runbook, now.plan, now.state)
    default, start, place = (resume(now.plan, now.state, world, choice) for choice in (None, False, True))
    return Plans(now, default, start, place, world.runbook_changed)


class RunKeys(Working):
    """What a key does to a run. Subclasses show it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "go(True)", "run", tooltip="Run the next step and stop; held down, it is one press"),
        Binding("a", "go(False)", "auto", tooltip="Run on until something needs you"),
        Binding("y", "confirm", "yes", tooltip="Say yes to the step that asks, and go on"),
        Binding("h", "hold", "hold", tooltip="End the runner after the step that it is at"),
        Binding("x", "stop", "stop", tooltip="Stop the step at work, the servers and the runner (asks first)"),
        Binding(
            "exclamation_mark", "shell", "shell", key_display="!", tooltip="A shell in the step's environment"
        ),
        Binding("e", "edit", "edit", tooltip="Edit the command of the step; its pass is marked"),
        Binding("s", "skip", "skip", tooltip="Go on without the step, with a reason; its pass is marked"),
        Binding("R", "redo", "redo pass", tooltip="Begin the step's pass again; its output is moved aside"),
    ]

    run: RunFolder
    snapshot: Snapshot | None
    secrets: dict[str, str]

    def __init__(self) -> None:
        super().__init__()
        self._pressed = ("", 0.0)
        self._shown_at_s = 0.0

    def selected_step(self) -> PlannedStep | None:
        """The step that the keys mean."""
        raise NotImplementedError

    def why_not(self, action: str) -> str:
        """Why a key does nothing to the run, or to the step that the keys mean."""
        now, step = self.snapshot, self.selected_step()
        if action not in ("go", "confirm", "hold", "stop", "shell", "edit", "skip", "redo"):
            return super().why_not(action)
        if now is None:
            return "The run is not read."
        if action in ("hold", "stop"):
            at_work = now.holder is not None or (action == "stop" and bool(now.state.servers))
            return "" if at_work else "Nothing is at work."
        if action != "shell" and now.holder is not None:
            return AT_WORK
        if action == "go":
            return "" if now.current is not None else "No step is left to run."
        if action == "confirm":
            return "" if now.outcome == "asking" else "No step asks anything."
        return _why_not_step(action, now, step) if step else "The cursor is on no step."

    # -- going on ----------------------------------------------------------------------------------------------

    def on_key(self, event: Key) -> None:
        """A press goes on once, and from what was shown before it: a held key would start step after step."""
        key, at_s = self._pressed
        self._pressed = (event.key, event.time)
        held = event.key == key and event.time < at_s + LET_GO_S
        if event.key in _GOING_ON and (held or event.time < self._shown_at_s):
            event.stop()

    def on_screen_resume(self) -> None:
        """Whoever came back from a question has let go of the key that led to it."""
        self._pressed = ("", 0.0)

    def on_snapshot_read(self, _message: SnapshotRead) -> None:
        """What a key means is shown from now on."""
        self.keys_from_now()

    def keys_from_now(self) -> None:
        """A key that was pressed before now goes on with nothing."""
        self._shown_at_s = monotonic()

    def action_go(self, one: bool) -> None:
        """Look at what going on would do now, then ask what has to be asked."""
        self.in_thread(lambda: PlansRead(read_plans(self.run), one=one))

    def action_confirm(self) -> None:
        """Answer the step that asks."""
        self.action_go(False)

    def on_plans_read(self, message: PlansRead) -> None:
        """Show the plan where it is more than going on, or the question of the step that asks."""
        plans, one = message.plans, message.one
        current = plans.snapshot.current
        status = plans.snapshot.record(current).status if current else None
        if current and isinstance(status, Asking) and plans.default.kind == "go_on":
            about = (current.step.note.strip(),) if current.step.destructive and current.step.note else ()
            question = ChoiceScreen(status.question, about, (Choice("yes", "Yes, go on", variant="primary"),))
            self.app.push_screen(question, partial(self._answered, plans, current.id, one))
        elif plans.default.kind in ("retry", "redo_pass") or plans.runbook_changed:
            self.app.push_screen(_resume_question(plans), partial(self._where_chosen, plans, one))
        else:
            self._start(plans, one, None)

    def _answered(self, plans: Plans, step_id: str, one: bool, answer: str | None) -> None:
        if answer:
            self._start(plans, one, None, before=lambda: decisions.confirm(self.run, step_id))

    def _where_chosen(self, plans: Plans, one: bool, where: str | None) -> None:
        if where:
            self._start(plans, one, None if where == "on" else where)

    def _start(self, plans: Plans, one: bool, where: str | None, before: Callable[[], None] | None = None) -> None:
        work = partial(self._started, plans.snapshot, one, where, before)
        known = self.snapshot.state.secrets if self.snapshot else ()
        missing = [name for name in known if not (self.secrets.get(name) or os.environ.get(name))]
        if missing:
            fields = tuple(Field(name, f"{name} (not shown, not stored)", secret=True) for name in missing)
            ask = PromptScreen("The run needs its secrets", (), fields, "Start")
            self.app.push_screen(ask, partial(self._secrets_given, work))
        else:
            self._begin(work)

    def _secrets_given(self, work: Callable[[], Message], given: Mapping[str, str] | None) -> None:
        if given:
            self.secrets.update(given)
            self._begin(work)

    def _begin(self, work: Callable[[], Message]) -> None:
        # A second runner would wait for the first, and then run a step that nobody has seen.
        if all(one.is_finished for one in self.workers if one.node is self and one.group == "start"):
            self.in_thread(work, "start")

    def _started(
        self, asked: Snapshot, one: bool, where: str | None, before: Callable[[], None] | None
    ) -> Message:
        now = take(self.run)
        if now.holder is not None or (asked.current, asked.state.steps) != (now.current, now.state.steps):
            # Another terminal was faster, or the key came twice: what was shown is not what would be done.
            return WorkDone("The run has gone on meanwhile; nothing was started.")
        if before:
            before()
        supervise.start(self.run, self.secrets, one=one, where=where)
        return SnapshotRead(take(self.run))

    # -- holding and stopping ----------------------------------------------------------------------------------

    def action_hold(self) -> None:
        """End after this step."""
        self.in_thread(lambda: supervise.hold_run(self.run))

    def action_stop(self) -> None:
        """Ask, then stop."""
        lines = ("The step at work and every server of this run are stopped; nothing else is touched.",)
        stop = Choice("stop", "Stop the run", variant="error")
        self.app.push_screen(ChoiceScreen("Stop this run?", lines, (stop,)), self._stop_chosen)

    def _stop_chosen(self, answer: str | None) -> None:
        if answer:
            self.in_thread(lambda: _stop(self.run))

    # -- one step ----------------------------------------------------------------------------------------------

    def action_shell(self) -> None:
        """Give the terminal to a shell until it ends."""
        step, now = self.selected_step(), self.snapshot
        if step is None or now is None:
            return
        try:
            argv, environment = _shell_of(self.run, now, step, self.secrets)
            said = f"A shell for “{plain(step.step.title)}”. exit or ctrl+d leads back."
            lend_terminal(self.app, argv, environment, said)
        except SuspendNotSupported:
            self.notify("This terminal cannot be given to a shell.", severity="error", markup=False)
        except OmniError as error:
            self.post_message(WorkFailed(error))

    def action_edit(self) -> None:
        """Edit the selected step's command."""
        step, now = self.selected_step(), self.snapshot
        if step is None or now is None:
            return
        command = command_of(step, now.state)
        if cleaned(command) != command:
            self.notify("It holds control characters: edit it in the runbook.", severity="error", markup=False)
            return
        warning = "The next attempt runs this."
        if step.in_pass:
            warning += f" Pass {step.scope} is then marked as deviating and left out of the averages."
        screen = EditScreen(f"Command of “{step.step.title}”", warning, command)
        self.app.push_screen(screen, partial(self._edited, step.id))

    def _edited(self, step_id: str, command: str | None) -> None:
        if command:
            self.in_thread(lambda: decisions.edit(self.run, step_id, command))

    def action_skip(self) -> None:
        """Ask why, then go on without the selected step."""
        step = self.selected_step()
        if step is None:
            return
        lines = (f"Pass {step.scope} is then left out of the averages.",) if step.in_pass else ()
        why = (Field("reason", "Why may the run go on without it?"),)
        ask = PromptScreen(f"Skip “{step.step.title}”", lines, why, "Skip it")
        self.app.push_screen(ask, partial(self._skip_given, step.id))

    def _skip_given(self, step_id: str, given: Mapping[str, str] | None) -> None:
        if given:
            self.in_thread(lambda: decisions.skip(self.run, step_id, given["reason"]))

    def action_redo(self) -> None:
        """Ask, then begin the selected step's pass again."""
        step = self.selected_step()
        if step is None:
            return
        lines = ("Its servers are stopped.", "Its output is moved aside as -incomplete; nothing is deleted.")
        again = Choice("redo", "Begin it again", variant="warning")
        ask = ChoiceScreen(f"Begin pass {step.scope} again from its first step?", lines, (again,))
        self.app.push_screen(ask, partial(self._redo_chosen, step.scope))

    def _redo_chosen(self, scope: str, answer: str | None) -> None:
        if answer:
            self.in_thread(lambda: _redo(self.run, scope))


def _why_not_step(action: str, now: Snapshot, step: PlannedStep) -> str:
    status = now.record(step).status
    if action in ("edit", "skip") and is_done(status):
        return "The step is done."
    if action == "edit" and isinstance(status, Running):
        return "The step is running."
    if action == "edit" and not isinstance(step.step, Command | Serve):
        return "The step has no command."
    if action == "redo" and not (step.in_pass and step.scope in _begun(now)):
        return "The step is of no pass that has begun."
    return ""


def _begun(now: Snapshot) -> set[str]:
    return {step_id.rpartition("/")[0] for step_id in now.state.steps}


def _resume_question(plans: Plans) -> ChoiceScreen:
    if plans.start.lines == plans.place.lines:
        return ChoiceScreen("Going on will:", plans.default.lines, (Choice("on", "Go on", variant="primary"),))
    start = Choice("start", "From the start of the pass", plans.start.lines)
    place = Choice("place", "At this step", plans.place.lines)
    both = (start, place) if plans.default.kind == "redo_pass" else (place, start)
    return ChoiceScreen("Where shall it go on?", ("The runbook's own choice comes first.",), both)


def _stop(run: RunFolder) -> str:
    if store.holder(run) is None:
        return supervise.stop_run(run)
    # The screen shows how it goes on; waiting here would keep the app from leaving.
    store.ask(run, "stop")
    return "asked to stop"


def _redo(run: RunFolder, scope: str) -> str:
    moved = decisions.redo_pass(run, scope)
    return f"{scope} begins again" + (f"; moved aside: {', '.join(path.name for path in moved)}" if moved else "")


def _shell_of(
    run: RunFolder, now: Snapshot, step: PlannedStep, secrets: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The command and the environment of a shell in the step's place."""
    name = place_of(now.runbook, step.step)
    values = of_scope(now.runbook, now.state, step.scope, run.path, name)
    rc = {"OMNITUI_RC": shell_rc(environment_at(now.runbook, step.step), values)}
    place = place_at(now.runbook, name, of_scope(now.runbook, now.state, step.scope, run.path), run)
    return place.shell([*values, *secrets]), {**os.environ, **values, **secrets, **rc}
