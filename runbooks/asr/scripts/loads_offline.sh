#!/usr/bin/env bash
# Whether a data set loads without the hub. Files in the hub's cache are not enough: `datasets` keeps its rows elsewhere.
# usage: loads_offline.sh REPO SPLIT [REVISION]
set -euo pipefail

export HF_HUB_OFFLINE=1
python - "$@" <<'EOF'
import sys

from datasets import load_dataset

repo, split, *revision = sys.argv[1:]
rows = load_dataset(repo, split=split, revision=revision[0] if revision else None)
print(f"{repo} {split}: {len(rows)} rows")
EOF
echo LOADS_OFFLINE
