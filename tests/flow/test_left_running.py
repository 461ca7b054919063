"""What was left running without a runner: nobody writes down how it ends, so whoever shows the run looks."""

import json
import os
import re
import signal
import time

import pytest
from omnitui.errors import CorruptState
from omnitui.snapshot import GONE, Watch, is_stale
from omnitui.ui.gate_texts import chapters_of
from omnitui.ui.server_texts import server_rows
from omnitui.ui.showing import gate_chips
from tests.flow.desk import PASS, Desk
from tests.waiting import until


def test_a_server_that_died_while_nobody_was_at_work_is_shown_as_gone(desk: Desk) -> None:
    run = desk.waiting("client")
    desk.kill_runner(run)
    watch = Watch(run)
    snapshot = watch.take()
    assert snapshot.gone == frozenset()
    (gate,) = (one for one in snapshot.gates if one.word == "READY")
    assert gate.kind == "green"
    # A reading that nobody renews grows stale everywhere.
    late = gate.at + 21
    planned = next(one for one in snapshot.plan if one.id == gate.about)
    assert is_stale(planned, gate, late) and not is_stale(planned, gate, gate.at + 19)
    chips = ["".join(cell.text for cell in chip.cells) for chip in gate_chips(snapshot, late)]
    assert any(chip.startswith("◌ READY STALE 21s") for chip in chips), chips
    lines = [line for chapter in chapters_of(snapshot, {}, late) for line in chapter.gates]
    assert next(line for line in lines if line.word == "READY").sign.word == "STALE"

    os.killpg(desk.group_of(run, f"{PASS}/serve"), signal.SIGKILL)
    until(watch.changed, about="the death is seen")
    snapshot = watch.take()
    assert len(snapshot.gone) == 1
    (gate,) = (one for one in snapshot.gates if one.word == "READY")
    assert (gate.kind, gate.reason) == ("red", GONE) and not is_stale(planned, gate, late)
    rows = ["".join(cell.text for cell in row.left) for row in server_rows(snapshot, {}, time.time())]
    assert rows[0].startswith("✘ gone ") and not any("up " in row for row in rows)
    assert "READY: red: the server is gone" in desk.omnitui("status", run.name).out
    assert f"✘ READY  {PASS}/serve  last red: the server is gone" in desk.omnitui("gates", run.name).out
    assert desk.omnitui("stop", run.name).code == 0


def test_a_step_that_ends_while_nobody_is_at_work_changes_what_going_on_will_do(desk: Desk) -> None:
    run = desk.waiting("client")
    desk.kill_runner(run)
    watch = Watch(run)
    before = watch.take().resume
    assert before is not None and "is still running" in before.lines[-1]
    desk.release("client")
    until(watch.changed, about="the end is seen")
    after = watch.take().resume
    assert after is not None and "ended meanwhile" in after.lines[-1]
    assert desk.resume(run).code == 0


def test_status_says_how_old_a_reading_is_that_nobody_renews(desk: Desk) -> None:
    run = desk.waiting("client")
    desk.kill_runner(run)
    shown = run.live.read_bytes()
    run.live.write_bytes(_older(shown, 60.0))
    (told,) = (gate for gate in desk.status(run)["gates"] if gate["word"] == "READY")
    assert told["stale"] is True
    (line,) = (line for line in desk.omnitui("status", run.name).out.splitlines() if "READY: green" in line)
    age_s = re.search(r"\(STALE, (\d+) s old\)", line)
    assert age_s and int(age_s[1]) >= 60, line
    desk.release("client")
    assert desk.resume(run).code == 0


def _older(shown: bytes, seconds: float) -> bytes:

    return json.dumps([{**gate, "at": gate["at"] - seconds} for gate in json.loads(shown)]).encode()


def test_a_state_that_could_not_be_read_once_is_read_again(desk: Desk) -> None:
    assert desk.omnitui(*desk.mini()).code == 0
    run = desk.only_run()
    watch = Watch(run)
    kept = run.state.read_bytes()
    run.state.write_bytes(b"")
    with pytest.raises(CorruptState):
        watch.take()
    assert watch.changed()
    run.state.write_bytes(kept)
    assert watch.take().outcome == "complete" and not watch.changed()
