"""The gate that asks for models and data sets, with real caches on disk."""

from pathlib import Path

import pytest
from tests.flow.desk import RUNBOOKS, Desk
from tests.hub_caches import MODEL, SHA, cache

PINNED = str(RUNBOOKS / "pinned")
SHARD = "model-00002-of-00002.safetensors"


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "a shard is missing"])
def test_a_step_is_green_only_when_the_assets_are_whole(desk: Desk, tmp_path: Path, whole: bool) -> None:
    hub = tmp_path / "hub"
    cache(hub, "org/big", MODEL, main=SHA, without=() if whole else (SHARD,))
    told = desk.omnitui("run", PINNED, f"--set=HUB={hub}", "--set=COMMIT=abc", "--headless")
    assert told.code == (0 if whole else 1), told
    if whole:
        assert "ASSETS_CACHED" in told.out
        assert "5 files" in told.out
    else:
        assert SHARD in told.out
