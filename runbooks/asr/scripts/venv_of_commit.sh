#!/usr/bin/env bash
# The build of the series, again, after another commit was measured in between.
set -eo pipefail

bash "$RUNBOOK/scripts/unchanged.sh"
git checkout --detach "$COMMIT_SHA"
rm -rf .venv
uv venv --system-site-packages .venv -p /usr/bin/python3.12
echo 'import site; site.addsitedir("/opt/sglang/lib/python3.12/site-packages")' > .venv/lib/python3.12/site-packages/sglang-image.pth
. .venv/bin/activate
python .github/scripts/omni_missing_dependencies.py pyproject.toml | xargs -r -d '\n' -n 1 python -m pip install
python .github/scripts/omni_missing_dependencies.py --overrides pyproject.toml | xargs -r -d '\n' python -m pip install --no-deps
uv pip install --no-deps -e .
python .github/scripts/verify_omni_installed_pins.py .venv/bin/python .
echo "$COMMIT_SHA $IMAGE" > .venv/built-for
