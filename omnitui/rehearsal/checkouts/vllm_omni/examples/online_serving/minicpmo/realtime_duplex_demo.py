"""Stand-in for the full-duplex demo."""

import sys

from omnitui.rehearsal.stand_ins.minicpmo_duplex import duplex_demo

if __name__ == "__main__":
    sys.exit(duplex_demo(sys.argv[1:]))
