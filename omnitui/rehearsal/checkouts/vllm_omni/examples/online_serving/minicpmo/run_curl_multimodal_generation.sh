#!/usr/bin/env bash
# stand-in: one request by the Python at hand instead of curl and jq
exec python -c 'import sys; from omnitui.rehearsal.stand_ins.minicpmo_clients import curl; sys.exit(curl(sys.argv[1:]))' "$@"
