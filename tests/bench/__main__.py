"""`make bench`: every figure with its target, on one line each. `--strict` fails when one is over.

Figures are differences or ratios against a minimal Textual app or plain bash measured in the same run. An argument
names the parts: runner, monitor, app, assets, log, catalog, browser.
"""

import sys
import tempfile
from pathlib import Path

from tests.bench import (
    bench_app,
    bench_assets,
    bench_browser,
    bench_catalog,
    bench_log,
    bench_monitor,
    bench_runner,
)

PARTS = {
    "runner": bench_runner.measure,
    "monitor": bench_monitor.measure,
    "app": bench_app.measure,
    "assets": bench_assets.measure,
    "log": bench_log.measure,
    "catalog": bench_catalog.measure,
    "browser": bench_browser.measure,
}


def main() -> int:
    """Measure and print; 1 with `--strict` when a figure is over its target."""
    asked = [argument for argument in sys.argv[1:] if argument in PARTS] or list(PARTS)
    over = 0
    with tempfile.TemporaryDirectory(prefix="omnitui-bench-") as scratch:
        for part in asked:
            folder = Path(scratch) / part
            folder.mkdir()
            for figure in PARTS[part](folder):
                print(figure, flush=True)
                over += not figure.ok
    print(f"{over} figures over their target")
    return 1 if over and "--strict" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
