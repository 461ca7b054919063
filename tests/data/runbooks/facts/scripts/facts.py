"""Print how this process was started, as JSON."""

import json
import os
import signal
import sys
from pathlib import Path

facts = {
    "pid": os.getpid(),
    "session": os.getsid(0),
    "group": os.getpgrp(),
    "stdin": str(Path("/proc/self/fd/0").readlink()),
    "descriptors": sorted(str(link.resolve()) for link in Path("/proc/self/fd").iterdir()),
    "sizes": [name for name in ("COLUMNS", "LINES") if name in os.environ],
    "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    "ignored": [number.name for number in signal.Signals if signal.getsignal(number) == signal.SIG_IGN],
    "cpus": sorted(os.sched_getaffinity(0)),
    "nice": os.nice(0),
    "marker": os.environ["OMNITUI_JOB"],
    "setproctitle": os.environ["SPT_NOENV"],
}
json.dump(facts, sys.stdout)
