"""What a look at the caches of pinned models costs, against asking the kernel about each of their files."""

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

from omnitui.assets import Wanted
from omnitui.probes.assets import look

from tests.bench.measuring import Figure
from tests.hub_caches import MODEL, SHA, cache

ASSETS, FILES = 10, 40


def measure(work: Path) -> Iterator[Figure]:
    """Look at ten models of some forty files each, as New run does with every key."""
    for number in range(ASSETS):
        cache(work, f"org/m{number}", {**MODEL, **{f"x/{n}.bin": b"%d" % n for n in range(FILES)}}, listed=True)
    assets = tuple(Wanted(id=f"m{n}", repo=f"org/m{n}", revision=SHA) for n in range(ASSETS))
    files = [file for file in work.rglob("*") if file.is_file()]

    def stat_all() -> None:
        for file in files:
            file.stat()

    yield Figure("assets_look_ratio", _median_s(lambda: look(work, assets)) / _median_s(stat_all), "x", 15.0)


def _median_s(work: Callable[[], object]) -> float:
    took = []
    for _ in range(11):
        begun = perf_counter()
        work()
        took.append(perf_counter() - begun)
    return statistics.median(took)
