#!/usr/bin/env bash
# stand-in: starts the entry point with what the environment says
here=$(cd "$(dirname "$0")" && pwd)
exec python "$here/gradio_demo.py" \
    --minicpmo45-api-base "${MINICPMO45_API_BASE:-http://localhost:8099/v1}" \
    --minicpmo45-model "${MINICPMO45_MODEL:-openbmb/MiniCPM-o-4_5}" \
    --port "${GRADIO_PORT:-7862}"
