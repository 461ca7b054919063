"""The ASR runbook's own scripts: what they print decides whether a pass may be compared."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from omnitui.errors import UsageError
from omnitui.plan import schedule_of
from omnitui.runbook.gates import Output
from omnitui.runbook.load import load
from omnitui.runbook.narrow import narrow
from omnitui.runbook.remedies import remedies_of
from omnitui.runbook.schema import Command, Runbook
from omnitui.supervise import refuse_series

FOLDER = Path(__file__).parents[2] / "runbooks" / "asr"
SCRIPTS = FOLDER / "scripts"
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def book() -> Runbook:
    return load(FOLDER)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a script of the runbook in a folder of its own, with programs of its own before the real ones."""
    (tmp_path / "bin").mkdir()

    def running(script: str, *arguments: str, **values: str) -> "subprocess.CompletedProcess[str]":
        env = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "RUNBOOK": str(FOLDER), **values}
        argv = [sys.executable if script.endswith(".py") else "bash", str(SCRIPTS / script), *arguments]
        return subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)

    return running


def program(folder: Path, name: str, lines: str) -> None:
    file = folder / "bin" / name
    file.write_text(f"#!/usr/bin/env bash\n{lines}\n")
    file.chmod(0o755)


def values(book: Runbook, **given: str) -> dict[str, str]:
    return {name: one.default for name, one in book.variables.items() if one.default is not None} | given


def last(done: "subprocess.CompletedProcess[str]") -> str:
    return (done.stdout.splitlines() or [""])[-1]


def test_passes_and_ci_are_built_with_the_lines_of_the_series(book: Runbook) -> None:
    steps = {step.id: step for phase in book.phases for step in phase.steps}
    built = [steps[name] for name in ("build", "venv", "ci-venv")]
    assert len({one.run for one in built if isinstance(one, Command)}) == 1


def test_downloads_and_ci_need_the_hub(book: Runbook) -> None:
    assert all("HF_HUB_OFFLINE" in book.environments[name].unset for name in ("venv", "ci"))


def test_one_model_leaves_the_others_out(book: Runbook) -> None:
    seen = narrow(book, values(book, MODELS="qwen3"))
    assert [one.id for one in seen.workloads] == ["qwen3.en", "qwen3.zh"]
    assert [one.id for one in seen.assets] == ["seedtts", "qwen3"]
    assert {one.id.partition(".")[0] for one in seen.metrics} == {"qwen3"}
    assert not {"whisper", "fun", "moss_td", "ci"} & {phase.id for phase in seen.phases}


@pytest.mark.parametrize(
    ("parts", "where", "gpus", "ports"),
    [
        ("measure", "docker", "${GPU}", ()),
        ("measure", "local", "${GPU}", ("8000",)),
        ("measure,ci", "docker", "${GPU},${CI_GPUS}", ()),
        ("ci", "docker", "${CI_GPUS}", ()),
    ],
)
def test_a_run_claims_what_it_needs(
    book: Runbook, parts: str, where: str, gpus: str, ports: tuple[str, ...]
) -> None:
    seen = narrow(book, values(book, PARTS=parts, WHERE=where)).resources
    assert (seen.gpus, seen.ports) == (gpus, ports)


def test_two_commits_alternate(book: Runbook) -> None:
    order = schedule_of(book, "two-commits").order
    assert [one for one in order if not one.endswith("warm")] == ["a/1", "b/1", "b/2", "a/2", "a/3", "b/3"]
    assert order[:2] == ("a/warm", "b/warm")


def test_a_second_commit_that_is_missing_is_told_before_the_run(book: Runbook) -> None:
    two = schedule_of(book, "two-commits")
    with pytest.raises(UsageError, match=r"series b takes COMMIT from \$\{COMMIT_B\}: COMMIT=: must match"):
        refuse_series(book, two, values(book))
    refuse_series(book, two, values(book, COMMIT_B="pull/7/head"))
    with pytest.raises(UsageError, match="passes a/warm and b/warm would share the output folder"):
        refuse_series(book, two, values(book, COMMIT_B="pull/7/head", NAME_A="b"))


def frozen(folder: Path, text: str) -> str:
    out = folder / "out"
    out.mkdir(exist_ok=True)
    (out / "freeze.txt").write_text(text)
    return str(out)


@pytest.mark.parametrize(
    ("series", "text", "allowed", "word", "status"),
    [
        ("a", "torch==2.9\n", "no", "FREEZE_SAME", 0),
        ("a", "torch==2.8\n", "no", "FREEZE_DIFFERS", 1),
        ("b", "torch==2.8\n", "no", "FREEZE_DIFFERS", 1),
        ("b", "torch==2.8\n", "yes", "FREEZE_DIFFERS_ON_PURPOSE", 0),
        # What is averaged must be one thing.
        ("a", "torch==2.8\n", "yes", "FREEZE_DIFFERS", 1),
        ("a", "", "yes", "freeze.txt is empty: what is installed is not known", 1),
    ],
)
def test_packages_are_compared_with_every_other_pass(
    tmp_path: Path, run: Run, series: str, text: str, allowed: str, word: str, status: int
) -> None:
    about = {"RUN_DIR": str(tmp_path), "FREEZE_MAY_DIFFER": allowed}
    first = run("same_freeze.sh", OUT=frozen(tmp_path, "torch==2.9\n"), SERIES="a", PASS="warm", **about)
    assert last(first) == "FREEZE_SAME"
    done = run("same_freeze.sh", OUT=frozen(tmp_path, text), SERIES=series, PASS="1", **about)
    assert (last(done), done.returncode) == (word, status)
    assert ("-torch==2.9" in done.stdout) is (text == "torch==2.8\n")


def test_a_pass_that_is_redone_replaces_its_own_list(tmp_path: Path, run: Run) -> None:
    about = {"RUN_DIR": str(tmp_path), "SERIES": "a", "PASS": "1", "FREEZE_MAY_DIFFER": "no"}
    run("same_freeze.sh", OUT=frozen(tmp_path, "torch==2.8\n"), **about)
    assert last(run("same_freeze.sh", OUT=frozen(tmp_path, "torch==2.9\n"), **about)) == "FREEZE_SAME"


@pytest.mark.parametrize(
    ("lines", "token", "word"),
    [
        ("echo loaded", "hf_x", "DATASET_LOADED"),
        (
            "echo \"datasets.exceptions.DatasetNotFoundError: Dataset 'x' doesn't exist\" >&2; exit 1",
            "hf_x",
            "NO_ACCESS",
        ),
        ("echo '403 Client Error: Forbidden for url' >&2; exit 1", "", "NO_ACCESS"),
        ("echo 'ConnectionError: 401 of 4010 rows' >&2; exit 1", "hf_x", "ConnectionError: 401 of 4010 rows"),
    ],
)
def test_a_token_without_access_is_told_apart(tmp_path: Path, run: Run, lines: str, token: str, word: str) -> None:
    program(tmp_path, "load", lines)
    done = run("with_access.sh", "load", HF_TOKEN=token)
    assert last(done) == word
    assert (done.returncode == 0) is (word == "DATASET_LOADED")
    assert ("there is no HF_TOKEN" in done.stdout) is (word == "NO_ACCESS" and not token)


FAKE_DATASETS = """
import os
class Loaded:
    _fingerprint = os.environ["ROWS"]
def load_dataset(repo, split):
    return Loaded()
"""
FAKE_HUB = """
class Info:
    sha = "f" * 40
class HfApi:
    def dataset_info(self, repo):
        return Info()
"""


def test_fingerprints_are_recorded_compared_and_kept(tmp_path: Path, run: Run) -> None:
    (tmp_path / "datasets.py").write_text(FAKE_DATASETS)
    (tmp_path / "huggingface_hub.py").write_text(FAKE_HUB)
    file = tmp_path / "results" / "moss.txt"
    at = {"PYTHONPATH": str(tmp_path)}
    assert run("private_data.py", "compare", str(file), ROWS="a1", **at).returncode == 1
    assert last(run("private_data.py", "record", str(file), ROWS="a1", **at)) == "FINGERPRINTS_RECORDED"
    lines = file.read_text().splitlines()
    assert lines[0] == f"zhaochenyang20/movies800time remote_head={'f' * 40} loaded_fingerprint=a1"
    assert len(lines) == 3
    assert last(run("private_data.py", "compare", str(file), ROWS="a1", **at)) == "FINGERPRINTS_SAME"
    assert run("private_data.py", "compare", str(file), ROWS="b2", **at).returncode == 1
    again = run("private_data.py", "record", str(file), ROWS="b2", **at)
    assert "loaded_fingerprint was a1: not comparable" in again.stdout
    assert "loaded_fingerprint=a1" in (file.parent / "moss-earlier-1.txt").read_text()


FAKE_SEEDTTS = """
import os
SEEDTTS_DATASET_ID = "seedtts"
def load_seedtts_samples(repo, split, revision):
    return range({"en": int(os.environ["EN"]), "zh": 2020}[split])
"""
FAKE_PRIVATE = """
def load_movies800_samples(repo, split, audio_column, expected_column, expected_sample_count):
    return range({"movies800time": 800, "AISHELL4": 20, "googletime": 25}[repo.rpartition("/")[2]])
"""


@pytest.mark.parametrize(
    ("models", "english", "line", "status"),
    [
        ("qwen3,whisper,fun,moss_td", "1088", "1088 2020 800 20 25", 0),
        ("fun", "1088", "1088 2020", 0),
        ("moss_td", "0", "800 20 25", 0),
        ("qwen3, moss_td", "1087", "1087 2020 800 20 25", 1),
    ],
)
def test_samples_are_counted_offline(
    tmp_path: Path, run: Run, models: str, english: str, line: str, status: int
) -> None:
    for name, text in (("dataset/seedtts", FAKE_SEEDTTS), ("tasks/transcribe_diarize", FAKE_PRIVATE)):
        file = tmp_path / "benchmarks" / f"{name}.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)
    at = {"PYTHONPATH": str(tmp_path), "SEEDTTS_REV": "r", "MODELS": models, "EN": english}
    done = run("offline_counts.py", **at)
    assert (last(done), done.returncode) == (line, status)
    assert ("en has 1087 samples instead of 1088" in done.stdout) is (english == "1087")


GREEN = {
    "qwen3-en": ("[conc=32 rep=1] wall=2.4s corpus_wer=0.0191 evaluated=1088/1088", "notevaluated=1088/1088"),
    "ci-qwen3": ("===== 3 passed, 1 warning in 12.34s =====", "loader: 3 passed"),
    "ci-moss_td": ("===== 2 skipped, 1 passed in 3s =====", "===== 3 skipped in 0.1s ====="),
    "build": ("Verified 12 exact dependency pins via .venv/bin/python", "Verified 0 exact dependency pins via x"),
    "offline": ("1088 2020 800 20 25", "counts 1088 2020 800 20 25"),
    "commit": (f"COMMIT_SHA {'a' * 40}", "COMMIT_SHA "),
}


@pytest.mark.parametrize("step_id", GREEN)
def test_a_line_that_only_looks_like_the_word_is_not_it(book: Runbook, step_id: str) -> None:
    step = next(step for phase in book.phases for step in phase.steps if step.id == step_id)
    patterns = [gate.pattern for gate in step.gates if isinstance(gate, Output) and gate.pattern]
    right, wrong = GREEN[step_id]
    assert [bool(re.search(pattern, right)) for pattern in patterns] == [True]
    assert [bool(re.search(pattern, wrong)) for pattern in patterns] == [False]


def test_inside_the_container_no_remedy_needs_the_engine(book: Runbook) -> None:
    seen = narrow(book, values(book, PARTS="measure,ci", WHERE="local"))
    steps = [step for phase in seen.phases for step in phase.steps]
    assert not [one for step in steps for one in remedies_of(seen, step) if "docker" in one.run or one.place]
    assert {"one-gpu", "two-gpus", "ci-venv", "ci-moss_td"} <= {step.id for step in steps}
    assert not {"container", "ci-container", "ci-remove"} & {step.id for step in steps}


@pytest.mark.parametrize(
    ("cards", "word", "status"), [(1, "ONE_GPU", 0), (2, "2 GPUs here, not 1", 1), (0, "0 GPUs here, not 1", 1)]
)
def test_gpus_are_counted(tmp_path: Path, run: Run, cards: int, word: str, status: int) -> None:
    shown = "\n".join(f"GPU {n}: NVIDIA H100 (UUID: GPU-{n})" for n in range(cards))
    program(tmp_path, "nvidia-smi", f"echo '{shown}'")
    done = run("gpus_seen.sh", "1", "ONE_GPU")
    assert (last(done), done.returncode) == (word, status)


@pytest.mark.parametrize(
    ("pair", "parts", "bench", "word"),
    [
        ("2,3", "measure,ci", True, "PAIR_OK"),
        ("0,1", "measure,ci", True, "PAIR_REFUSED"),
        ("0,1", "ci", True, "PAIR_REFUSED"),
        ("0,1", "ci", False, "PAIR_OK"),
        ("2,GPU-2", "ci", False, "PAIR_REFUSED"),
    ],
)
def test_the_pair_is_apart_from_the_gpu_under_test(
    tmp_path: Path, run: Run, pair: str, parts: str, bench: bool, word: str
) -> None:
    program(tmp_path, "nvidia-smi", 'echo "GPU-${2#GPU-}"')
    program(tmp_path, "docker", "true" if bench else "exit 1")
    assert last(run("ci_pair.sh", CI_GPUS=pair, PARTS=parts, GPU="0")) == word


def git(folder: Path, *arguments: str) -> str:
    about = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-C", str(folder)]
    return subprocess.run(["git", *about, *arguments], capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A clone, as the working folder, of a repository with one commit and one pull request."""
    origin = tmp_path / "origin"
    git(tmp_path, "init", "-q", "-b", "main", str(origin))
    (origin / "file").write_text("one\n")
    git(origin, "add", "file")
    git(origin, "commit", "-q", "-m", "one")
    git(origin, "commit", "-q", "--allow-empty", "-m", "two")
    git(origin, "update-ref", "refs/pull/7/head", "main")
    git(origin, "reset", "-q", "--hard", "HEAD~1")
    git(tmp_path, "init", "-q")
    git(tmp_path, "remote", "add", "origin", str(origin))
    git(tmp_path, "fetch", "-q", "origin")
    git(tmp_path, "checkout", "-q", "--detach", "origin/main")
    return tmp_path


@pytest.mark.parametrize(("commit", "ref"), [("origin/main", "main"), ("pull/7/head", "refs/pull/7/head")])
def test_a_commit_is_looked_up_once(checkout: Path, run: Run, commit: str, ref: str) -> None:
    handed = checkout / "handed"
    done = run("hand_on_commit.sh", commit, "", OMNITUI_ENV=str(handed), RUN_DIR=str(checkout))
    sha = git(checkout / "origin", "rev-parse", ref)
    assert last(done) == f"COMMIT_SHA {sha}"
    assert handed.read_text().splitlines() == [f"COMMIT_SHA={sha}", f"SHORT={sha[:7]}"]


def test_a_commit_that_is_not_there_is_told_before_anything_is_built(checkout: Path, run: Run) -> None:
    about = {"OMNITUI_ENV": str(checkout / "handed"), "RUN_DIR": str(checkout)}
    for missing in ("nowhere", "pull/8/head", "0" * 40):
        done = run("hand_on_commit.sh", "origin/main", missing, **about)
        assert (last(done), done.returncode) == ("NO_SUCH_COMMIT", 1)
    assert not (checkout / "handed").exists()


def test_a_pull_request_that_cannot_be_fetched_is_not_what_was_fetched_before(checkout: Path, run: Run) -> None:
    git(checkout, "fetch", "-q", "origin")
    git(checkout, "remote", "set-url", "origin", str(checkout / "gone"))
    done = run("hand_on_commit.sh", "pull/7/head", OMNITUI_ENV=str(checkout / "handed"), RUN_DIR=str(checkout))
    assert (last(done), done.returncode) == ("NO_SUCH_COMMIT", 1)


def test_a_name_means_one_commit_for_the_whole_run(checkout: Path, run: Run) -> None:
    about = {"OMNITUI_ENV": str(checkout / "handed"), "RUN_DIR": str(checkout)}
    first = last(run("hand_on_commit.sh", "origin/main", "pull/7/head", "", **about))
    pulled = git(checkout / "origin", "rev-parse", "refs/pull/7/head")
    git(checkout / "origin", "commit", "-q", "--allow-empty", "-m", "three")
    git(checkout / "origin", "update-ref", "refs/pull/7/head", "main")
    git(checkout, "fetch", "-q", "origin")
    assert last(run("hand_on_commit.sh", "origin/main", **about)) == first
    assert last(run("hand_on_commit.sh", "pull/7/head", **about)) == f"COMMIT_SHA {pulled}"
    (checkout / "commits.txt").unlink()
    assert last(run("hand_on_commit.sh", "origin/main", **about)) != first


def test_a_venv_is_that_of_commit_and_image(checkout: Path, run: Run) -> None:
    sha = git(checkout, "rev-parse", "HEAD")
    (checkout / ".venv" / "bin").mkdir(parents=True)
    python = checkout / ".venv" / "bin" / "python"
    python.touch(mode=0o755)
    (checkout / ".venv" / "built-for").write_text(f"{sha} image\n")
    assert last(run("built_for_commit.sh", COMMIT_SHA=sha, IMAGE="image")) == "VENV_OF_COMMIT"
    assert run("built_for_commit.sh", COMMIT_SHA=sha, IMAGE="other").returncode == 1
    assert run("built_for_commit.sh", COMMIT_SHA="0" * 40, IMAGE="image").returncode == 1
    (checkout / "file").write_text("changed\n")
    assert last(run("built_for_commit.sh", COMMIT_SHA=sha, IMAGE="image")) == "CHECKOUT_CHANGED"


def test_another_commit_than_the_one_asked_for_is_told(checkout: Path, run: Run) -> None:
    sha = git(checkout, "rev-parse", "HEAD")
    assert run("at_commit.sh", COMMIT_SHA=sha).returncode == 0
    done = run("at_commit.sh", COMMIT_SHA="0" * 40)
    assert (done.returncode, done.stdout) == (
        1,
        f"the checkout stands at {sha}, not at {'0' * 40}\nWRONG_COMMIT\n",
    )
