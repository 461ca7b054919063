# stand-in: rebuild the environment in OMNI_CI_HOME for the checkout that this is run in. Argument: its name.
set -e
echo "stand-in prepare_omni_venv.sh: nothing is installed"
home=${OMNI_CI_HOME:-/root/omni_ci}
rm -rf "$home"
mkdir -p "$home"
stand-in-venv "$home/$1"
ln -sfn "$home/$1" "$1"
source .github/scripts/omni_ci_deps_hash.sh
omni_ci_deps_hash > "$home/.deps-hash"
if [ "$(cat "$OMNITUI_REHEARSAL/state/fault" 2> /dev/null)" = venv-stale ]; then
    # Says that all is well, and is the environment of other dependencies.
    echo stale > "$home/.deps-hash"
fi
echo "Fresh environment ready"
