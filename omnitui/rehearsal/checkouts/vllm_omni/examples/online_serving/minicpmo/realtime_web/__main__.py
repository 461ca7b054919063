"""Stand-in for the browser client."""

import sys

from omnitui.rehearsal.stand_ins.minicpmo_demos import realtime_web

if __name__ == "__main__":
    sys.exit(realtime_web(sys.argv[1:]))
