"""Screens whose work is done by threads, each of which ends in one message."""

from collections.abc import Callable

from textual.message import Message

from omnitui.errors import OmniError
from omnitui.ui.messages import WorkDone, WorkFailed
from omnitui.ui.screens.explaining import Explaining


class Working(Explaining):
    """Does what takes time in threads, and tells how it ended."""

    def in_thread(
        self, work: Callable[[], Message | str | None], group: str = "work", *, exclusive: bool = False
    ) -> None:
        """Do something that takes time; a text that it gives is told to the operator."""

        def worked() -> None:
            try:
                done = work()
            except OmniError as error:
                self.post_message(WorkFailed(error))
            else:
                self.post_message(done if isinstance(done, Message) else WorkDone(done or ""))

        self.run_worker(worked, thread=True, group=group, exclusive=exclusive)

    # Textual calls the handlers of all classes in turn, from the last one up.
    def on_work_done(self, message: WorkDone) -> None:
        """Tell what was done."""
        if message.said:
            self.notify(message.said, markup=False)

    def on_work_failed(self, message: WorkFailed) -> None:
        """Tell what could not be done, and why."""
        self.notify(str(message.error), severity="error", timeout=12, markup=False)
