"""A pane that shows one log file of any size."""

from omnitui.ui.widgets.log_copying import LogCopying


class LogView(LogCopying):
    """Shows the file at `path`. The last row of the pane says where it is."""
