#!/usr/bin/env bash
# Passes with different packages are different things. Each pass's list is kept with the run; all must be the same.
# FREEZE_MAY_DIFFER=yes allows it between two series; the passes of one series are averaged, so never among them.
set -euo pipefail

lists=$RUN_DIR/freeze
if [ ! -s "$OUT/freeze.txt" ]; then
    echo "freeze.txt is empty: what is installed is not known"
    exit 1
fi
mkdir -p "$lists"
cp "$OUT/freeze.txt" "$lists/$SERIES-$PASS.txt"
same=yes
allowed=$FREEZE_MAY_DIFFER
for other in "$lists"/*.txt; do
    if cmp -s "$other" "$OUT/freeze.txt"; then
        continue
    fi
    same=no
    name=$(basename "$other" .txt)
    if [[ $name == "$SERIES"-* ]]; then
        allowed=no
    fi
    echo "this pass ($SERIES-$PASS, +) against $name (-):"
    # diff ends with 1 when they differ, which is known here.
    diff --unchanged-line-format= --old-line-format='-%L' --new-line-format='+%L' "$other" "$OUT/freeze.txt" || [ $? = 1 ]
done
if [ "$same" = yes ]; then
    echo FREEZE_SAME
elif [ "$allowed" = yes ]; then
    echo "another series has other packages, as FREEZE_MAY_DIFFER=yes allows"
    echo FREEZE_DIFFERS_ON_PURPOSE
else
    echo FREEZE_DIFFERS
    exit 1
fi
