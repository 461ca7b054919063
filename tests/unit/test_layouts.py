import pytest
from omnitui.ui.layouts import PANES, PARTS, Room, arranged

EVERY = ["checklist", *dict(PARTS), *dict(PANES)]


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (99, 60), (100, 31), (120, 40), (160, 46), (200, 60)])
@pytest.mark.parametrize("gpu", [True, False])
@pytest.mark.parametrize("at", EVERY)
def test_every_pane_can_be_reached_and_is_shown(size: tuple[int, int], gpu: bool, at: str) -> None:
    room = Room(*size, logs=True, gpu=gpu)
    for maximised in (False, True):
        found = arranged(room, at, "output", maximised=maximised)
        pane = "step" if at in dict(PARTS) else at
        assert pane in found.shown
        reached = {name for name, _ in found.tabs}
        hidden = {"checklist", *dict(PANES)} - found.shown
        assert hidden <= reached
        assert not maximised or found.shown == {pane}


def test_narrow_screens_show_one_pane() -> None:
    found = arranged(Room(80, 24, logs=True), "gpu", "output", maximised=False)
    assert (set(found.shown), found.tabs_over, found.opened) == ({"gpu"}, True, "gpu")
    # The tabs fit into one line.
    assert sum(len(word) + 2 for _, word in found.tabs) <= 80


def test_a_run_without_gpus_has_the_server_in_their_place() -> None:
    assert "server" in arranged(Room(120, 40), "checklist", "output", maximised=False).shown
    assert "gpu" in arranged(Room(120, 40, gpu=True), "checklist", "output", maximised=False).shown


def test_the_log_of_no_server_is_not_shown() -> None:
    found = arranged(Room(80, 24), "logs", "output", maximised=False)
    assert found.shown == {"checklist"}
    assert "logs" not in dict(found.tabs)
