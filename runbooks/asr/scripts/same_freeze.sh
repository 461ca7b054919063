#!/usr/bin/env bash
# Passes with different packages are different things. Each pass's list is kept with the run; all must be the same.
set -euo pipefail

lists=$RUN_DIR/freeze
mkdir -p "$lists"
cp "$OUT/freeze.txt" "$lists/$SERIES-$PASS.txt"
differs=0
for other in "$lists"/*.txt; do
    if ! cmp -s "$other" "$OUT/freeze.txt"; then
        differs=1
        echo "this pass ($SERIES $PASS, +) against $(basename "$other" .txt) (-):"
        diff --unchanged-line-format= --old-line-format='-%L' --new-line-format='+%L' "$other" "$OUT/freeze.txt" || true
    fi
done
if [ "$differs" = 0 ]; then
    echo FREEZE_SAME
elif [ "$FREEZE_MAY_DIFFER" = yes ]; then
    echo "the comparison includes a dependency change, as FREEZE_MAY_DIFFER=yes allows"
    echo FREEZE_DIFFERS_ON_PURPOSE
else
    echo FREEZE_DIFFERS
    exit 1
fi
