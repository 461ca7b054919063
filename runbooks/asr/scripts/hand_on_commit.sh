#!/usr/bin/env bash
# What a commit's name means is looked up once a run: a branch moves on while it is measured, and one commit that is
# measured under two names must be one commit.
# usage: hand_on_commit.sh COMMIT [OTHER ...]; the others are looked up as well, for the series that come later
set -euo pipefail

known=$RUN_DIR/commits.txt

resolved() {
    case $1 in
        pull/*/head) git fetch --quiet origin "$1" && git rev-parse --verify --quiet FETCH_HEAD ;;
        *) git rev-parse --verify --quiet "$1^{commit}" ;;
    esac
}

meant() {
    local name sha
    while read -r name sha; do
        if [ "$name" = "$1" ]; then
            echo "$sha"
            return
        fi
    done < "$known"
    return 1
}

touch "$known"
for one in "$@"; do
    if [ -z "$one" ] || meant "$one" > /dev/null; then
        continue
    fi
    if ! sha=$(resolved "$one"); then
        echo "there is no commit $one in the checkout, nor at its origin"
        echo NO_SUCH_COMMIT
        exit 1
    fi
    echo "$one $sha" >> "$known"
done
sha=$(meant "$1")
short=$(git rev-parse --short "$sha")
git log -1 --format='%h of %cd: %s' --date=iso "$sha"
{
    echo "COMMIT_SHA=$sha"
    echo "SHORT=$short"
} >> "$OMNITUI_ENV"
echo "COMMIT_SHA $sha"
