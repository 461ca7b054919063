"""Downloads with the real library from a small hub on this machine: progress, cuts, stops and refusals."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from omnitui import downloads
from omnitui.assets import Cached, OtherMain, Wanted
from omnitui.downloads import Download, Event, Fetched, NotFetched, Progress, line
from omnitui.errors import OmniError
from omnitui.probes.assets import look
from tests.hub_caches import DATA, MODEL, OTHER, SHA, cache, repo_of
from tests.hub_server import Hub, Repo, serving
from tests.waiting import until

BIG = "model-00002-of-00002.safetensors"
CHUNK = 10 << 20
"""The library tells its progress, and can go on after a cut, in pieces of this size."""
LARGE = {**MODEL, BIG: bytes(24 << 20)}
SIZE = sum(map(len, LARGE.values()))
CANNOT = "the token in HF_TOKEN cannot read org/m"
WANTED = Wanted(id="m", repo="org/m", revision=SHA, ref_main=True)


@pytest.fixture
def hub(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        monkeypatch.delenv("HF_TOKEN", raising=False)
        hub.repos["models/org/m"] = Repo(LARGE)
        yield hub


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "hub"


def ended(download: Download) -> Event:
    until(lambda: not download.is_alive(), about=download.log.read_text())
    assert "Traceback" not in download.log.read_text()
    return download.read()


def fetched(folder: Path, asset: Wanted = WANTED) -> Event:
    return ended(downloads.begin(folder, asset))


def test_a_download_brings_everything_and_sets_refs_main(hub: Hub, folder: Path) -> None:
    event = fetched(folder)
    assert isinstance(event, Fetched), event
    assert (event.revision, event.files, event.size) == (SHA, 5, SIZE)
    assert (repo_of(folder, "org/m") / "refs" / "main").read_bytes() == SHA.encode()
    (found,) = look(folder, (WANTED,))
    assert isinstance(found.state, Cached)
    assert found.state.proof == "all that the hub lists"
    assert "fetched 5 files, 25.2 MB, at 503e7542 in" in line(event)


def test_the_progress_is_told_while_it_comes(hub: Hub, folder: Path) -> None:
    hub.holds[BIG] = threading.Event()
    download = downloads.begin(folder, WANTED)
    first = SIZE - len(LARGE[BIG]) + CHUNK

    def told() -> Progress | None:
        event = download.read()
        return event if isinstance(event, Progress) and event.files == 4 and event.size == first else None

    progress = until(told)
    assert progress and (progress.of_files, progress.of_size) == (5, SIZE)
    assert line(progress).startswith(" 41 %  4 of 5 files  10.5 MB of 25.2 MB")
    # Who asks again finds the one that is at work.
    assert downloads.begin(folder, WANTED) == download == downloads.find(folder, WANTED)
    hub.holds[BIG].set()
    assert isinstance(ended(download), Fetched)
    assert hub.files_asked().count(BIG) == 1


def test_a_connection_that_breaks_goes_on_where_it_was(hub: Hub, folder: Path) -> None:
    hub.cuts[BIG] = 2
    download = downloads.begin(folder, WANTED)
    until(lambda: not download.is_alive(), about=download.log.read_text())
    event = download.read()
    assert isinstance(event, Fetched), event
    assert [r for verb, path, r in hub.asked if verb == "GET" and path.endswith(BIG)][1] == f"bytes={CHUNK}-"
    assert isinstance(look(folder, (WANTED,))[0].state, Cached)


def test_a_stop_keeps_whole_files_and_the_next_download_goes_on(hub: Hub, folder: Path) -> None:
    hub.holds[BIG] = threading.Event()
    download = downloads.begin(folder, WANTED)
    until(lambda: isinstance(event := download.read(), Progress) and event.files == 4)
    download.stop()
    event = ended(download)
    assert isinstance(event, NotFetched), event
    assert event.stopped
    repo = repo_of(folder, "org/m")
    assert not list((repo / "blobs").glob("*.incomplete"))
    assert not (repo / "refs" / "main").exists()
    hub.holds.pop(BIG).set()
    hub.asked.clear()
    assert isinstance(fetched(folder), Fetched)
    assert hub.files_asked() == [BIG]


def test_a_download_whose_process_was_killed_says_so_and_can_be_begun_again(hub: Hub, folder: Path) -> None:
    hub.holds[BIG] = threading.Event()
    download = downloads.begin(folder, WANTED)
    until(lambda: isinstance(event := download.read(), Progress) and event.files == 4)
    os.kill(int((download.folder / "lock").read_text()), signal.SIGKILL)
    assert ended(download) == download.last() == NotFetched("its process is gone")
    hub.holds.pop(BIG).set()
    assert isinstance(fetched(folder), Fetched)


def test_what_is_not_pinned_is_the_head_and_refs_main_says_so(hub: Hub, folder: Path) -> None:
    hub.repos["datasets/org/rows"] = Repo(DATA, sha=OTHER)
    asset = Wanted(id="rows", repo="org/rows", kind="dataset")
    event = fetched(folder, asset)
    assert isinstance(event, Fetched) and event.revision == OTHER, event
    (found,) = look(folder, (asset,))
    assert isinstance(found.state, Cached) and found.state.revision == OTHER


def test_a_wrong_refs_main_is_set_without_bringing_anything_again(hub: Hub, folder: Path) -> None:
    cache(folder, "org/m", LARGE, main=OTHER)
    assert look(folder, (WANTED,))[0].state == OtherMain(SHA, OTHER)
    assert isinstance(fetched(folder), Fetched)
    assert hub.files_asked() == []
    assert isinstance(look(folder, (WANTED,))[0].state, Cached)


@pytest.mark.parametrize(
    ("repo", "token", "reason"),
    [
        (Repo(MODEL, token="hf_good"), "hf_bad", f"{CANNOT}, or there is no such model"),
        (Repo(MODEL, token="hf_good"), "", "HF_TOKEN is not set, and without a token nobody reads org/m"),
        (Repo(MODEL, token="hf_good", gated=True), "hf_bad", f"{CANNOT}: it is gated"),
        (Repo(MODEL, status=403), "hf_bad", f"{CANNOT} (status 403)"),
        (Repo(MODEL, sha=OTHER), "", f"org/m has no revision {SHA}"),
        (Repo(MODEL, status=404), "", "the hub answered 404 for org/m"),
    ],
)
def test_a_refusal_is_a_sentence(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch, repo: Repo, token: str, reason: str
) -> None:
    hub.repos["models/org/m"] = repo
    monkeypatch.setenv("HF_TOKEN", token)
    event = fetched(folder)
    assert isinstance(event, NotFetched)
    assert event.reason.startswith(reason)
    assert not event.stopped


def test_the_token_is_used_and_never_written(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repos["models/org/m"] = Repo(LARGE, token="hf_good")
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    download = downloads.begin(folder, WANTED)
    assert isinstance(ended(download), Fetched)
    for file in [*download.folder.rglob("*"), *folder.rglob("*")]:
        assert not file.is_file() or b"hf_good" not in file.read_bytes()


@pytest.mark.long
def test_a_hub_that_cannot_be_reached_is_named(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free_port}")
    event = fetched(folder)
    assert isinstance(event, NotFetched)
    assert event.reason.startswith(f"http://127.0.0.1:{free_port} cannot be reached (ConnectError")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_of_somebody_else_is_refused_before_anything_begins(hub: Hub, folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o555)
    with pytest.raises(OmniError, match="cannot be written by you"):
        downloads.begin(folder, WANTED)
