"""The gate that asks for models and data sets, with real caches on disk."""

from pathlib import Path

import pytest
from tests.books import make_book
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


BOTH = """
schema = 1
title = "Cached, and usable"
summary = "Two looks at one thing."

[variables.HUB]
help = "The cache."

[cache]
hub = "${HUB}"

[[assets]]
id = "big"
repo = "org/big"
ref_main = true

[[phases]]
id = "get"
title = "Get it"

[[phases.steps]]
id = "get"
title = "Get it"
look_first = true
satisfied_by = { run = 'test -e "$HUB/usable" && echo USABLE', word = "USABLE" }
run = 'touch "$HUB/fetched"'
gates = [{ gate = "assets" }]
"""


@pytest.mark.parametrize(
    ("whole", "usable", "fetched"), [(True, True, False), (True, False, True), (False, True, True)]
)
def test_a_step_with_two_looks_is_true_already_only_when_both_hold(
    desk: Desk, tmp_path: Path, whole: bool, usable: bool, fetched: bool
) -> None:
    hub = tmp_path / "hub"
    cache(hub, "org/big", MODEL, main=SHA, without=() if whole else (SHARD,))
    book = make_book(tmp_path / "both", BOTH)
    if usable:
        (hub / "usable").touch()
    told = desk.omnitui("run", book, f"--set=HUB={hub}", "--headless")
    assert (hub / "fetched").exists() is fetched
    assert ("already true" in told.out) is not fetched
    assert told.code == (0 if whole else 1), told
