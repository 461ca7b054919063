#!/usr/bin/env bash
# A new, empty folder; what was there is moved aside as -earlier, -earlier-2, ..., never deleted.
set -euo pipefail

folder=${1%/}
if [ -e "$folder" ]; then
    aside=$folder-earlier
    for ((number = 2; ; number++)); do
        [ -e "$aside" ] || break
        aside=$folder-earlier-$number
    done
    mv -- "$folder" "$aside"
    echo "moved aside: $aside"
fi
mkdir -p -- "$folder"
