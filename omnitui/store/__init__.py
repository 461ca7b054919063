"""The run folder: its names, the one lock, the durable state, the journal and the requests.

Whoever holds the lock holds the state: `owned()` gives the only object that can write it. Everybody else reads.
The journal carries, with each event, the parts of the state that the event changed; replaying it rebuilds
the state.
"""

from omnitui.store.files import folder_id, make_folder, move_aside, replace_file, shortage
from omnitui.store.folder import RunFolder, find, home, now, runs
from omnitui.store.journal import ask, asked, drop_old_requests, events, forget_requests, replay
from omnitui.store.lock import Holder, holder, locked
from omnitui.store.owned import Owned, create, owned, take_back
from omnitui.store.pass_file import PassStanding, read_standing, standing_of
from omnitui.store.state_file import from_toml, read, to_toml

__all__ = [
    "Holder",
    "Owned",
    "PassStanding",
    "RunFolder",
    "ask",
    "asked",
    "create",
    "drop_old_requests",
    "events",
    "find",
    "folder_id",
    "forget_requests",
    "from_toml",
    "holder",
    "home",
    "locked",
    "make_folder",
    "move_aside",
    "now",
    "owned",
    "read",
    "read_standing",
    "replace_file",
    "replay",
    "runs",
    "shortage",
    "standing_of",
    "take_back",
    "to_toml",
]
