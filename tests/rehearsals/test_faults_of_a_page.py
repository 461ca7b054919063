"""What breaks under a page that runs in a container, and how its run goes on; and a page without one."""

from collections.abc import Callable

import pytest
from omnitui import store
from omnitui.cli import run_cli
from omnitui.model import Passed

from tests.rehearsals.conftest import Told

pytestmark = [pytest.mark.rehearsal, pytest.mark.timeout(900)]
Rehearse = Callable[..., Told]


def test_a_page_that_runs_in_the_container_leaves_nothing_behind(rehearse: Rehearse) -> None:
    told = rehearse("asr", "--set", "WHERE=local")
    assert told.code == 0, told.out
    assert "processes that steps had left behind" not in told.out


BREAKS = {
    "reboot": ("main/run0/videoamme-client", "the job is gone"),
    "disk-full": ("main/run0/seedtts-client", "No space left on device"),
    "port-taken": ("main/run0/ready", "port 8000 is held by pid"),
    "partial-download": ("_/_/", "whose download was cut off"),
    "venv-stale": ("main/_/venv-ok", "VENV_OK not printed"),
}
"""Where the MiniCPM-o page ends red (the beginning of the step's id), and what is told then."""


@pytest.mark.parametrize("fault", BREAKS)
def test_the_page_is_red_at_the_right_step_and_goes_on_from_there(rehearse: Rehearse, fault: str) -> None:
    step, reason = BREAKS[fault]
    told = rehearse("minicpmo-offline", "--schedule", "short", "--fault", fault)
    assert told.code == 1, told.out
    assert told.run is not None
    state = store.read(told.run)
    (red,) = [name for name, record in state.steps.items() if not isinstance(record.status, Passed)]
    assert red.startswith(step), told.out
    assert reason in told.out
    if fault == "venv-stale":
        # The page's own remedy: rebuild it. It runs in the sandbox, too.
        assert rehearse("--resume", told.run.name, "--fault", "none").code == 1
        assert run_cli(["remedy", told.run.name, red, "1"]) == 0
    again = rehearse("--resume", told.run.name, "--fault", "none")
    assert again.code == 0, again.out
