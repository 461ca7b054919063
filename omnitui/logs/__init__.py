"""Logs of any size: their lines by byte offset, their count, what matches, and when it was written."""

from omnitui.logs.counting import MARK_BYTES, LineCount, count_lines
from omnitui.logs.files import LEAKS, Identity, blanked, leaks_of
from omnitui.logs.lines import PIECE_BYTES, Change, LogFile, LogLine

__all__ = [
    "LEAKS",
    "MARK_BYTES",
    "PIECE_BYTES",
    "Change",
    "Identity",
    "LineCount",
    "LogFile",
    "LogLine",
    "blanked",
    "count_lines",
    "leaks_of",
]
