"""A desk for every test; whatever is still alive when it is left fails the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.flow.desk import Desk
from tests.waiting import until


@pytest.fixture
def desk(home: Path, free_port: int, tmp_path: Path) -> Iterator[Desk]:
    """The operator's desk."""
    control = tmp_path / "control"
    control.mkdir()
    one = Desk(home, free_port, control)
    try:
        yield one
        # A runner that has told its last event needs a moment to be gone.
        until(lambda: not one.processes() or bool(one.marked()), about="the runner has ended")
    finally:
        left = one.clear()
    assert not left, f"left over: {left}"
