"""Load every pinned snapshot offline, by name, and see that it is the pinned commit. Then: REVISIONS_OK."""

import sys

from benchmarks.dataset.seedtts import load_seedtts_samples
from huggingface_hub import constants, snapshot_download

CACHE = "/root/.cache/huggingface/hub"
SEEDTTS = "zhaochenyang20/seed-tts-eval-arrow"
SAMPLES = 1088
PINS = (
    ("openbmb/MiniCPM-o-4_5", "model", "503e754207c94da6bb26850b4469f367c9ea3582"),
    ("Qwen/Qwen3-ASR-1.7B", "model", "7278e1e70fe206f11671096ffdd38061171dd6e5"),
    ("zhaochenyang20/Video_AMME_ci", "dataset", "7a37507f1b53416b9cb6641378e5a098ea535ab8"),
    ("zhaochenyang20/Video_MME_ci", "dataset", "833bd815c628ff277911bea3b1563545b21d5e27"),
)

if constants.HF_HUB_CACHE != CACHE:
    sys.exit(f"the hub's cache is {constants.HF_HUB_CACHE}, not {CACHE}: unset HF_HOME and HF_HUB_CACHE")
for repo, kind, revision in PINS:
    path = snapshot_download(repo, repo_type=kind)
    if not path.endswith(revision):
        sys.exit(f"{repo} loads {path}, not {revision}")
    print(repo, revision)
count = len(load_seedtts_samples(SEEDTTS, None, split="en"))
if count != SAMPLES:
    sys.exit(f"{SEEDTTS} has {count} samples, not {SAMPLES}")
print("REVISIONS_OK")
