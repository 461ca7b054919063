"""Stand-in for MiniCPM-o's chat client."""

import sys

from omnitui.rehearsal.stand_ins.minicpmo_clients import minicpmo_client

if __name__ == "__main__":
    sys.exit(minicpmo_client(sys.argv[1:]))
