import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from omnitui import cpu_groups, decisions, remedies, store, supervise
from omnitui.actions.patience import VARIABLE, patience_s
from omnitui.errors import Blocked, StoreError, UsageError
from omnitui.model import REHEARSAL
from omnitui.rehearsal import rehearse, sandbox
from omnitui.rehearsal.faults import FAULTS
from omnitui.rehearsal.stand_ins import docker, docker_args, gpus, hub, lscpu, nvidia_smi, venv
from omnitui.rehearsal.stand_ins.docker_format import rendered
from omnitui.results.passes import PassResult
from omnitui.results.statistics import summarize
from omnitui.results.table import REHEARSAL as TOLD
from omnitui.results.table import render

ROOT = Path(__file__).parents[2]
MINI = str(ROOT / "tests" / "data" / "runbooks" / "mini")


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A rehearsal's folder, without a sandbox around it."""
    monkeypatch.setenv(REHEARSAL, str(tmp_path))
    monkeypatch.delenv("NVIDIA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("fault", "hint"),
    [
        ("memory-ket", "did you mean memory-kept?"),
        ("dies", "did you mean server-dies?"),
        ("xyz", "`omnitui rehearse --list-faults` tells them all"),
    ],
)
def test_a_fault_that_is_not_known_is_refused_in_one_line(fault: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        rehearse.begin(MINI, {}, None, (), fault)
    assert str(refused.value) == f"there is no fault {fault!r}; {hint}"


def test_a_fault_of_another_page_is_refused_before_anything_is_made(home: Path) -> None:
    with pytest.raises(UsageError, match="the fault no-access is of the page asr, and mini has nothing"):
        rehearse.begin(MINI, {"PORT": "1234"}, None, (), "no-access")
    run = supervise.make_run(MINI, {"PORT": "1234"}, None, rehearsal=True)
    with pytest.raises(UsageError, match="of the page asr"):
        rehearse.set_fault(run, "no-access")


def test_a_sandbox_that_cannot_be_furnished_leaves_no_run(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(place: sandbox.Sandbox) -> None:
        place.root.mkdir(parents=True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sandbox, "check", list)
    monkeypatch.setattr(rehearse, "furnish", full)
    with pytest.raises(StoreError, match=r"cannot be furnished: .*No space left"):
        rehearse.begin(MINI, {"PORT": "1234"}, None, ())
    assert store.runs() == []
    assert list((home / "rehearsals").iterdir()) == []


def test_a_real_secret_never_gets_into_a_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "a real one")
    found = sandbox.environment(sandbox.Sandbox(tmp_path), ["HF_TOKEN"], {})
    assert found["HF_TOKEN"] == "stand-in-hf_token"
    assert "a real one" not in found.values()


# -- rehearsed and real ----------------------------------------------------------------------------------------


def test_rehearsed_passes_are_never_averaged_with_real_ones() -> None:
    real = PassResult("a", "run1", True, True, {"rate": 2.0})
    made_up = PassResult("a", "run2", True, True, {"rate": 4.0}, rehearsal=True)
    one, other = summarize([real, made_up], [("rate", "req/s", "higher")])
    assert (one.rows[0].values, one.rehearsal) == ((2.0,), False)
    assert (other.rows[0].values, other.rehearsal) == ((4.0,), True)


@pytest.mark.parametrize("form", ["table", "md", "csv", "json"])
def test_a_table_says_that_it_is_of_a_rehearsal(form: Any) -> None:
    passes = [PassResult("a", "run1", True, True, {"rate": 2.0})]
    made_up = [PassResult("a", "run1", True, True, {"rate": 2.0}, rehearsal=True)]
    metrics = [("rate", "req/s", "higher")]
    mark = {"table": TOLD, "md": TOLD, "csv": ",true", "json": '"rehearsal": true'}[form]
    assert mark in render("R", "T", summarize(made_up, metrics), form)
    assert mark not in render("R", "T", summarize(passes, metrics), form)


def test_a_rehearsal_is_not_started_outside_of_its_sandbox(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REHEARSAL, raising=False)
    run = supervise.make_run(MINI, {"PORT": "1234"}, None, rehearsal=True)
    assert store.read(run).rehearsal
    with pytest.raises(Blocked, match="is a rehearsal; go on with: omnitui rehearse --resume"):
        supervise.start(run)


def test_a_real_run_is_not_started_in_a_sandbox(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = supervise.make_run(MINI, {"PORT": "1234"}, None)
    assert not store.read(run).rehearsal
    monkeypatch.setenv(REHEARSAL, str(home))
    with pytest.raises(Blocked, match="is real"):
        supervise.start(run)


def test_what_acts_on_the_world_is_refused_outside(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REHEARSAL, raising=False)
    run = supervise.make_run(MINI, {"PORT": "1234"}, None, rehearsal=True)
    acts: tuple[Callable[[], object], ...] = (
        lambda: decisions.redo_pass(run, "mini/run1"),
        lambda: decisions.stop_left_overs(run),
        lambda: remedies.take(run, "mini/run1/client", 1, {}, print),
    )
    for act in acts:
        with pytest.raises(Blocked, match="is a rehearsal"):
            act()


def test_waiting_is_shorter_in_a_rehearsal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(REHEARSAL, raising=False)
    monkeypatch.setenv(VARIABLE, "0.001")
    assert patience_s(1800) == 1800
    monkeypatch.setenv(REHEARSAL, "/somewhere")
    assert patience_s(1800) == 4.0
    assert patience_s(2) == 2
    monkeypatch.setenv(VARIABLE, "a word")
    assert patience_s(1800) == 36.0


# -- faults ----------------------------------------------------------------------------------------------------


def test_the_docs_tell_every_fault() -> None:
    text = (ROOT / "docs" / "rehearsal.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)`(?: \([\w-]+\))? \| (.*?) \| (.*?) \|$", text, flags=re.MULTILINE)
    told = {name: (breaks, ends) for name, breaks, ends in rows if name in FAULTS}
    assert told == {name: (fault.breaks, fault.ends) for name, fault in FAULTS.items()}


def test_an_unknown_fault_is_refused_with_the_nearest(home: Path) -> None:
    with pytest.raises(UsageError, match="did you mean server-dies"):
        rehearse.begin(MINI, {"PORT": "1234"}, None, (), "server-dead")
    assert store.runs() == []


def test_what_is_missing_for_a_sandbox_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Blocked, match="apt install bubblewrap"):
        sandbox.check()


def test_a_bubblewrap_that_may_not_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bwrap").write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n"
    )
    (tmp_path / "git").write_text("#!/bin/sh\n")
    for name in ("bwrap", "git"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(Blocked, match=r"namespaces are not allowed here.*No permissions"):
        sandbox.check()


# -- stand-ins -------------------------------------------------------------------------------------------------


def test_memory_is_held_by_the_living_and_falls_a_while_after_death(
    stage: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "LAG_S", 0.05)
    card = gpus.all_cards()[2]
    gpus.take([card], 5000, "stand-in")
    assert gpus.used_mib(card) == gpus.IDLE_MIB + 5000
    assert gpus.used_mib(gpus.all_cards()[1]) == gpus.IDLE_MIB
    (hold,) = (stage / "state" / "gpu-holds").iterdir()
    hold.write_text(json.dumps({**json.loads(hold.read_text()), "start": 1}))
    assert gpus.used_mib(card) == gpus.IDLE_MIB + 5000
    time.sleep(0.1)
    assert gpus.used_mib(card) == gpus.IDLE_MIB


def test_memory_that_is_kept_stays(stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "LAG_S", 0.0)
    card = gpus.all_cards()[0]
    gpus.take([card], 5000, "stand-in")
    (hold,) = (stage / "state" / "gpu-holds").iterdir()
    hold.write_text(json.dumps({**json.loads(hold.read_text()), "start": 1}))
    (stage / "state" / "fault").write_text("memory-kept")
    assert gpus.used_mib(card) == gpus.IDLE_MIB + 5000
    (stage / "state" / "fault").write_text("")
    assert gpus.used_mib(card) == gpus.IDLE_MIB


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["-i", "0", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], "4\n"),
        (["-i", "1", "--query-gpu=index,pci.bus_id", "--format=csv,noheader"], "1, 00000000:19:00.0\n"),
        (["-i", "0", "--query-gpu=memory.used", "--format=csv"], "memory.used [MiB]\n4 MiB\n"),
        (["--query-compute-apps=pid", "--format=csv,noheader"], ""),
        (["--query-gpu=nonsense", "--format=csv"], 'Field "nonsense" is not a valid field to query.\n'),
    ],
)
def test_nvidia_smi(stage: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], printed: str) -> None:
    nvidia_smi.main(arguments)
    assert capsys.readouterr().out == printed


def test_a_container_sees_only_its_cards(
    stage: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NVIDIA_VISIBLE_DEVICES", "2,3")
    nvidia_smi.main(["-L"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["GPU 0", "GPU 1"]
    assert gpus.all_cards()[2].uuid in lines[0]
    monkeypatch.setenv("NVIDIA_VISIBLE_DEVICES", "void")
    assert nvidia_smi.main(["-L"]) == 6


def test_every_pair_gets_a_cpu_group_whose_cpus_are_here(capsys: pytest.CaptureFixture[str]) -> None:
    lscpu.main(["-p=CPU,CORE,NODE"])
    cores = cpu_groups.read_cores(capsys.readouterr().out)
    assert len(cores) == lscpu.CORES
    assert {cpu for core in cores for cpu in core.cpus} <= os.sched_getaffinity(0)
    for node in (0, 1):
        # Four cards on a node take fourteen cores each.
        assert sum(core.node == node and core.id not in (0, 1) for core in cores) >= 4 * cpu_groups.CORES


def test_a_snapshot_has_the_layout_of_the_real_cache(stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(stage / "hub"))
    revision = "503e754207c94da6bb26850b4469f367c9ea3582"
    made = hub.snapshot("openbmb/MiniCPM-o-4_5", revision=revision)
    assert made == stage / "hub" / "models--openbmb--MiniCPM-o-4_5" / "snapshots" / revision
    assert (made / "config.json").is_symlink()
    # A download by commit sets no reference, so offline loading by name needs one.
    with pytest.raises(hub.LocalEntryNotFoundError):
        hub.snapshot("openbmb/MiniCPM-o-4_5", offline=True)
    (made.parents[1] / "refs" / "main").write_text(revision)
    assert hub.snapshot("openbmb/MiniCPM-o-4_5", offline=True) == made


def test_a_partial_download_says_nothing_and_is_not_whole(stage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(stage / "hub"))
    (stage / "state").mkdir()
    (stage / "state" / "fault").write_text("partial-download")
    revision = "7" * 40
    hub.snapshot("a/b", revision=revision)
    with pytest.raises(hub.LocalEntryNotFoundError):
        hub.snapshot("a/b", revision=revision, offline=True)
    (stage / "state" / "fault").write_text("")
    hub.snapshot("a/b", revision=revision)
    hub.snapshot("a/b", revision=revision, offline=True)


def test_an_environment_can_be_activated(stage: Path) -> None:
    venv.make(stage / "venv")
    assert os.access(stage / "venv" / "bin" / "python", os.X_OK)
    assert f"VIRTUAL_ENV={stage / 'venv'}" in (stage / "venv" / "bin" / "activate").read_text()


def test_docker_options() -> None:
    line = '-d --init --ipc host --cap-add=X --gpus "device=0,1" -v /a:/b -v /c:/d:ro -eA=1 IMAGE sleep infinity'
    options, image, command = docker_args.split(line.split())
    assert (image, command) == ("IMAGE", ["sleep", "infinity"])
    assert options.has("--init")
    assert options.has("--detach")
    assert options.last("--ipc") == "host"
    assert docker_args.gpus(options.last("--gpus")) == ["0", "1"]
    mounts = [docker_args.mount(text) for text in options.all("--volume")]
    assert mounts == [{"Source": "/a", "Destination": "/b"}, {"Source": "/c", "Destination": "/d"}]
    assert options.all("--env") == ["A=1"]
    options, name, command = docker_args.split(["-i", "-e", "A", "-e", "B", "bench", "bash", "-s"])
    assert (name, command, options.all("--env")) == ("bench", ["bash", "-s"], ["A", "B"])


@pytest.mark.parametrize(
    ("form", "printed"),
    [
        ("{{.State.Running}}", "true"),
        ("{{.State.Pid}} {{.Name}}", "7 /bench"),
        ("{{json .Mounts}}", '[{"Source": "/a"}]'),
        ("{{range .Mounts}}{{.Source}};{{end}}", "/a;"),
        ("{{index .Config.Cmd 0}}", "sleep"),
        ("{{.Nothing}}", "<no value>"),
        ("{{if .State.Running}}up{{end}}", "up"),
    ],
)
def test_docker_formats(form: str, printed: str) -> None:
    data = {
        "Name": "/bench",
        "State": {"Running": True, "Pid": 7},
        "Mounts": [{"Source": "/a"}],
        "Config": {"Cmd": ["sleep", "infinity"]},
    }
    assert rendered(form, data) == printed


def test_a_container_that_is_not_there(stage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert docker.main(["inspect", "nobody"]) == 1
    assert "No such container: nobody" in capsys.readouterr().err
