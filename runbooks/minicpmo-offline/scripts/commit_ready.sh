# Whether the checkout and its venv are those of $COMMIT_SHA; run in /sglang-omni. Then: COMMIT_READY.
set -e
test "$(git rev-parse HEAD)" = "$COMMIT_SHA"
test -e omni/bin/activate
source .github/scripts/omni_ci_deps_hash.sh
# Two hashes that cannot be read are the same, too.
test -s /root/omni_ci/.deps-hash
test "$(omni_ci_deps_hash)" = "$(cat /root/omni_ci/.deps-hash)"
echo COMMIT_READY
