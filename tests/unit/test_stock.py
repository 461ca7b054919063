"""What a runbook wants, where its cache lies on this host, and what brings the rest by hand."""

from pathlib import Path

import pytest
from omnitui.assets import Absent, Cached, Found, Wanted
from omnitui.errors import PlaceError, UsageError
from omnitui.stock import Shelf, Stock, by_hand, shelf_of
from tests.books import make_book
from tests.hub_caches import SHA

PAGE = """
schema = 1
title = "In a container"
summary = ""
[variables.WHERE]
default = "docker"
choices = ["docker", "local"]
help = "Where."
[variables.HOST_HF]
handed = true
help = "The host's folder."
[variables.WORK]
help = "Another folder."
[variables.OUT_DIR]
default = "${WORK}/out"
help = "Refers to one that has no value."
[places.bench]
kind = "${WHERE}"
container = "no-such-container"
jobs = "/results/.omnitui"
[cache]
place = "bench"
hub = "/root/.cache/huggingface/hub"
[[assets]]
id = "m"
repo = "org/m"
[[phases]]
id = "setup"
title = "Setup"
[[phases.steps]]
id = "container"
title = "The container"
run = "true"
[[phases.steps.gates]]
gate = "container"
place = "bench"
mounts = { "/root/.cache/huggingface" = "${HOST_HF}", "/w" = "${WORK}" }
"""


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    # An engine that knows no container.
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    docker.write_text("#!/bin/sh\necho 'Error: No such container: no-such-container' >&2\nexit 1\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{docker.parent}:/usr/bin:/bin")
    return make_book(tmp_path / "page", PAGE)


def test_inside_the_container_the_cache_is_where_the_page_says(page: str) -> None:
    shelf = shelf_of(page, {"WHERE": "local"})
    assert (str(shelf.hub), shelf.place, shelf.inside) == ("/root/.cache/huggingface/hub", "", "")


def test_before_the_container_is_there_the_page_says_what_it_will_be_given(page: str) -> None:
    shelf = shelf_of(page, {"HOST_HF": "/data/hf"})
    assert shelf.hub == Path("/data/hf/hub")
    assert shelf.inside == ", which will be /root/.cache/huggingface/hub in container no-such-container"
    with pytest.raises(PlaceError, match=r"there is no container no-such-container; .* --set HOST_HF="):
        shelf_of(page, {})


def test_values_that_do_not_fit_are_refused_or_left_out(page: str) -> None:
    with pytest.raises(UsageError, match="must be one of docker, local"):
        shelf_of(page, {"WHERE": "moon"})
    assert shelf_of(page, {"WHERE": "moon", "HOST_HF": "/data/hf"}, lenient=True).place == "no-such-container"


def test_by_hand_is_what_the_page_does() -> None:
    asset = Wanted("d", "org/d", "dataset", SHA, ref_main=True)
    shelf = Shelf("page", "page", "Page", "bench", "/root/hub", Path("/data/hub"), (asset,))
    refs, inside = "/root/hub/datasets--org--d/refs", "docker exec -e HF_TOKEN bench"
    assert by_hand(shelf, asset) == (
        f"{inside} hf download org/d --repo-type dataset --revision {SHA} --cache-dir /root/hub",
        f"{inside} sh -c 'mkdir -p {refs} && printf %s {SHA} > {refs}/main'",
    )
    assert by_hand(shelf, Wanted("m", "org/m"))[0].endswith("hf download org/m --cache-dir /root/hub")


def test_what_lacks_is_what_is_not_cached() -> None:
    one, two = Wanted("a", "org/a"), Wanted("b", "org/b")
    shelf = Shelf("page", "page", "Page", "", "/hub", Path("/hub"), (one, two))
    found = Stock(shelf, (Found(one, Cached(SHA, 1, 1, "")), Found(two, Absent())))
    assert found.lacking() == (two,)
    assert not found.complete
    assert Stock(shelf, found.found[:1]).complete
    assert not Stock(shelf, error="no answer").complete
