"""The order of the passes: one of the runbook's schedules, or the operator's own."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace
from textual import on
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Label, Select, Static

from omnitui.errors import UsageError
from omnitui.history import times
from omnitui.model import RunState
from omnitui.plan import custom, lay_out, schedule_of
from omnitui.runbook.narrow import narrow
from omnitui.runbook.schema import Runbook, Schedule
from omnitui.runbook.variables import items_of
from omnitui.sanitise import plain
from omnitui.supervise import refuse_series
from omnitui.ui.schedule_texts import schedule_text
from omnitui.ui.widgets.line import Line

_OWN = "\0own"
"""The choice that is no schedule; no id can be the same."""


class SchedulePane(Vertical):
    """Takes the order and shows what it means. Its values and earlier runs are given from above."""

    class Changed(Message):
        """Another order is wanted."""

    def __init__(self, runbook: Runbook) -> None:
        super().__init__()
        self._runbook = runbook
        self._base = schedule_of(runbook, None)
        self._own = False
        self.refused = ""
        """Why the order must not be used, or an empty string."""

    @property
    def schedule(self) -> str | None:
        """The id of the schedule that was chosen, or that the own order began with."""
        return self._base.id or None

    @property
    def order(self) -> tuple[str, ...]:
        """The operator's own order; empty while the schedule's holds."""
        return tuple(items_of(self.query_one("#own-order", Input).value)) if self._own else ()

    @property
    def settled(self) -> frozenset[str]:
        """The variables that every series has for itself: what the run has for them is never used."""
        order = self.order or self._base.order
        own = [self._base.series.get(entry.partition("/")[0], {}).keys() for entry in order]
        return frozenset(set.intersection(*map(set, own)) if own else ())

    def compose(self) -> Iterator[Widget]:
        """A choice, a line for an own order, and what comes of it."""
        choices = [(Content(plain(schedule.title)), schedule.id) for schedule in self._runbook.schedules]
        if choices:
            yield Label("Schedule")
            yield Select(
                [*choices, ("Own order", _OWN)],
                value=self._base.id,
                allow_blank=False,
                compact=True,
                id="schedules",
            )
        line = Line(id="own-order", compact=True, placeholder="series/pass, series/pass, ...")
        line.display = False
        yield line
        yield Static(classes="refused", markup=False)
        yield Static(id="passes", markup=False)

    @on(Select.Changed)
    def _picked(self, event: "Select.Changed") -> None:
        event.stop()
        self.take()
        if self._own:
            # Not at once: the choice takes the focus back in a moment.
            self.query_one("#own-order").focus()
        self.post_message(self.Changed())

    def take(self) -> None:
        """Take what is chosen: a key that makes the run may come before the choice has told of it."""
        for choice in self.query(Select):
            line, own = self.query_one("#own-order", Input), choice.value == _OWN
            if own and not self._own:
                line.value = ", ".join(self._base.order)
            elif not own and not choice.is_blank():
                self._base = schedule_of(self._runbook, str(choice.value))
            self._own = line.display = own

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed())

    def focus_order(self) -> None:
        """Go to what is refused."""
        self.screen.set_focus(self.query_one("#own-order" if self._own else "Select"))

    def show(self, values: Mapping[str, str], states: Iterable[RunState], *, whole: bool) -> None:
        """Show the steps and times for these values; `whole` when every one of them fits."""
        self.refused = ""
        try:
            picked = self._base
            if self._own:
                picked = replace(custom(self._base, self.order), title="Own order", note="")
            self._show(picked, values, states)
            if whole:
                refuse_series(self._runbook, picked, values)
        except UsageError as error:
            self.refused = str(error)
        self.set_class(bool(self.refused), "-refused")
        self.query_one(".refused", Static).update(Content(f"✘ {plain(self.refused)}" if self.refused else ""))

    def _show(self, picked: Schedule, values: Mapping[str, str], states: Iterable[RunState]) -> None:
        narrowed = narrow(self._runbook, values)
        plan = lay_out(narrowed, picked.order)
        text = schedule_text(narrowed, picked, plan, values, times(plan, states))
        self.query_one("#passes", Static).update(text)
