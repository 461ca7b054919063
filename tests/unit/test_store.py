import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from omnitui import store
from omnitui.errors import CorruptState, RunBusy, StoreError, UsageError
from omnitui.model import Asking, Attempt, Crashed, Failed, Identity, Passed, PassRecord, RunState, StepRecord
from omnitui.store import Owned, RunFolder
from tests.unit.builders import AT, green, keys, red, running, state, states

FROZEN = Path(__file__).parents[1] / "data" / "unit" / "state-schema-1.toml"
ME = Identity(pid=4242, start=7, boot="boot")
END = "# end\n"


def text_of(one: RunState) -> str:
    return f"{store.to_toml(one)}\n{END}"


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


@contextmanager
def begun(path: Path, first: RunState) -> Iterator[Owned]:
    """A run in an empty folder, with its first state written."""
    owned = Owned(RunFolder(path), first)
    owned.begin()
    try:
        yield owned
    finally:
        owned.close()


# -- the state as TOML -----------------------------------------------------------------------------------------


@given(states)
@settings(max_examples=200)
def test_any_state_survives_the_file(one: RunState) -> None:
    text = text_of(one)
    assert store.from_toml(text, FROZEN) == one
    assert store.from_toml(text.encode().decode(), FROZEN) == one


@given(states, st.data())
def test_no_beginning_of_a_state_file_is_a_state(one: RunState, draw: st.DataObject) -> None:
    text = text_of(one)
    ends = draw.draw(st.lists(st.integers(0, len(text.rstrip()) - 1), min_size=20, max_size=20))
    for end in ends:
        with pytest.raises(CorruptState):
            store.from_toml(text[:end], FROZEN)


def test_every_byte_that_is_missing_at_the_end_is_noticed(run: RunFolder) -> None:
    data = FROZEN.read_bytes().rstrip()
    for end in range(len(data)):
        run.state.write_bytes(data[:end])
        with pytest.raises(CorruptState, match="omnitui repair"):
            store.read(run)
    run.state.write_bytes(data)
    assert store.read(run).run == "20260102-030405-bench"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"\0" * 4096, "NUL bytes"),
        (b"schema = 1\n" + b"\0" * 100 + b"\n# end\n", "NUL bytes"),
        (b"# end\n", "does not fit"),
        (b"schema = 1\n# end\n", "does not fit"),
        (b"schema = 1\n", "is cut"),
        (b"schema = \n# end\n", "is not TOML"),
        (b"\xff\xfe\n# end\n", "is not text"),
        (b"<html>\n# end", "is not TOML"),
    ],
)
def test_what_is_no_state_is_corrupt_and_never_new(run: RunFolder, data: bytes, told: str) -> None:
    run.state.write_bytes(data)
    with pytest.raises(CorruptState, match=told) as caught:
        store.read(run)
    assert str(run.state) in str(caught.value)
    assert caught.value.exit_code == 4
    assert run.state.read_bytes() == data


def test_a_missing_state_is_corrupt_and_a_folder_in_its_place_is_told(run: RunFolder) -> None:
    with pytest.raises(CorruptState, match="is missing"):
        store.read(run)
    run.state.mkdir()
    with pytest.raises(StoreError, match="cannot be read"):
        store.read(run)


def test_unknown_and_wrong_fields_are_corrupt(run: RunFolder) -> None:
    good = FROZEN.read_text()
    for bad in ('schema = "1"', 'schema = 1\nnew = "x"', "schema = 1.5", "schema = true"):
        run.state.write_text(good.replace("schema = 1", bad, 1))
        with pytest.raises(CorruptState, match="does not fit"):
            store.read(run)


def test_a_newer_schema_is_refused_and_not_called_corrupt(run: RunFolder) -> None:
    run.state.write_text(FROZEN.read_text().replace("schema = 1", "schema = 2\nnew = 3", 1))
    with pytest.raises(UsageError, match="has schema 2; this OmniTUI reads 1: use a newer OmniTUI"):
        store.read(run)


def test_the_frozen_state_of_schema_1_still_loads() -> None:
    one = store.from_toml(FROZEN.read_text(), FROZEN)
    assert one.schedule == ("a/warm", "a/1")
    assert one.variables == {"PORT": "8000", "NOTE": 'a "quoted" \\ word\n你好 \x1b[31m # end'}
    assert one.secrets == ("TOKEN",)
    assert one.handed == {"_/_": {"IMAGE": "sha256:abc"}, "a/1": {"RATE": "1.5"}}
    assert one.servers["tts"].job == "jobs/a/1/serve/2"
    assert one.passes == {"a/1": PassRecord(round=2, marks=("resumed in place at client",))}
    assert [type(record.status).__name__ for record in one.steps.values()] == [
        *("Passed", "Passed", "Skipped", "Stopped", "Crashed", "Running", "Failed", "Waiting", "Asking"),
    ]
    assert one.step("_/_/venv").status == Passed(
        attempt=1, at="2026-01-02T03:04:07.000Z", evidence=("VENV_OK", "already true"), already=True
    )
    assert one.step("a/warm/serve").status == Crashed(
        attempt=3, at="2026-01-02T03:04:10.000Z", reason="the job is gone and left no exit status"
    )
    client = one.step("a/1/client")
    assert (client.edited, client.confirmed, [attempt.n for attempt in client.attempts]) == (
        "echo mine",
        True,
        [1, 2],
    )
    assert client.attempts[0] == Attempt(
        n=1, began="2026-01-02T03:04:11.000Z", seconds=12.0, outcome="crashed", reason="gone"
    )
    assert isinstance(one.step("_/_/look").status, Asking)
    assert store.from_toml(text_of(one), FROZEN) == one


# -- replaying the journal -------------------------------------------------------------------------------------


@given(st.lists(states, min_size=1, max_size=4))
@settings(max_examples=60)
def test_the_journal_rebuilds_the_state_after_any_commits(
    tmp_path_factory: pytest.TempPathFactory, one: list[RunState]
) -> None:
    path = tmp_path_factory.mktemp("run")
    with begun(path, one[0]) as owned:
        assert store.replay(owned.run) == one[0]
        for other in one[1:]:
            # Steps are never taken away again.
            after = replace(other, steps={**owned.state.steps, **other.steps})
            owned.commit("changed", after, note="x")
            assert owned.state == store.read(owned.run) == store.replay(owned.run) == after
    assert store.replay(RunFolder(path)) == store.read(RunFolder(path))


@given(st.lists(st.tuples(keys, st.sampled_from((green(), red(), running()))), max_size=12))
@settings(max_examples=30)
def test_only_what_changed_is_journalled(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, Passed | Failed]]
) -> None:
    with begun(tmp_path_factory.mktemp("run"), state()) as owned:
        for step_id, status in moves:
            before = owned.state
            owned.commit("moved", before.with_step(step_id, StepRecord(status=status)), step=step_id)
            (line,) = store.events(owned.run)[0][-1:]
            changed = set() if owned.state == before else {step_id}
            assert set(line.get("set", {}).get("steps", {})) == changed
        assert store.replay(owned.run) == owned.state


def test_an_event_without_a_change_leaves_the_state_alone(run: RunFolder) -> None:
    with begun(run.path, state()) as owned:
        before = run.state.stat()
        owned.commit("looked", verdict=green(), numbers=(1, 2))
        after = run.state.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    event = store.events(run)[0][-1]
    assert event["event"] == "looked"
    assert event["verdict"]["is"] == "passed"
    assert "set" not in event


def test_values_that_went_away_are_gone_after_a_replay(run: RunFolder) -> None:
    full = replace(state(), handed={"_/_": {"A": "1"}}, passes={"a/1": PassRecord(round=2)})
    with begun(run.path, full) as owned:
        owned.commit("emptied", replace(full, handed={}, passes={}))
        assert store.replay(run) == owned.state == replace(full, handed={}, passes={})


@pytest.mark.parametrize(
    "rubbish", [b"", b"{", b"\0" * 64, b"null", b'"text"', b"[1]", b'{"t": "x"', b"\xff\xfe", b"NaN"]
)
def test_a_broken_line_in_the_middle_is_left_out(run: RunFolder, rubbish: bytes) -> None:
    with begun(run.path, state()) as owned:
        owned.commit("one", owned.state.with_step("_/_/check", StepRecord(status=green())))
    lines = run.journal.read_bytes().splitlines()
    run.journal.write_bytes(b"\n".join([lines[0], rubbish, *lines[1:]]) + b"\n")
    with store.owned(run, ME) as owned:
        owned.commit("two", owned.state.with_step("_/_/venv", StepRecord(status=red())))
        assert store.replay(run) == owned.state
    assert [event["event"] for event in store.events(run)[0]] == ["created", "one", "two"]


def test_a_last_line_that_was_cut_does_not_spoil_the_next(run: RunFolder) -> None:
    with begun(run.path, state()):
        pass
    with run.journal.open("ab") as journal:
        journal.write(b'{"t": "x", "event": "cut", "se')
    with store.owned(run, ME) as owned:
        owned.commit("next", owned.state.with_step("_/_/check", StepRecord(status=green())))
        assert store.replay(run) == owned.state
    assert [event["event"] for event in store.events(run)[0]] == ["created", "next"]


def test_without_its_beginning_a_journal_rebuilds_nothing(run: RunFolder) -> None:
    with pytest.raises(CorruptState, match="does not hold the beginning"):
        store.replay(run)
    with begun(run.path, state()) as owned:
        owned.commit("one", replace(owned.state, title="Other"))
    lines = run.journal.read_bytes().splitlines(keepends=True)
    run.journal.write_bytes(b"".join(lines[1:]))
    with pytest.raises(CorruptState, match="does not hold the beginning"):
        store.replay(run)
    run.journal.write_bytes(b'{"event": "created", "set": {"schedule": 3}}\n')
    with pytest.raises(CorruptState, match="does not fit"):
        store.replay(run)


def test_a_state_that_was_rebuilt_is_the_beginning_of_what_follows(run: RunFolder) -> None:
    with begun(run.path, state()) as owned:
        owned.commit("one", owned.state.with_step("_/_/check", StepRecord(status=green())))
    run.state.write_bytes(b"")
    rebuilt = store.replay(run)
    Owned(run, rebuilt).restore()
    assert store.read(run) == rebuilt == store.replay(run)
    assert store.events(run)[0][-1]["event"] == "repaired"


def test_events_are_read_from_an_offset_and_only_whole_lines(run: RunFolder) -> None:
    assert store.events(run) == ([], 0)
    run.journal.write_bytes(b'{"event": "a"}\n{"event": "\xe2\x80\xa8"}\n{"event"')
    found, offset = store.events(run)
    assert [event["event"] for event in found] == ["a", "\u2028"]
    assert store.events(run, offset) == ([], offset)
    with run.journal.open("ab") as journal:
        journal.write(b': "c"}\n')
    found, offset = store.events(run, offset)
    assert [event["event"] for event in found] == ["c"]
    assert offset == run.journal.stat().st_size


# -- durable files ---------------------------------------------------------------------------------------------


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_replaced_whole_and_private(tmp_path: Path, durable: bool) -> None:
    file = tmp_path / "file"
    for data in (b"old", b"new and longer", b"", b"x" * 300_000):
        store.replace_file(file, data, durable=durable)
        assert file.read_bytes() == data
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert names(tmp_path) == ["file"]


def test_a_reader_keeps_the_content_that_it_opened(tmp_path: Path) -> None:
    file = tmp_path / "file"
    store.replace_file(file, b"old")
    with file.open("rb") as opened:
        store.replace_file(file, b"new")
        assert opened.read() == b"old"
    assert file.read_bytes() == b"new"


@pytest.fixture
def full_disk() -> Path:
    """A device on which every write fails as on a full disk."""
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("there is no /dev/full here")
    return device


def test_a_full_disk_is_told_and_leaves_the_old_content(tmp_path: Path, full_disk: Path) -> None:
    file = tmp_path / "file"
    store.replace_file(file, b"old")
    # The fresh file's name leads to the full device.
    (tmp_path / f".file.{os.getpid()}").symlink_to(full_disk)
    with pytest.raises(StoreError, match="file cannot be written: No space left on device"):
        store.replace_file(file, b"new")
    assert file.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot be written: Not a directory"):
        store.replace_file(tmp_path / "file" / "inside", b"x")
    with pytest.raises(StoreError, match=r"cannot be made: .*; set OMNITUI_HOME"):
        store.make_folder(tmp_path / "file" / "inside")


def test_folders_and_their_parents_are_private(tmp_path: Path) -> None:
    store.make_folder(tmp_path / "a" / "b" / "c")
    store.make_folder(tmp_path / "a" / "b" / "c")
    folders = [tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "c"]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 3


def test_a_target_that_is_a_folder_is_told_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    with pytest.raises(StoreError, match="cannot be written"):
        store.replace_file(tmp_path / "target", b"x")
    assert names(tmp_path) == ["target"]


def test_a_journal_on_a_full_disk_stops_the_commit(run: RunFolder, full_disk: Path) -> None:
    with begun(run.path, state()):
        pass
    saved = run.state.read_bytes()
    run.journal.unlink()
    run.journal.symlink_to(full_disk)
    with store.owned(run, ME) as owned:
        before = owned.state
        with pytest.raises(StoreError, match=r"journal\.jsonl cannot be written: No space left"):
            owned.commit("one", replace(before, title="Other"))
        assert owned.state == before
    assert run.state.read_bytes() == saved


def test_a_state_on_a_full_disk_is_told_and_the_journal_knows_more(run: RunFolder, full_disk: Path) -> None:
    with begun(run.path, state()) as owned:
        (run.path / f".state.toml.{os.getpid()}").symlink_to(full_disk)
        with pytest.raises(StoreError, match=r"state\.toml cannot be written"):
            owned.commit("one", replace(owned.state, title="Other"))
        assert owned.state == store.read(run) == state()
        assert store.replay(run).title == "Other"
        owned.commit("two", owned.state.with_step("_/_/check", StepRecord(status=green())))
        assert store.read(run) == owned.state


# -- moving aside ----------------------------------------------------------------------------------------------


def test_output_is_moved_aside_under_the_next_free_name(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for number, name in enumerate(["out-incomplete", "out-incomplete-2", "out-incomplete-3"]):
        out.mkdir()
        (out / "result").write_text(str(number))
        assert store.move_aside([out]) == [tmp_path / name]
        assert (tmp_path / name / "result").read_text() == str(number)
        assert not out.exists()
    assert store.move_aside([out]) == []


def test_what_is_in_the_way_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    (tmp_path / "out-incomplete").symlink_to(tmp_path / "nowhere")
    (tmp_path / "out-incomplete-2").write_text("older")
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    moved = store.move_aside([tmp_path / "out", tmp_path / "missing", tmp_path / "gone"])
    assert moved == [tmp_path / "out-incomplete-3", tmp_path / "gone-incomplete"]
    assert (tmp_path / "out-incomplete").is_symlink()
    assert (tmp_path / "out-incomplete-2").read_text() == "older"


# -- the lock --------------------------------------------------------------------------------------------------


def test_one_owner_at_a_time_and_everybody_may_ask_who(run: RunFolder) -> None:
    assert store.holder(run) is None
    with begun(run.path, state()):
        pass
    with store.owned(run, ME):
        who = store.holder(run)
        assert who is not None
        assert (who.role, who.identity) == ("runner", ME)
        with (
            pytest.raises(RunBusy, match=r"held by a runner \(pid 4242 on "),
            store.owned(run, ME, role="operator", patience_s=0.0),
        ):
            pass
    assert store.holder(run) is None
    with store.owned(run, ME, role="operator"):
        assert store.holder(run) is not None


def test_a_lock_that_is_not_named_yet_is_held_all_the_same(run: RunFolder) -> None:
    with store.locked(run, ME, "runner"):
        run.lock.write_bytes(b"{")
        who = store.holder(run)
        assert who is not None
        assert who.role == "process"


def test_a_corrupt_state_frees_the_lock_again(run: RunFolder) -> None:
    run.state.write_bytes(b"")
    with pytest.raises(CorruptState), store.owned(run, ME):
        pass
    assert store.holder(run) is None


def test_a_lock_that_cannot_be_written_is_told(tmp_path: Path, full_disk: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(StoreError, match="lock cannot be opened"),
        store.locked(RunFolder(tmp_path / "file"), ME, "x"),
    ):
        pass
    run = RunFolder(tmp_path)
    run.lock.symlink_to(full_disk)
    with pytest.raises(StoreError, match="lock cannot be written"), store.locked(run, ME, "x"):
        pass


# -- making and finding runs -----------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "book"
    (folder / "scripts").mkdir(parents=True)
    (folder / "runbook.toml").write_text("schema = 1\n")
    (folder / "scripts" / "go.sh").write_text("true\n")
    (folder / "scripts" / "go.sh").chmod(0o755)
    return folder


def test_a_run_is_made_whole(home: Path, book: Path) -> None:
    files = [book / "runbook.toml", book / "scripts" / "go.sh"]
    made = store.create(state(), book, files)
    assert made.path == home / "runs" / "20260102-030405-bench"
    assert store.read(made) == state() == store.replay(made)
    assert (made.runbook / "scripts" / "go.sh").read_text() == "true\n"
    assert stat.S_IMODE((made.runbook / "scripts" / "go.sh").stat().st_mode) == 0o700
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o700
    assert names(home / "runs") == [made.name]
    assert store.runs() == [made]


def test_a_run_whose_runbook_cannot_be_read_leaves_nothing_behind(home: Path, book: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be made: .*gone"):
        store.create(state(), book, [book / "runbook.toml", book / "gone"])
    assert names(home / "runs") == []


def test_a_run_that_is_there_already_is_not_touched(home: Path, book: Path) -> None:
    made = store.create(state(), book, [book / "runbook.toml"])
    with pytest.raises(StoreError, match="cannot be made"):
        store.create(replace(state(), title="Other"), book, [book / "runbook.toml"])
    assert store.read(made) == state()
    assert names(home / "runs") == [made.name]


def test_only_a_run_that_nobody_took_up_is_taken_back(home: Path, book: Path) -> None:
    def made() -> RunFolder:
        return store.create(state(), book, [book / "runbook.toml"])

    store.take_back(made(), ME)
    assert names(home / "runs") == []
    run = made()
    with store.locked(run, ME, "runner"):
        store.take_back(run, ME)
    run.runner_log.write_text("Traceback\n")
    store.take_back(run, ME)
    run.runner_log.write_text("")
    with store.owned(run, ME) as owned:
        owned.commit("runner_started")
    store.take_back(run, ME)
    assert store.runs() == [run] and names(home / "runs") == [run.name]


def test_a_home_that_is_a_file_is_told(home: Path, book: Path) -> None:
    home.write_bytes(b"")
    with pytest.raises(StoreError, match="set OMNITUI_HOME to a writable folder"):
        store.create(state(), book, [])
    with pytest.raises(StoreError, match="cannot be read"):
        store.runs()


def test_runs_are_found_newest_first_by_beginning_or_folder(home: Path, book: Path) -> None:
    with pytest.raises(UsageError, match="there are no runs"):
        store.find(None)
    old, new = (store.create(replace(state(), run=name), book, []) for name in ("20260101-a", "20260102-b"))
    (home / "runs" / "no-run").mkdir()
    assert store.runs() == [new, old]
    assert store.find(None) == new
    assert store.find("20260101") == store.find(str(old.path)) == old
    for name, fit in (("2026", "2 runs begin"), ("x", "no run begins"), ("no-run", "no run begins")):
        with pytest.raises(UsageError, match=f"{fit} with '{name}'"):
            store.find(name)
    with pytest.raises(UsageError, match="lacks its state"):
        store.find("no-run")


def test_an_exact_name_is_no_beginning_of_another(home: Path, book: Path) -> None:
    one, two = (store.create(replace(state(), run=name), book, []) for name in ("r", "r-2"))
    assert store.find("r") == one
    assert store.find("r-") == two


# -- requests --------------------------------------------------------------------------------------------------


def test_a_request_stays_until_it_is_forgotten(run: RunFolder) -> None:
    assert store.asked(run) == set()
    store.ask(run, "hold")
    store.ask(run, "stop")
    store.ask(run, "stop")
    (run.requests / ".hold.1").write_bytes(b"half written")
    assert store.asked(run) == store.asked(run) == {"hold", "stop"}
    store.forget_requests(run)
    assert store.asked(run) == set()
    assert names(run.requests) == [".hold.1"]


def test_journal_lines_are_plain_json(run: RunFolder) -> None:
    with begun(run.path, state({"a/1/client": Failed(attempt=1, at=AT, reason="你好\n\x1b")})):
        pass
    (line,) = run.journal.read_text().split("\n")[:-1]
    assert json.loads(line) == msgspec.json.decode(line)


def test_only_what_was_asked_of_an_earlier_runner_is_dropped(run: RunFolder) -> None:
    store.ask(run, "hold")
    os.utime(run.requests / "hold", (1, 1))
    with store.locked(run, ME, "runner"):
        # Whoever sees the lock held may ask at once, long before the runner has read its runbook.
        store.ask(run, "stop")
        store.drop_old_requests(run)
        assert store.asked(run) == {"stop"}


# -- journals that somebody edited -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        '{"set": {}}',
        '{"event": 7}',
        '{"event": "x", "set": 5}',
        "[]",
        "5",
        '{"event": "x", "set": {"steps": [1]}}',
    ],
)
def test_an_edited_line_is_left_out(tmp_path: Path, line: str) -> None:
    first = state({"_/_/check": green()})
    with begun(tmp_path, first) as owned:
        owned.run.journal.write_text(f"{line}\n{owned.run.journal.read_text()}{line}\n")
    run = RunFolder(tmp_path)
    assert [event["event"] for event in store.events(run)[0]] == ["created"]
    assert store.replay(run) == first


def test_a_journal_from_the_future_is_not_rebuilt(tmp_path: Path) -> None:
    with begun(tmp_path, replace(state(), schema=99)), pytest.raises(UsageError, match="use a newer OmniTUI"):
        store.replay(RunFolder(tmp_path))


def test_text_that_is_not_utf_8_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with begun(tmp_path, state()) as owned:
        before = owned.run.journal.read_bytes(), owned.run.state.read_bytes()
        with pytest.raises(UsageError, match="is not valid UTF-8"):
            owned.commit(
                "skipped", owned.state.with_step("_/_/check", StepRecord(status=green())), reason="a\udcffb"
            )
        assert (owned.run.journal.read_bytes(), owned.run.state.read_bytes()) == before


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    assert store.shortage(tmp_path, 0) == ""
    assert store.shortage(tmp_path / "gone") == ""
    assert store.shortage(tmp_path, 1 << 62).endswith(f"KiB are free for {tmp_path}: free space first.")


def test_a_rehearsed_job_is_found_from_outside_its_sandbox(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "runs" / "r")
    inside = tmp_path / "rehearsals" / "r" / "root" / "data" / "results" / "1"
    inside.mkdir(parents=True)
    link = run.path / "jobs" / "a" / "1" / "step" / "1"
    link.parent.mkdir(parents=True)
    link.symlink_to("/data/results/1")
    assert run.job("a/1/step", 1) == inside
    inside.rmdir()
    assert run.job("a/1/step", 1) == link
