# The compile cache and what filled it; run in /sglang-omni. Argument: aside, stamp or check.
set -e
cache=/root/.cache/sglang-omni/torchinductor
stamp="$cache/.omnitui-warmed-by"
# The model code as it is, with changes that are not committed: other commits may have the same.
code="$(git rev-parse HEAD:sglang_omni) $(git diff HEAD -- sglang_omni | sha256sum | cut -c 1-16)"
case "$1" in
aside)
    if [ -e "$cache" ]; then
        aside="$cache-$(date -u +%Y%m%dT%H%M%SZ)"
        mv "$cache" "$aside"
        echo "moved aside: $aside"
    fi
    echo CACHE_EMPTY
    ;;
stamp)
    if [ -z "$(ls -A "$cache" 2> /dev/null)" ]; then
        echo "wrong: the servers left no compile cache in $cache; was torch compile off?"
        exit 1
    fi
    echo "$code $(git rev-parse HEAD) $(date -u +%Y-%m-%dT%H:%M:%SZ)" >> "$stamp"
    echo CACHE_STAMPED
    ;;
check)
    if ! grep -F -- "$code" "$stamp"; then
        echo "wrong: no run of this model code has filled $cache; run0 comes first"
        exit 1
    fi
    echo CACHE_WARM
    ;;
esac
