"""The catalog over 10,000 passes: rebuilt from the folders, a page, a sort, a filter, and one new pass."""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import msgspec
from omnitui.results import catalog
from omnitui.results.catalog import Catalog, Query
from omnitui.results.passes import PassResult
from omnitui.store import PassStanding

from tests.bench.measuring import Figure

PASSES = 10_000
IN_A_RUN = 4
METRICS = 28
"""As many as the MiniCPM-o page has."""


def store_pass(home: Path, number: int) -> Path:
    """The small files of one pass."""
    run, label = f"20260101-{number // IN_A_RUN:06}-bench", f"run{number % IN_A_RUN}"
    folder = home / "runs" / run / "passes" / "main" / label
    folder.mkdir(parents=True, exist_ok=True)
    result = PassResult(
        series="main",
        label=label,
        scored=label != "run0",
        complete=number % 50 != 0,
        metrics={f"workload.metric_{index}": number * 0.37 % 100 + index for index in range(METRICS)},
        reasons=("seedtts: 3 failed",) if number % 50 == 0 else (),
        steps=("client", "collect"),
        runbook="minicpmo-offline",
        title="MiniCPM-o 4.5 offline serving in SGLang-Omni",
        collected=f"2026-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
        commit=f"{number // 12:040x}",
        gpu="NVIDIA H200",
        host="node",
        sha256=f"{number:064x}",
    )
    (folder / "metrics.json").write_bytes(msgspec.json.encode(result))
    standing = PassStanding(done=("client", "collect"))
    (folder / "standing.json").write_bytes(msgspec.json.encode(standing))
    return folder


def seconds(act: Callable[[], object]) -> float:
    """How long it took."""
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def measure(folder: Path) -> Iterator[Figure]:
    """All figures of the catalog."""
    home = folder / "home"
    os.environ["OMNITUI_HOME"] = str(home)
    for number in range(PASSES):
        store_pass(home, number)
    # Cold: nothing is known of any pass.
    yield Figure("catalog_rebuild_10000", seconds(catalog.refresh), "s", 5.0)
    took = [seconds(catalog.refresh) for _ in range(5)]
    yield Figure("catalog_nothing_new_10000", statistics.median(took), "s", 1.0)
    queries = {
        "page": Query(),
        "page_deep": Query(offset=9_000),
        "sort_by_metric": Query(sort="workload.metric_7"),
        "filter": Query(where=(("commit", "00"),), text="failed"),
        "count_text": Query(text="nothing like this"),
    }
    for name, query in queries.items():
        took = [seconds(partial(catalog.page, query)) for _ in range(9)]
        yield Figure(f"catalog_{name}", statistics.median(took) * 1000, "ms", 100.0)
    new = [store_pass(home, PASSES + number) for number in range(20)]
    took = [seconds(partial(catalog.add, one)) for one in new]
    yield Figure("catalog_new_pass", statistics.median(took) * 1000, "ms", 20.0)
    with Catalog() as index:
        yield Figure("catalog_groups", seconds(lambda: index.groups("commit", Query())) * 1000, "ms", 100.0)
