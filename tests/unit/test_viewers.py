"""Who watches a run, and what that costs."""

import subprocess
import sys
from pathlib import Path

import pytest
from omnitui.places.local import boot_id, identity_of
from omnitui.store import RunFolder
from omnitui.viewers import Viewer, Viewers
from tests.waiting import until

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
WORKS = "print('here', flush=True); exec('while True: pass')"


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


def name_of(pid: int) -> str:
    who = identity_of(pid)
    return f"{who.pid}.{who.start}.{who.boot}"


def test_a_viewer_is_there_as_long_as_it_watches_a_run_at_work(run: RunFolder) -> None:
    with Viewer(run) as viewer:
        viewer.watches(live=False)
        assert not run.viewers.exists()
        for _ in range(2):
            viewer.watches(live=True)
            (file,) = run.viewers.iterdir()
            assert file.read_bytes() == b""
    assert list(run.viewers.iterdir()) == []


def test_who_was_killed_is_tidied_up_by_the_next(run: RunFolder) -> None:
    run.viewers.mkdir()
    (run.viewers / f"{2**22 + 1}.77.{boot_id()}").touch()
    elsewhere = run.viewers / "1.77.another-boot"
    elsewhere.touch()
    with Viewer(run) as viewer:
        viewer.watches(live=True)
        assert len(list(run.viewers.iterdir())) == 2
    assert list(run.viewers.iterdir()) == [elsewhere]


def test_where_nothing_can_be_written_it_watches_all_the_same(run: RunFolder) -> None:
    run.viewers.touch()
    with Viewer(run) as viewer:
        viewer.watches(live=True)
    assert Viewers(run).spent_s() == 0.0


def test_what_viewers_take_is_counted_from_the_first_look_on_and_stays_when_they_go(run: RunFolder) -> None:
    viewers = Viewers(run)
    assert viewers.spent_s() == 0.0
    run.viewers.mkdir()
    with subprocess.Popen([sys.executable, "-c", WORKS], stdout=subprocess.PIPE) as one:
        assert one.stdout
        one.stdout.readline()
        file = run.viewers / name_of(one.pid)
        file.touch()
        assert viewers.spent_s() == 0.0
        spent_s = until(lambda: (now_s := viewers.spent_s()) > 0.1 and now_s, about="it has taken 0.1 s")
        one.kill()
    assert viewers.spent_s() >= spent_s
    file.unlink()
    # Another process of that number, and what is no viewer at all.
    (run.viewers / f"1.1.{boot_id()}").touch()
    (run.viewers / ".1.1").touch()
    assert viewers.spent_s() >= spent_s
