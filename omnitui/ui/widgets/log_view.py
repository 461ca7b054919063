"""A pane that shows one log file of any size."""

from omnitui.ui.widgets.log_moving import LogMoving


class LogView(LogMoving):
    """Shows the file at `path`. The last row of the pane says where it is."""
