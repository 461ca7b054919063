"""Stand-in: the dependencies that the image lacks, one a line."""

import sys

print("stand-in-package==1.0" if "--overrides" not in sys.argv else "stand-in-override==1.0")
