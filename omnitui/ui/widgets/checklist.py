"""The checklist of a run: chapters that open and close, the current step followed until the user moves."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from omnitui.progress import Progress
from omnitui.snapshot import Snapshot
from omnitui.ui.showing import Group, checklist_rows, groups_of
from omnitui.ui.widgets.row_list import RowList


class Checklist(RowList):
    """Shows all steps. Chapters are open when all fits, else the current one and the one with the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "fold", "Fold", show=False, tooltip="Open or close the chapter under the cursor"),
    ]

    class StepShown(Message):
        """Another step is under the cursor."""

    class StepOpened(Message):
        """The user pressed enter on a step, or clicked it again."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.following = True
        self.held = False
        """Whether the cursor stays where it is for now, because something is typed about its step."""
        self._groups: tuple[Group, ...] = ()
        self._folded: dict[str, bool] = {}
        self._snapshot: Snapshot | None = None
        self._now = 0.0
        self.step_id = ""
        """The step that the cursor is on, or was last on; a chapter's line stands for its first step."""
        self._far = ("", "")

    def show(self, snapshot: Snapshot, now: float) -> None:
        """Show where a run stands; `now` is in seconds since the epoch."""
        if self._snapshot is None or self._snapshot.plan is not snapshot.plan:
            self._groups = groups_of(snapshot)
        self._snapshot, self._now = snapshot, now
        current = snapshot.current or (snapshot.plan[-1] if snapshot.plan else None)
        follows = self.following and not self.held
        wanted = current.id if current and (follows or not self.rows) else self.key
        self.show_rows(checklist_rows(snapshot, self._groups, self._opened(wanted), now, self._far))
        if wanted != self.key:
            self.move_to(wanted)
        self._tell()

    def show_progress(self, step_id: str, progress: Progress | None) -> None:
        """Show how far a step is in the place of its word."""
        share = progress.share if progress else None
        self._far = (step_id, "" if share is None else f"{100 * share:.0f} %")
        self._again()

    def _opened(self, wanted: str) -> dict[str, bool]:
        fits = len(self._groups) + sum(len(group.steps) for group in self._groups) <= self.size.height
        current = self._snapshot.current if self._snapshot else None
        opened = {}
        for group in self._groups:
            held = any(planned.id == wanted for planned in group.steps) or current in group.steps
            opened[group.key] = self._folded.get(group.key, fits or held)
        return opened

    def follow(self) -> None:
        """Go to the current step, and with it from now on."""
        self.following = True
        self._folded.clear()
        self._again()

    def _again(self) -> None:
        if self._snapshot:
            self.show(self._snapshot, self._now)

    def on_resize(self) -> None:
        """Open more chapters, or fewer."""
        self._again()

    def _tell(self) -> None:
        heads = {group.key: group.steps[0].id for group in self._groups if group.steps}
        step_id = heads.get(self.key, self.key)
        if step_id and self.step_id != step_id:
            self.step_id = step_id
            self.post_message(self.StepShown())

    def go(self, index: int) -> None:
        """Go where the user wants, and follow no more: at once, or what is read meanwhile would go back."""
        self.following = self.following and index == self.cursor
        super().go(index)
        self._tell()

    def on_cursor_rows_highlighted(self, message: RowList.Highlighted) -> None:
        """The cursor is told of as a step."""
        message.stop()

    def action_choose(self) -> None:
        """Open a step, or fold a chapter: at once, or the next key would move to another one before."""
        if any(group.key == self.key for group in self._groups):
            self.action_fold()
        elif self.key:
            self.post_message(self.StepOpened())

    def action_fold(self) -> None:
        """Fold or unfold the chapter that the cursor is in."""
        for group in self._groups:
            if self.key == group.key or any(planned.id == self.key for planned in group.steps):
                self.following = False
                self._folded[group.key] = not self._opened(self.key)[group.key]
                key = group.key
                self._again()
                self.move_to(key)
                return
