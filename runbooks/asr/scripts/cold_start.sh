#!/usr/bin/env bash
# A cold start has no compile cache. The old one is kept beside it: it may have taken an hour to fill.
set -euo pipefail

cache=/work/torchinductor
if [ "$COLD_START" = warm ] && [ "$PASS" != warm ]; then
    echo "only the warm pass starts cold"
elif [ -e "$cache" ]; then
    number=1
    while [ -e "$cache-earlier-$number" ]; do
        number=$((number + 1))
    done
    mv "$cache" "$cache-earlier-$number"
    echo "moved $cache to $cache-earlier-$number"
else
    echo "there is no $cache: the start is cold"
fi
echo CACHE_AS_ASKED
