#!/usr/bin/env bash
# `point.sh NAME`: say that the script came here, wait while $CONTROL/NAME is there, fail if $CONTROL/NAME.fail is.
set -eu
mkdir -p "$CONTROL"
touch "$CONTROL/$1.reached"
while [ -e "$CONTROL/$1" ]; do sleep 0.02; done
if [ -e "$CONTROL/$1.fail" ]; then
    echo "told to fail at $1"
    exit 1
fi
