# Bring the checkout and its venv to $COMMIT_SHA; run in /sglang-omni. The venv is rebuilt only for other dependencies.
set -e
git checkout --detach "$COMMIT_SHA"
if ! bash "$RUNBOOK/scripts/commit_ready.sh"; then
    OMNI_CI_HOME=/root/omni_ci bash .github/scripts/prepare_omni_venv.sh omni
    bash "$RUNBOOK/scripts/commit_ready.sh"
fi
