"""`omnitui gates` and what plain lines say of progress and of a spoiled pass."""

import json

from msgspec.structs import replace
from omnitui import store
from omnitui.headless import Teller
from omnitui.model import Identity, PassRecord
from omnitui.snapshot import Watch
from tests.flow.desk import PASS, Desk


def test_gates_are_told_with_their_history(desk: Desk) -> None:
    assert desk.omnitui(*desk.mini()).code == 0
    run = desk.only_run()
    found = json.loads(desk.omnitui("gates", run.name, "--json").out)
    gates = {(one["step"], one["word"]): one for one in found}
    ready = gates[f"{PASS}/serve", "READY"]
    assert ready["verdict"] == "green"
    assert ready["history"][-1]["verdict"] == "green"
    assert not any(one["live"] for one in found)
    lines = desk.omnitui("gates").out
    assert f"✔ READY  {PASS}/serve  last green: " in lines


def test_a_spoiled_pass_is_told(desk: Desk) -> None:
    assert desk.omnitui(*desk.mini()).code == 0
    run = desk.only_run()
    assert desk.status(run)["marks"] == {}
    offset = run.journal.stat().st_size
    with store.owned(run, Identity(pid=1, start=1, boot="x")) as owned:
        marked = replace(owned.state.passes.get(PASS, PassRecord()), marks=("throttled: GPU 0 during client",))
        after = replace(owned.state, passes={**owned.state.passes, PASS: marked})
        owned.commit("contaminated", after, step=f"{PASS}/client", kind="throttled", reason=marked.marks[0])
    assert desk.status(run)["marks"] == {PASS: ["throttled: GPU 0 during client"]}
    assert f"! {PASS} will not be averaged: throttled: GPU 0" in desk.omnitui("status", run.name).out
    said: list[str] = []
    Teller(Watch(run), said.append).tell(offset)
    assert said == [f"  ! {PASS} is spoiled and will not be averaged: throttled: GPU 0 during client"]


def test_progress_is_told_when_a_tenth_more_is_done(desk: Desk) -> None:
    run = desk.waiting("client")
    log = desk.job(run, f"{PASS}/client").log
    said: list[str] = []
    teller = Teller(Watch(run), said.append)
    with log.open("a") as file:
        for number, now in ((10, 10), (50, 20), (55, 30), (60, 31), (61, 40)):
            file.write(f"\r{number:3d}%|#| {number}/100 [00:10<00:10, 5.0it/s]")
            file.flush()
            teller.tell_progress(now)
        file.write("\n")
    desk.release("client")
    desk.saw(run, "runner_ended")
    assert [line.split(" · ")[0].strip() for line in said] == ["10/100 (10 %)", "50/100 (50 %)", "61/100 (61 %)"]
