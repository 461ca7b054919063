#!/usr/bin/env bash
# How many GPUs a container shows. usage: gpus_seen.sh COUNT WORD
set -euo pipefail

nvidia-smi -L
seen=$(nvidia-smi -L | grep -c '^GPU ') || true
if [ "$seen" != "$1" ]; then
    echo "$seen GPUs here, not $1"
    exit 1
fi
echo "$2"
