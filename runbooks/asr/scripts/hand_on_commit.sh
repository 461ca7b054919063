#!/usr/bin/env bash
# What a commit's name means now, for the rest of the run or series: a branch moves on while it is measured.
# usage: hand_on_commit.sh COMMIT [OTHER ...]; the others only have to exist
set -euo pipefail

resolved() {
    case $1 in
        pull/*/head)
            git fetch --quiet origin "$1"
            git rev-parse --verify FETCH_HEAD
            ;;
        *) git rev-parse --verify "$1^{commit}" ;;
    esac
}

for one in "$@"; do
    if [ -n "$one" ] && ! resolved "$one" > /dev/null; then
        echo "there is no commit $one in the checkout, nor at its origin"
        echo NO_SUCH_COMMIT
        exit 1
    fi
done
sha=$(resolved "$1")
{
    echo "COMMIT_SHA=$sha"
    echo "SHORT=$(git rev-parse --short "$sha")"
} >> "$OMNITUI_ENV"
echo "COMMIT_SHA $sha"
