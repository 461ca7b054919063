"""Stand-in for the soft-interrupt driver."""

import sys

from omnitui.rehearsal.stand_ins.minicpmo_duplex import soft_interrupt

if __name__ == "__main__":
    sys.exit(soft_interrupt(sys.argv[1:]))
