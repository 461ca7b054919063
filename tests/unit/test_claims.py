import fcntl
import stat
import threading
from pathlib import Path

import pytest
from omnitui.claims import claimed, folder
from omnitui.errors import ResourceBusy, StoreError
from tests.waiting import PATIENCE_S


@pytest.mark.usefixtures("home")
def test_two_runs_exclude_each_other_and_the_first_is_named() -> None:
    with claimed(things("port-8000", "gpu-GPU-aa", "port-8000"), "first"):
        for name, told in (
            ("port-8000", "port 8000 belongs to run first"),
            ("gpu-GPU-aa", "gpu GPU-aa belongs to"),
        ):
            with pytest.raises(ResourceBusy, match=told), claimed(things(name), "second"):
                pass
        with claimed(things("port-80", "port-80000"), "second"):
            pass
    with claimed(things("port-8000"), "second"):
        pass


@pytest.mark.usefixtures("home")
def test_a_claim_that_fails_halfway_holds_nothing() -> None:
    with (
        claimed(things("port-2"), "first"),
        pytest.raises(ResourceBusy),
        claimed(things("port-1", "port-2", "port-3"), "second"),
    ):
        pass
    with claimed(things("port-1", "port-2", "port-3"), "third"):
        pass


@pytest.mark.usefixtures("home")
def test_every_user_may_open_the_lock() -> None:
    with claimed(things("port-1"), "first"):
        file = folder() / "omnitui-port-1.lock"
        assert stat.S_IMODE(file.stat().st_mode) == 0o666
        assert "run first of uid" in file.read_text()


@pytest.mark.usefixtures("home")
def test_who_only_asks_for_the_holder_is_no_other_run(monkeypatch: pytest.MonkeyPatch) -> None:
    # As long as a busy machine may need to wake the one that lets go.
    monkeypatch.setattr("omnitui.claims._PATIENCE_S", PATIENCE_S)
    with claimed(things("port-1"), "before"):
        pass
    with (folder() / "omnitui-port-1.lock").open() as asks:
        fcntl.flock(asks, fcntl.LOCK_SH)
        gone = threading.Timer(0.2, fcntl.flock, (asks, fcntl.LOCK_UN))
        gone.start()
        with claimed(things("port-1"), "now"):
            gone.join()


def things(*names: str) -> dict[str, str]:
    return {name: name.replace("-", " ", 1) for name in names}


def test_a_folder_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OMNITUI_LOCKS", str(tmp_path / "nowhere"))
    with pytest.raises(StoreError, match="set OMNITUI_LOCKS to a shared folder"), claimed(things("port-1"), "x"):
        pass


@pytest.mark.usefixtures("home")
def test_a_link_in_the_shared_folder_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    (folder() / "omnitui-port-1.lock").symlink_to(precious)
    with pytest.raises(StoreError, match=r"omnitui-port-1\.lock cannot be opened"), claimed(things("port-1"), "x"):
        pass
    assert precious.read_text() == "kept"


def test_without_a_given_folder_there_is_one_for_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMNITUI_LOCKS", raising=False)
    assert folder().is_dir()
