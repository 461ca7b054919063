#!/usr/bin/env bash
# The CI tests need two GPUs for themselves. Cards are compared by UUID: an index and a UUID may name the same one.
set -euo pipefail

uuid() {
    nvidia-smi -i "$1" --query-gpu=uuid --format=csv,noheader
}

IFS=, read -r first second <<< "$CI_GPUS"
first=$(uuid "$first")
second=$(uuid "$second")
echo "CI pair: $first $second"
if [ "$first" = "$second" ]; then
    echo "CI_GPUS=$CI_GPUS names one card twice; the tests need two"
    echo PAIR_REFUSED
    exit 1
fi
under_test=$(uuid "$GPU")
if [ "$first" != "$under_test" ] && [ "$second" != "$under_test" ]; then
    echo PAIR_OK
    exit 0
fi
if [[ ",$PARTS," == *,measure,* ]]; then
    echo "CI_GPUS=$CI_GPUS has GPU $GPU in it, which this run measures on: choose two others"
elif docker container inspect asr-bench > /dev/null 2>&1; then
    echo "CI_GPUS=$CI_GPUS has GPU $GPU in it, which the container asr-bench holds: remove that container, or choose two others"
else
    echo PAIR_OK
    exit 0
fi
echo PAIR_REFUSED
exit 1
