"""What a look at a hub's cache tells, for every state that such a cache can be in."""

import os
from pathlib import Path

import pytest
from omnitui.assets import (
    Absent,
    AssetsReading,
    Cached,
    Found,
    OtherMain,
    OtherRevision,
    Partial,
    State,
    Unread,
    Wanted,
    said,
    sized,
    wanted_of,
)
from omnitui.errors import UsageError
from omnitui.gates import Green, Moot, Red, Unknown, judge
from omnitui.probes.assets import hub_of, look, reading
from omnitui.runbook.gates import AssetsCached
from omnitui.runbook.schema import Asset, Cache
from tests.hub_caches import DATA, MODEL, OTHER, SHA, blob_id, cache, repo_of
from tests.unit.builders import runbook

SHARD = "model-00002-of-00002.safetensors"


def state(hub: Path, **more: object) -> State:
    wanted = Wanted(**{"id": "m", "repo": "org/m", "revision": SHA, **more})  # type: ignore[arg-type]
    (found,) = look(hub, (wanted,))
    return found.state


def told(found: State, **more: object) -> str:
    return said(Found(Wanted(**{"id": "m", "repo": "org/m", "revision": SHA, **more}), found))  # type: ignore[arg-type]


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
def test_a_whole_snapshot_is_cached(tmp_path: Path, listed: bool) -> None:
    cache(tmp_path, "org/m", MODEL, listed=listed)
    found = state(tmp_path)
    assert isinstance(found, Cached)
    assert (found.revision, found.files, found.size) == (SHA, 5, sum(map(len, MODEL.values())))
    assert found.proof == ("all that the hub lists" if listed else "its weight map is whole")


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
def test_a_missing_shard_is_named(tmp_path: Path, listed: bool) -> None:
    cache(tmp_path, "org/m", MODEL, listed=listed, without=(SHARD,))
    found = state(tmp_path)
    assert isinstance(found, Partial)
    named = SHARD if listed else f"{SHARD} (named by model.safetensors.index.json)"
    assert found.missing == (named,)
    assert SHARD in told(found)


@pytest.mark.parametrize("listed", [True, False], ids=["listed", "not listed"])
def test_a_link_that_leads_nowhere_is_a_missing_file(tmp_path: Path, listed: bool) -> None:
    repo = cache(tmp_path, "org/m", MODEL, listed=listed)
    (repo / "blobs" / blob_id(MODEL["config.json"])).unlink()
    found = state(tmp_path)
    assert isinstance(found, Partial)
    assert found.missing[0].startswith("config.json")


def test_a_file_of_another_size_than_listed_is_not_whole(tmp_path: Path) -> None:
    repo = cache(tmp_path, "org/m", MODEL, listed=True)
    (repo / "blobs" / blob_id(MODEL[SHARD])).write_bytes(b"sec")
    assert state(tmp_path) == Partial(SHA, (f"{SHARD} (3 of 240 bytes)",))


def test_a_download_that_was_cut_off_is_told_where_there_is_no_list(tmp_path: Path) -> None:
    repo = cache(tmp_path, "org/m", MODEL)
    cut = repo / "blobs" / f"{'ab' * 20}.0f3a.incomplete"
    cut.write_bytes(b"x")
    assert state(tmp_path) == Partial(SHA, ("a file whose download was cut off (abababababab.incomplete)",))
    # A later download brought it whole.
    (repo / "blobs" / ("ab" * 20)).write_bytes(b"xyz")
    assert isinstance(state(tmp_path), Cached)


def test_a_cut_download_of_another_commit_does_not_matter_where_there_is_a_list(tmp_path: Path) -> None:
    repo = cache(tmp_path, "org/m", MODEL, listed=True)
    (repo / "blobs" / "abcd.incomplete").write_bytes(b"x")
    assert isinstance(state(tmp_path), Cached)


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ({}, "every file"),
        ({"README.md": b"#"}, "every file"),
        ({"config.json": b"{}"}, "every file of weights"),
        ({"config.json": b"{}", "model.safetensors": b""}, "model.safetensors (empty)"),
        ({"m.safetensors.index.json": b"{"}, "the shards of m.safetensors.index.json, which is no JSON"),
    ],
)
def test_a_folder_alone_is_never_enough(tmp_path: Path, files: dict[str, bytes], missing: str) -> None:
    cache(tmp_path, "org/m", files)
    found = state(tmp_path)
    assert isinstance(found, Partial)
    assert found.missing[0].startswith(missing)


def test_shards_are_looked_for_beside_their_weight_map(tmp_path: Path) -> None:
    index = b'{"weight_map": {"a": "one.bin"}}'
    cache(tmp_path, "org/m", {"sub/pytorch_model.bin.index.json": index, "sub/one.bin": b"1"})
    assert isinstance(state(tmp_path), Cached)


def test_a_data_set_is_held_against_its_own_folder(tmp_path: Path) -> None:
    cache(tmp_path, "org/m", DATA, kind="dataset")
    assert isinstance(state(tmp_path, kind="dataset"), Cached)
    assert state(tmp_path) == Absent()


def test_another_commit_is_named(tmp_path: Path) -> None:
    cache(tmp_path, "org/m", MODEL, revision=OTHER)
    found = state(tmp_path)
    assert found == OtherRevision(SHA, (OTHER,))
    assert told(found) == "503e7542 is not there, only 7278e1e7"


@pytest.mark.parametrize(
    ("main", "words"),
    [
        (None, "refs/main is missing"),
        (OTHER, "refs/main says '7278e1e7', not 503e7542"),
        (f"{SHA}\n", "refs/main ends in a blank"),
    ],
)
def test_refs_main_must_name_the_commit_where_the_page_needs_it(
    tmp_path: Path, main: str | None, words: str
) -> None:
    cache(tmp_path, "org/m", MODEL, main=main)
    found = state(tmp_path, ref_main=True)
    assert found == OtherMain(SHA, main or "")
    assert told(found).startswith(words)
    assert isinstance(state(tmp_path), Cached)
    (repo_of(tmp_path, "org/m") / "refs" / "main").write_text(SHA)
    assert isinstance(state(tmp_path, ref_main=True), Cached)


def test_what_is_not_pinned_is_whatever_refs_main_says(tmp_path: Path) -> None:
    assert state(tmp_path, revision="") == Absent()
    repo = cache(tmp_path, "org/m", MODEL)
    assert state(tmp_path, revision="") == OtherMain("", "")
    (repo / "refs" / "main").write_text(f"{SHA}\n")
    assert state(tmp_path, revision="") == OtherMain(SHA, f"{SHA}\n")
    (repo / "refs" / "main").write_text(OTHER)
    assert state(tmp_path, revision="") == OtherRevision(OTHER, (SHA,))
    (repo / "refs" / "main").write_text(SHA)
    found = state(tmp_path, revision="")
    assert isinstance(found, Cached)
    assert found.revision == SHA


def test_a_branch_is_the_commit_that_the_cache_knows_for_it(tmp_path: Path) -> None:
    repo = cache(tmp_path, "org/m", MODEL)
    assert state(tmp_path, revision="v1.2") == OtherRevision("v1.2", (SHA,))
    (repo / "refs" / "v1.2").write_text(SHA)
    assert isinstance(state(tmp_path, revision="v1.2"), Cached)


def test_a_cache_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert state(tmp_path / "nowhere") == Absent()


def test_what_cannot_be_read_is_unread_and_not_absent(tmp_path: Path) -> None:
    repo = repo_of(tmp_path, "org/m")
    repo.mkdir()
    (repo / "snapshots").symlink_to("snapshots")
    found = state(tmp_path)
    assert isinstance(found, Unread)
    assert "snapshots" in found.reason


def test_a_name_that_the_hub_cannot_have_is_unread(tmp_path: Path) -> None:
    cache(tmp_path, "a/b/c", MODEL)
    found = state(tmp_path, repo="a/b/c")
    assert isinstance(found, Unread)
    assert "a/b/c" in found.reason


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_unread_and_not_absent(tmp_path: Path) -> None:
    repo = cache(tmp_path, "org/m", MODEL)
    repo.chmod(0)
    try:
        found = state(tmp_path)
    finally:
        repo.chmod(0o755)
    assert isinstance(found, Unread)
    assert "Permission denied" in found.reason


def test_a_child_takes_the_reading(tmp_path: Path) -> None:
    cache(tmp_path, "org/m", MODEL, listed=True)
    wanted = Wanted(id="m", repo="org/m", revision=SHA)
    assert reading(tmp_path, (wanted,)) == AssetsReading(look(tmp_path, (wanted,)))
    assert reading(tmp_path, ()) == AssetsReading()


GATE = AssetsCached()


def test_green_needs_every_asset() -> None:
    one, two = (Wanted(id=name, repo=f"org/{name}", revision=SHA) for name in "ab")
    whole = Cached(SHA, 3, 2_500_000, "all that the hub lists")
    both = AssetsReading((Found(one, whole), Found(two, whole)))
    one_line = "3 files, 2.5 MB at 503e7542: all that the hub lists"
    assert judge(GATE, both) == Green(f"a {one_line}, b {one_line}")
    assert judge(GATE, AssetsReading((Found(one, whole), Found(two, Absent())))) == Red("b: not there")
    unread = Found(two, Unread("/x: Permission denied"))
    verdict = judge(GATE, AssetsReading((Found(one, whole), unread)))
    assert verdict == Unknown("b: cannot be looked at: /x: Permission denied")
    assert isinstance(judge(GATE, AssetsReading((Found(one, Absent()), unread))), Red)
    assert judge(GATE, AssetsReading(error="no container")) == Unknown("no container")
    assert isinstance(judge(GATE, AssetsReading()), Moot)


def test_the_assets_of_a_run_have_their_variables_replaced() -> None:
    book = runbook(
        assets=(Asset(id="a", repo="org/${NAME}", revision="${REV}"), Asset(id="b", repo="org/b", private=True)),
        cache=Cache(hub="/caches/${NAME}"),
    )
    values = {"NAME": "m", "REV": SHA}
    assert [one.repo for one in wanted_of(book, values)] == ["org/m", "org/b"]
    assert wanted_of(book, values, ("b",)) == (Wanted(id="b", repo="org/b", private=True),)
    assert hub_of(book, values) == Path("/caches/m")
    with pytest.raises(UsageError, match="REV"):
        wanted_of(book, {"NAME": "m"})
    with pytest.raises(UsageError, match="cache"):
        hub_of(runbook(), {})


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (18.7e9, "18.7 GB"), (2.5e15, "2500.0 TB")]
)
def test_sizes_in_words(size: float, text: str) -> None:
    assert sized(size) == text
