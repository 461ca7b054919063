"""Stand-in for the chat client that all models share."""

import sys

from omnitui.rehearsal.stand_ins.minicpmo_clients import shared_client

if __name__ == "__main__":
    sys.exit(shared_client(sys.argv[1:]))
