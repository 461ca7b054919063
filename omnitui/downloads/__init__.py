"""Downloads from the hub: each a process of its own, which a dropped shell does not end.

A download's folder is the protocol: its process holds `lock` for its life and tells how far it is in `told.json`;
a file `stop` asks it to end. Screens and verbs only read, and find a download again that somebody began before.
"""

from omnitui.downloads.download import Download, begin, find
from omnitui.downloads.events import Event, Fetched, NotFetched, Progress, line

__all__ = ["Download", "Event", "Fetched", "NotFetched", "Progress", "begin", "find", "line"]
