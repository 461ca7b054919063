"""Waiting for facts."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
PATIENCE_S = 60.0
"""Long enough for a loaded machine with two cores; only a test that fails waits as long."""


def until(fact: Callable[[], T], timeout_s: float = PATIENCE_S, about: str = "") -> T:
    """What `fact` returned once it was true. Fails when it is not within `timeout_s` seconds."""
    end = time.monotonic() + timeout_s
    while not (found := fact()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {timeout_s:g} s: {about or fact}")
        time.sleep(0.005)
    return found
