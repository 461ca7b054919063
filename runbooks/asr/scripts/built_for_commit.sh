#!/usr/bin/env bash
# Whether the checkout stands at $COMMIT_SHA, unchanged, with the venv that was built for it in this image.
set -euo pipefail

test "$(git rev-parse HEAD)" = "$COMMIT_SHA"
bash "$RUNBOOK/scripts/unchanged.sh"
test "$(cat .venv/built-for)" = "$COMMIT_SHA $IMAGE"
test -x .venv/bin/python
echo "the checkout and its venv are at $COMMIT_SHA"
echo VENV_OF_COMMIT
