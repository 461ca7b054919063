#!/usr/bin/env bash
# A checkout with local changes measures something that no commit names.
set -euo pipefail

changed=$(git status --porcelain --untracked-files=no)
if [ -n "$changed" ]; then
    echo "$changed"
    echo CHECKOUT_CHANGED
    exit 1
fi
