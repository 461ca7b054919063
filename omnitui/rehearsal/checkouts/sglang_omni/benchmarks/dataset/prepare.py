"""Stand-in for downloading the data sets of the benchmarks."""

import argparse
import sys

from omnitui.rehearsal.stand_ins import hub

from benchmarks.dataset.seedtts import SEEDTTS_DATASET_ID, SEEDTTS_DATASET_REVISION

DATASETS = {
    "seedtts": SEEDTTS_DATASET_ID,
    "seedtts-50": "zhaochenyang20/seed-tts-eval-50-arrow",
    "mmmu-ci-50": "zhaochenyang20/mmmu-ci-50",
    "mmsu-ci-2000": "zhaochenyang20/mmsu-ci-2000",
}


def main() -> int:
    """Download one of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", required=True, choices=sorted(DATASETS))
    parser.add_argument("--revision", default=None)
    args = parser.parse_args()
    pinned = SEEDTTS_DATASET_REVISION if args.dataset == "seedtts" else None
    print(f"stand-in prepare: {hub.snapshot(DATASETS[args.dataset], 'dataset', args.revision or pinned)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
