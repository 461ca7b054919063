"""A state file that cannot be trusted is told, never read as a new run, and rebuilt from the journal."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from omnitui import store
from omnitui.errors import CorruptState, StoreError, UsageError
from omnitui.model import SCHEMA
from omnitui.store import RunFolder
from tests.flow.desk import MINI, Desk

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda whole: b"",
    "cut": lambda whole: whole[: len(whole) // 2],
    "cut after a whole line": lambda whole: whole[: whole.index(b"\n", len(whole) // 3) + 1],
    "filled with NUL": lambda whole: b"\0" * len(whole),
    "half filled with NUL": lambda whole: whole[:500] + b"\0" * (len(whole) - 500),
    "not text": lambda whole: b"\xff\xfe" + whole,
}


@pytest.fixture
def cut_off(desk: Desk) -> RunFolder:
    """A run whose runner was killed while the client was at work."""
    run = desk.waiting("client")
    desk.kill_runner(run)
    desk.release("client")
    return run


def test_each_damage_is_told_and_the_run_is_repaired_and_resumed(desk: Desk, cut_off: RunFolder) -> None:
    run = cut_off
    whole, before = run.state.read_bytes(), store.read(run)
    for name, damage in DAMAGES.items():
        broken = damage(whole)
        run.state.write_bytes(broken)
        # One process for each verb and damage would take half a minute: the first damage goes through all of them.
        verbs = (["status"], ["resume", "--headless", "--yes"], ["attach", "--headless"], ["results"])
        for verb, *options in verbs if name == "empty" else verbs[:1]:
            told = desk.omnitui(verb, run.name, *options)
            assert told.code == 4, (name, verb, told)
            assert str(run.state) in told.err, (name, verb)
            assert f"omnitui repair {run.name}" in told.err, (name, verb)
            assert "Traceback" not in told.err
        assert run.state.read_bytes() == broken
        assert desk.only_run() == run

        told = desk.omnitui("repair", run.name)
        assert told.code == 0, (name, told)
        assert "client reads as running" in told.out
        assert store.read(run) == before, name
    kept = [file.read_bytes() for file in run.path.glob("state.toml.corrupt-*")]
    assert sorted(kept) == sorted(damage(whole) for damage in DAMAGES.values())
    assert "nothing to repair" in desk.omnitui("repair", run.name).out

    assert desk.resume(run).code == 0
    assert (run.path / "trace.txt").read_text().split()[:3] == ["prepare", "versions", "run1-out"]
    assert desk.only_run() == run


def test_no_prefix_of_a_state_is_taken_for_a_state(desk: Desk, cut_off: RunFolder, tmp_path: Path) -> None:
    whole = cut_off.state.read_text()
    file = tmp_path / "state.toml"
    assert store.from_toml(whole, file) == store.read(cut_off)
    lines = [at + 1 for at, character in enumerate(whole) if character == "\n"][:-1]
    cuts = {*range(0, len(whole) - 2, max(1, len(whole) // 30)), *lines}
    for cut in cuts:
        with pytest.raises(CorruptState, match="omnitui repair"):
            store.from_toml(whole[:cut], file)
    assert desk.omnitui("stop", cut_off.name).code == 0


def test_the_list_of_runs_shows_a_corrupt_one_beside_the_others(desk: Desk, cut_off: RunFolder) -> None:
    assert desk.omnitui("stop", cut_off.name).code == 0
    shutil.copytree(cut_off.path, cut_off.path.with_name("20990101-000000-mini"))
    cut_off.state.write_bytes(b"")
    told = desk.omnitui("runs")
    assert told.code == 0
    lines = {line.split()[0]: line.split()[1] for line in told.out.splitlines()}
    assert lines[cut_off.name] == "corrupt"
    assert lines["20990101-000000-mini"] != "corrupt"


def test_a_journal_whose_last_line_is_cut_still_repairs(desk: Desk, cut_off: RunFolder) -> None:
    before = store.read(cut_off)
    with cut_off.journal.open("ab") as journal:
        journal.write(b'{"t": "2026-01-01T00:00:00Z", "event": "step_end')
    cut_off.state.write_bytes(b"")
    assert desk.omnitui("repair", cut_off.name).code == 0
    assert store.read(cut_off) == before
    assert desk.resume(cut_off).code == 0


def test_a_missing_state_is_corrupt_too(desk: Desk, cut_off: RunFolder) -> None:
    before = store.read(cut_off)
    cut_off.state.unlink()
    told = desk.omnitui("resume", cut_off.name, "--headless", "--yes")
    assert told.code == 4
    assert desk.omnitui("repair", cut_off.name).code == 0
    assert store.read(cut_off) == before
    assert desk.omnitui("stop", cut_off.name).code == 0


def test_without_the_beginning_of_the_journal_nothing_is_made_up(desk: Desk, cut_off: RunFolder) -> None:
    assert desk.omnitui("stop", cut_off.name).code == 0
    cut_off.state.write_bytes(b"")
    cut_off.journal.write_bytes(b"")
    told = desk.omnitui("repair", cut_off.name)
    assert told.code == 4
    assert "cannot be rebuilt" in told.err
    assert cut_off.state.read_bytes() == b""


def test_a_newer_schema_is_refused_and_left_alone(desk: Desk, cut_off: RunFolder) -> None:
    assert desk.omnitui("stop", cut_off.name).code == 0
    newer = cut_off.state.read_text().replace(f"schema = {SCHEMA}", f"schema = {SCHEMA + 1}", 1)
    cut_off.state.write_text(newer)
    for verb in ("status", "resume", "repair"):
        told = desk.omnitui(verb, cut_off.name)
        assert told.code == 2, told
        assert f"schema {SCHEMA + 1}" in told.err
        assert "newer OmniTUI" in told.err
    assert cut_off.state.read_text() == newer
    with pytest.raises(UsageError):
        store.read(cut_off)


def test_a_write_that_fails_leaves_the_old_file_and_is_told(tmp_path: Path) -> None:
    target = tmp_path / "state.toml"
    target.mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        store.replace_file(target, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["state.toml"]


def test_a_run_keeps_its_own_copy_of_the_runbook(desk: Desk, tmp_path: Path) -> None:
    source = tmp_path / "mine"
    shutil.copytree(MINI, source)
    desk.pause("client")
    arguments = [str(source) if argument == MINI else argument for argument in desk.mini("--detach")]
    run = desk.detach(*arguments)
    desk.reached("client")
    desk.kill_runner(run)
    desk.release("client")
    shutil.rmtree(source)
    told = desk.resume(run)
    assert told.code == 0
    assert "The runbook has changed since this run began" in told.out
