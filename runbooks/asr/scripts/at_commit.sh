#!/usr/bin/env bash
# A pass measures the commit of its series, and a venv is stamped with the commit that it was built from.
set -euo pipefail

head=$(git rev-parse HEAD)
if [ "$head" != "$COMMIT_SHA" ]; then
    echo "the checkout stands at $head, not at $COMMIT_SHA"
    echo WRONG_COMMIT
    exit 1
fi
