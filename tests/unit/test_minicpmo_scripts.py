"""The MiniCPM-o runbook's scripts: what they refuse, what they record, and that they kill nothing of others."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from omnitui.runbook.load import load
from tests.waiting import until

SCRIPTS = Path(__file__).parents[2] / "runbooks" / "minicpmo-offline" / "scripts"
sys.path.insert(0, str(SCRIPTS))

import check_block  # noqa: E402
import clear_gpus  # noqa: E402
import record_session  # noqa: E402

BLOCK = {**check_block.SET, "BENCH_CPUS": ",".join(map(str, sorted(os.sched_getaffinity(0))))}


# -- the shell block -------------------------------------------------------------------------------------------


@pytest.fixture
def block(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in check_block.UNSET:
        monkeypatch.delenv(name, raising=False)
    for name, value in BLOCK.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def test_the_block_as_the_page_has_it_is_in_order(block: pytest.MonkeyPatch) -> None:
    assert check_block.problems() == []


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SGLANG_OMNI_TORCH_COMPILE_DEFAULT", "0", "is set to '0'; it must stay unset"),
        ("PYTORCH_ALLOC_CONF", "", "is set to ''; it must stay unset"),
        ("CUDA_VISIBLE_DEVICES", "0,1", "is '0,1', not '0'"),
        ("BENCH_CPUS", "4095", "not to BENCH_CPUS [4095]"),
    ],
)
def test_what_differs_is_named(block: pytest.MonkeyPatch, name: str, value: str, said: str) -> None:
    block.setenv(name, value)
    assert len(check_block.problems()) == 1
    assert said in check_block.problems()[0]


def test_a_list_of_cpus_may_have_ranges() -> None:
    assert check_block.cpus_of("2-4,8,66-67") == {2, 3, 4, 8, 66, 67}
    assert check_block.cpus_of("") == set()


# -- the session -----------------------------------------------------------------------------------------------


def test_the_session_is_written_and_handed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OMNITUI_ENV", str(tmp_path / "handed"))
    monkeypatch.setenv("ALLOCATION", "SLURM_JOB_ID=7 ${ODD}")
    monkeypatch.setenv("SEED", "")
    monkeypatch.setattr(sys, "argv", ["record_session.py", str(tmp_path)])
    assert record_session.main() == 0
    handed = dict(line.split("=", 1) for line in (tmp_path / "handed").read_text().splitlines())
    assert (tmp_path / "session.txt").read_text() == (tmp_path / "handed").read_text()
    assert handed["SESSION_SEED"] == "none, as CI"
    assert handed["SESSION_ALLOCATION"] == "SLURM_JOB_ID=7 $ {ODD}"
    assert handed["SESSION_BOOT"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert "msgspec==" in (tmp_path / "packages.txt").read_text()
    assert capsys.readouterr().out.endswith("SESSION_RECORDED\n")


def test_a_container_is_known_by_its_mounts() -> None:
    number = "ab" * 32
    mounts = f"700 600 0:50 /var/lib/docker/containers/{number}/hostname /etc/hostname rw"
    assert record_session.container_id(mounts) == number
    assert record_session.container_id("") == os.uname().nodename


def test_a_start_is_told_in_ticks() -> None:
    assert record_session.started(Path("/proc/self/stat").read_text()).isdigit()
    assert record_session.started("") == "unknown"


def test_mps_is_seen_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_MPS_PIPE_DIRECTORY", raising=False)
    assert record_session.mps() == "off"
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", "/tmp/pipe")
    assert record_session.mps() == "on (/tmp/pipe)"


# -- clearing the GPUs -----------------------------------------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose clearing script only says that it was run, and an nvidia-smi that names nobody."""
    (tmp_path / ".github" / "scripts").mkdir(parents=True)
    (tmp_path / ".github" / "scripts" / "delete_gpu_process.sh").write_text('echo "$@" > cleared\n')
    smi(tmp_path, "true")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv(clear_gpus.MARKER, "run-1:main/run1/stage:1")
    # Who works on the GPUs of this machine is nobody's business here.
    monkeypatch.setattr(clear_gpus, "DEVICE", "/dev/no-such-gpu")
    return tmp_path


def smi(folder: Path, does: str) -> None:
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\n{does}\n")
    (folder / "nvidia-smi").chmod(0o755)


@pytest.fixture
def other() -> Iterator["subprocess.Popen[bytes]"]:
    """A process of another run."""
    with subprocess.Popen(
        ["sleep", "60"], env={**os.environ, clear_gpus.MARKER: "run-2:main/run1/stage:1"}
    ) as one:
        begun(one)
        yield one
        one.kill()


def begun(process: "subprocess.Popen[bytes]") -> None:
    """The kernel tells a command and its environment a moment after it has begun."""
    until(lambda: Path(f"/proc/{process.pid}/environ").read_bytes(), about="it has begun")


def test_the_pages_script_runs_where_no_process_is(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clear_gpus.main() == 0
    assert (checkout / "cleared").read_text() == "--kill-orphans\n"
    assert capsys.readouterr().out == "GPUS_CLEARED\n"


def test_a_process_of_another_run_is_named_and_nothing_is_killed(
    checkout: Path, other: "subprocess.Popen[bytes]", capsys: pytest.CaptureFixture[str]
) -> None:
    smi(checkout, f"echo {other.pid}")
    assert clear_gpus.main() == 1
    told = f"wrong: pid {other.pid} is at a GPU and not of this run: sleep 60\nnothing was killed\n"
    assert capsys.readouterr().out == told
    assert not (checkout / "cleared").exists()
    assert other.poll() is None


def test_a_pid_of_the_host_that_is_nobody_here_is_foreign(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    smi(checkout, "echo 99999999")
    assert clear_gpus.main() == 1
    assert "a process that cannot be seen from here" in capsys.readouterr().out


def test_a_process_of_this_run_may_be_cleared(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen(["sleep", "60"]) as mine:
        begun(mine)
        smi(checkout, f"echo {mine.pid}")
        assert clear_gpus.main() == 0
        mine.kill()


def test_without_a_marker_of_its_own_it_kills_nothing(
    checkout: Path, other: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(clear_gpus.MARKER)
    smi(checkout, f"echo {other.pid}")
    assert clear_gpus.main() == 1


def test_a_driver_that_fails_ends_it(checkout: Path) -> None:
    smi(checkout, "echo 'no devices' >&2; exit 9")
    with pytest.raises(SystemExit, match="nvidia-smi ended with 9: no devices"):
        clear_gpus.main()


# -- shell scripts ---------------------------------------------------------------------------------------------


def bash(script: str, *arguments: str, cwd: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["bash", str(SCRIPTS / script), *arguments],
        cwd=cwd,
        env={**os.environ, **more},
        capture_output=True,
        text=True,
        check=False,
    )


def git(folder: Path, *words: str) -> None:
    who = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, env={**os.environ, **who})


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A checkout with model code and a document, and a script that looks at a cache of its own."""
    folder = tmp_path / "checkout"
    (folder / "sglang_omni").mkdir(parents=True)
    (folder / "sglang_omni" / "model.py").write_text("A = 1\n")
    (folder / "README.md").write_text("one\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")
    return folder


def cache(code: Path, asked: str) -> "subprocess.CompletedProcess[str]":
    script = (SCRIPTS / "compile_cache.sh").read_text().replace("/root/.cache/sglang-omni", str(code.parent))
    return subprocess.run(
        ["bash", "-c", script, "compile_cache.sh", asked], cwd=code, capture_output=True, text=True, check=False
    )


def test_a_cache_is_warm_for_the_model_code_that_filled_it(code: Path) -> None:
    assert "run0 comes first" in cache(code, "check").stdout
    assert "left no compile cache" in cache(code, "stamp").stdout
    (code.parent / "torchinductor").mkdir()
    assert cache(code, "stamp").returncode == 1
    (code.parent / "torchinductor" / "kernel").write_text("x")
    assert cache(code, "stamp").stdout == "CACHE_STAMPED\n"
    assert cache(code, "check").stdout.endswith("CACHE_WARM\n")


def test_other_model_code_needs_run0_again_and_other_documents_do_not(code: Path) -> None:
    (code.parent / "torchinductor").mkdir()
    (code.parent / "torchinductor" / "kernel").write_text("x")
    cache(code, "stamp")
    (code / "README.md").write_text("two\n")
    git(code, "commit", "-qam", "two")
    assert cache(code, "check").returncode == 0
    (code / "sglang_omni" / "model.py").write_text("A = 2\n")
    assert cache(code, "check").returncode == 1
    git(code, "commit", "-qam", "three")
    assert cache(code, "check").returncode == 1
    git(code, "checkout", "-q", "HEAD~1")
    assert cache(code, "check").returncode == 0


def test_a_cold_start_moves_the_cache_aside_and_deletes_nothing(code: Path) -> None:
    assert cache(code, "aside").stdout == "CACHE_EMPTY\n"
    (code.parent / "torchinductor").mkdir()
    (code.parent / "torchinductor" / "kernel").write_text("x")
    assert cache(code, "aside").stdout.endswith("CACHE_EMPTY\n")
    assert not (code.parent / "torchinductor").exists()
    [aside] = code.parent.glob("torchinductor-*")
    assert (aside / "kernel").read_text() == "x"
    assert cache(code, "check").returncode == 1


def head(folder: Path) -> str:
    return subprocess.check_output(["git", "-C", str(folder), "rev-parse", "HEAD"], text=True).strip()


def test_an_earlier_attempt_of_a_stage_is_kept_out_of_the_codes(code: Path, tmp_path: Path) -> None:
    for attempt in ("first", "second"):
        (tmp_path / "mmmu_ci.log").write_text(attempt)
        (tmp_path / "mmmu_ci.rc").write_text("1\n")
        done = bash("stage_begin.sh", "mmmu_ci", cwd=code, CI_OUT=str(tmp_path), COMMIT_SHA=head(code))
        assert done.returncode == 0
    assert list(tmp_path.glob("*.rc")) == []
    assert [(tmp_path / f"mmmu_ci.log.{n}").read_text() for n in (1, 2)] == ["first", "second"]


def test_a_stage_does_not_begin_on_another_commit(code: Path, tmp_path: Path) -> None:
    mine = head(code)
    git(code, "commit", "-q", "--allow-empty", "-m", "of the other series")
    (tmp_path / "mmmu_ci.log").write_text("first")
    done = bash("stage_begin.sh", "mmmu_ci", cwd=code, CI_OUT=str(tmp_path), COMMIT_SHA=mine)
    assert done.returncode == 1
    assert f"the checkout is at {head(code)}, and this stage is of {mine}" in done.stdout
    assert (tmp_path / "mmmu_ci.log").read_text() == "first"


def test_a_ci_folder_without_a_stage_is_moved_aside_and_one_with_stages_stays(tmp_path: Path) -> None:
    folder = tmp_path / "run1"
    for aside in ("run1-incomplete", "run1-incomplete-2"):
        folder.mkdir()
        (folder / "commit.txt").write_text("c")
        done = bash("ci_folder.sh", cwd=tmp_path, CI_OUT=str(folder))
        assert done.stdout == f"moved aside: {tmp_path / aside}\n"
        assert (tmp_path / aside / "commit.txt").exists()
    folder.mkdir()
    (folder / "mmmu_ci.log").write_text("a stage")
    assert bash("ci_folder.sh", cwd=tmp_path, CI_OUT=str(folder)).returncode == 0
    assert (folder / "mmmu_ci.log").exists()


def test_a_venv_without_its_stamp_fits_no_checkout(code: Path) -> None:
    (code / "omni" / "bin").mkdir(parents=True)
    (code / "omni" / "bin" / "activate").touch()
    scripts = code / ".github" / "scripts"
    scripts.mkdir(parents=True)
    # Neither the hash nor its stamp can be read: both are empty, and so the same.
    (scripts / "omni_ci_deps_hash.sh").write_text("omni_ci_deps_hash() { return 1; }\n")
    done = bash("commit_ready.sh", cwd=code, COMMIT_SHA=head(code))
    assert done.returncode == 1
    assert "COMMIT_READY" not in done.stdout


def test_a_stage_tells_its_accuracy_and_its_exit_code(checkout: Path) -> None:
    (checkout / "mmmu_ci.log").write_text("noise\nOverall accuracy: 0.7\nmore\n")
    (checkout / "mmmu_ci.rc").write_text("1\n")
    (checkout / "python").symlink_to(sys.executable)
    done = bash("stage_end.sh", "mmmu_ci", cwd=checkout, CI_OUT=str(checkout), RUNBOOK=str(SCRIPTS.parent))
    assert done.stdout == "GPUS_CLEARED\nOverall accuracy: 0.7\nexit code 1\n"
    assert done.returncode == 0


@pytest.mark.parametrize(("failed", "told"), [(0, "served=3/3"), (1, "served=2/3")])
def test_requests_that_failed_are_counted(tmp_path: Path, failed: int, told: str) -> None:
    rows = [{"id": str(n), "is_success": n >= failed, "error": "dropped"} for n in range(3)]
    (tmp_path / "results.json").write_text(json.dumps({"per_request": rows}))
    command = [sys.executable, str(SCRIPTS / "all_served.py"), "results.json", "per_request"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == told
    assert ("failed: 0 dropped" in done.stdout) == bool(failed)


def test_a_branch_is_fetched_once_so_that_it_is_one_commit_to_both_series() -> None:
    fetching = [
        (phase.per, step.id)
        for phase in load(SCRIPTS.parent).phases
        for step in phase.steps
        if "fetch origin" in getattr(step, "run", "")
    ]
    assert fetching == [("run", "fetch")]
