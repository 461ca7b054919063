#!/usr/bin/env bash
# Runs a command that loads private data, and tells a token without access from every other failure.
# usage: with_access.sh COMMAND...
set -uo pipefail

said=$(mktemp)
trap 'rm -f "$said"' EXIT
"$@" 2>&1 | tee "$said"
status=${PIPESTATUS[0]}
if [ "$status" = 0 ]; then
    echo DATASET_LOADED
elif grep -qE 'DatasetNotFoundError|RepositoryNotFoundError|GatedRepoError|40[13] Client Error' "$said"; then
    if [ -z "${HF_TOKEN:-}" ]; then
        echo "there is no HF_TOKEN here, and the data set is private"
    else
        echo "the HF_TOKEN of this run cannot read the data set"
    fi
    echo NO_ACCESS
fi
exit "$status"
