"""Stand-in for `python -m pip`."""

import sys

from omnitui.rehearsal.stand_ins.pip import main

sys.exit(main(sys.argv[1:]))
