"""Exact tests on few values. Pure, without scipy: what is needed fits on a page."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

EXACT_UP_TO = 60
"""With more values than this in all, the normal approximation is as good, and quick."""
SUGGESTIVE = 0.10
"""What 3 against 3 can reach at best: enough for a verdict only together with a noise floor."""
CONVENTIONAL = 0.05


def rank_p(a: Sequence[float], b: Sequence[float]) -> float:
    """Two-sided p of the rank sum (Wilcoxon, Mann and Whitney), exact over all splits; ties have their mean rank.

    The probability that a split of the same values into groups of these sizes has a rank sum at least as far from
    its expectation. 1.0 when a group is empty.
    """
    if not a or not b:
        return 1.0
    ranks = _doubled_ranks([*a, *b])
    seen, size = sum(ranks[: len(a)]), len(a)
    total = len(ranks)
    expected = size * (total + 1)
    if total > EXACT_UP_TO:
        return _approximate(ranks, size, seen, expected)
    # sums[k] counts, by their sum, the subsets of k ranks among those already seen.
    sums: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in range(size))]
    for rank in ranks:
        for count in range(size, 0, -1):
            for value, ways in sums[count - 1].items():
                sums[count][value + rank] += ways
    far = sum(ways for value, ways in sums[size].items() if abs(value - expected) >= abs(seen - expected))
    return far / math.comb(total, size)


def _doubled_ranks(values: list[float]) -> list[int]:
    """Twice the rank of each value, so that mean ranks are whole numbers."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0] * len(values)
    place = 0
    for _, tied in groupby(order, key=values.__getitem__):
        these = list(tied)
        for index in these:
            ranks[index] = 2 * place + len(these) + 1
        place += len(these)
    return ranks


def _approximate(ranks: list[int], size: int, seen: int, expected: int) -> float:
    total = len(ranks)
    mean = (total + 1) / 2
    spread = sum((rank / 2 - mean) ** 2 for rank in ranks) / (total - 1)
    deviation = math.sqrt(size * (total - size) / total * spread)
    return 1.0 if deviation == 0 else math.erfc(abs(seen - expected) / 2 / deviation / math.sqrt(2))


def smallest_p(n: int, m: int) -> float:
    """The smallest p of n against m values: their ranges are apart. 3 against 3: 0.1; 4 against 4: 0.029."""
    return min(1.0, 2 / math.comb(n + m, n)) if n and m else 1.0


def more_passes(n: int, m: int, level: float = CONVENTIONAL) -> int:
    """How many more passes of each side it takes until ranges that stay apart have p <= `level`; 0: none."""
    more = 0
    while smallest_p(n + more, m + more) > level:
        more += 1
    return more


def sign_p(lower: int, higher: int) -> float:
    """Two-sided p of the sign test: as many or more on one side by a fair coin. Equal pairs do not count."""
    total, most = lower + higher, max(lower, higher)
    if total == 0:
        return 1.0
    tail = ways = math.comb(total, most)
    for k in range(most, total):
        # Each binomial from the one before: thousands of samples would take minutes.
        ways = ways * (total - k) // (k + 1)
        tail += ways
    return min(1.0, float(2 * tail / 2**total))
