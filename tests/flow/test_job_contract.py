"""A job alone: real bash, real process groups, no runner."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from omnitui.errors import JobError
from omnitui.jobs.folder import JobFolder, read_handed
from omnitui.jobs.job import Job, members, start
from omnitui.jobs.stop import stop, stop_stragglers
from omnitui.places import Local
from omnitui.places.local import boot_id, identity_of
from tests.flow.desk import alive
from tests.waiting import PATIENCE_S, until

DEAF = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(600)
"""


@pytest.fixture
def mark(tmp_path: Path) -> Iterator[str]:
    """A marker of its own; whatever still carries it at the end is killed, and fails the test."""
    marker = f"{tmp_path.name}:{os.getpid()}"
    yield marker
    left = members(Job(JobFolder(tmp_path / "nothing"), Local(), marker))
    for process in left:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    assert not left


async def begin(folder: Path, script: str, mark: str, **values: str) -> Job:
    """Start a script."""
    return await start(Local(), JobFolder(folder), script, {"PYTHON": sys.executable, **values}, mark)


def adopted(job: Job) -> Job:
    """The same job as somebody who did not start it knows it."""
    return Job(JobFolder(job.folder.path), Local(), job.marker)


def pid_in(file: Path) -> int:
    """The pid that a process has written into a file."""
    until(lambda: file.exists() and file.read_text(), about=f"{file.name} is written")
    return int(file.read_text())


async def test_the_folder_holds_the_script_the_log_and_the_exit_status(tmp_path: Path, mark: str) -> None:
    script = "echo out\necho err >&2\nexit 3\n"
    job = await begin(tmp_path / "job", script, mark)
    assert await job.wait() == 3
    assert job.folder.script.read_text() == script
    assert job.folder.log.read_text() == "out\nerr\n"
    assert job.folder.exit_status() == 3
    assert not job.leader_lives()
    assert job.fact() == "ended"
    assert [oct(path.stat().st_mode)[-2:] for path in (job.folder.path, job.folder.log)] == ["00", "00"]


async def test_an_attempt_never_runs_twice(tmp_path: Path, mark: str) -> None:
    job = await begin(tmp_path / "job", "true", mark)
    await job.wait()
    with pytest.raises(JobError, match="never runs twice"):
        await begin(tmp_path / "job", "true", mark)


class _Late(Local):
    """A place that needs a while before its bash runs, as the client of a container may."""

    def argv(self, env_names: Iterable[str]) -> list[str]:
        return ["bash", "-c", 'until [ -e "$GO" ]; do sleep 0.01; done; exec "$0" "$@"', *super().argv(env_names)]


async def test_an_attempt_that_was_given_up_on_its_way_never_runs(tmp_path: Path, mark: str) -> None:
    go, ran = tmp_path / "go", tmp_path / "ran"
    values = {"GO": str(go), "RAN": str(ran)}
    starting = asyncio.create_task(start(_Late(), JobFolder(tmp_path / "job"), 'touch "$RAN"', values, mark))
    while not (tmp_path / "job" / "log").exists():
        await asyncio.sleep(0.01)
    # Its runner is gone, as far as whoever resumes can see.
    stopped = Job(JobFolder(tmp_path / "job"), Local(), f"{mark}-nobody")
    assert (await stop(stopped, 1.0)).signalled == 0
    go.touch()
    with pytest.raises(JobError, match="did not start"):
        await starting
    assert not ran.exists()
    assert stopped.fact() == "lost"


async def test_a_term_to_the_group_still_leaves_an_exit_file(tmp_path: Path, mark: str) -> None:
    job = await begin(tmp_path / "job", "true; sleep 600", mark)
    until(lambda: len(members(job)) > 2, about="the sleep is up")
    assert job.identity
    os.killpg(job.identity.pid, signal.SIGTERM)
    assert await asyncio.wait_for(job.wait(), PATIENCE_S) == 128 + signal.SIGTERM
    assert adopted(job).fact() == "ended"


async def test_a_killed_group_is_lost(tmp_path: Path, mark: str) -> None:
    job = await begin(tmp_path / "job", "sleep 600", mark)
    assert job.identity
    os.killpg(job.identity.pid, signal.SIGKILL)
    assert await asyncio.wait_for(job.wait(), PATIENCE_S) is None
    assert adopted(job).fact() == "lost"


async def test_an_adopted_job_is_waited_for_and_stopped(tmp_path: Path, mark: str) -> None:
    go = tmp_path / "go"
    job = await begin(tmp_path / "job", 'until [ -e "$GO" ]; do sleep 0.01; done; exit 4', mark, GO=str(go))
    other = adopted(job)
    assert other.fact() == "alive"
    waiting = asyncio.create_task(other.wait())
    await asyncio.sleep(0)
    go.touch()
    assert await asyncio.wait_for(waiting, PATIENCE_S) == 4

    second = await begin(tmp_path / "second", "sleep 600", mark)
    done = await stop(adopted(second), 10.0)
    assert not done.survivors
    assert await second.wait() == 128 + signal.SIGTERM
    assert await job.wait() == 4


async def test_a_worker_in_its_own_session_is_found_and_stopped(tmp_path: Path, mark: str) -> None:
    file = tmp_path / "worker"
    script = f"""setsid "$PYTHON" -S -c '{DEAF}' {file} &\nsleep 600\n"""
    job = await begin(tmp_path / "job", script, mark)
    worker = pid_in(file)
    assert os.getsid(worker) == worker
    done = await stop(adopted(job), 0.2)
    assert not alive(worker)
    assert not done.survivors
    # Who is not deaf may still be on its way out: a loaded machine needs longer than that for it.
    assert done.killed >= 1
    assert await job.wait() in (128 + signal.SIGTERM, None)


async def test_a_worker_whose_server_has_died_is_found_by_its_marker(tmp_path: Path, mark: str) -> None:
    file = tmp_path / "worker"
    script = f"""setsid "$PYTHON" -S -c '{DEAF}' {file} &\nuntil [ -s {file} ]; do sleep 0.01; done; exit 1\n"""
    job = await begin(tmp_path / "job", script, mark)
    worker = pid_in(file)
    assert await job.wait() == 1
    await stop(adopted(job), 0.2)
    assert not alive(worker)


async def test_who_ignores_term_is_killed_after_the_grace(tmp_path: Path, mark: str) -> None:
    file = tmp_path / "deaf"
    job = await begin(tmp_path / "job", f"""exec "$PYTHON" -S -c '{DEAF}' {file}""", mark)
    deaf = pid_in(file)
    begun = time.monotonic()
    done = await stop(job, 0.3)
    assert time.monotonic() - begun >= 0.3
    assert not alive(deaf)
    assert done.killed >= 1
    assert not done.survivors


@pytest.mark.parametrize("wrong", ["start", "boot"])
async def test_a_process_whose_identity_does_not_match_is_never_signalled(
    tmp_path: Path, mark: str, wrong: str
) -> None:
    innocent = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        who = identity_of(innocent.pid)
        start_time = who.start + 1 if wrong == "start" else who.start
        boot = "another-boot" if wrong == "boot" else boot_id()
        folder = tmp_path / "job"
        folder.mkdir()
        (folder / "pid").write_text(f"{innocent.pid} {start_time} {boot}\n")
        job = Job(JobFolder(folder), Local(), mark)
        assert not job.leader_lives()
        assert job.fact() == "lost"
        done = await stop(job, 0.1)
        assert done.signalled == 0
        assert innocent.poll() is None
        assert not Local().signal(job.identity, signal.SIGTERM)  # type: ignore[arg-type]
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


@pytest.mark.parametrize("text", ["", "0 0 boot\n", f"1 1 {boot_id()}\n", "12", "12 34", "x y z\n", "-1 1 boot\n"])
async def test_a_pid_file_that_is_cut_or_names_nobody_harms_nobody(tmp_path: Path, mark: str, text: str) -> None:
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "pid").write_text(text)
    job = Job(JobFolder(folder), Local(), mark)
    assert job.fact() == "lost"
    assert (await stop(job, 0.1)).signalled == 0


async def test_stragglers_are_not_looked_for_in_the_working_folder(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = await begin(tmp_path / "other", "sleep 600", f"{mark}-other")
    left = await begin(tmp_path / "left", "sleep 600", f"{mark}:left")
    # The operator stands in the folder of another run's job, whose pid file is there.
    monkeypatch.chdir(other.folder.path)
    try:
        assert await stop_stragglers(Local(), mark, 1.0) > 0
        assert not left.leader_lives()
        assert other.leader_lives()
    finally:
        await stop(other, 1.0)


async def test_our_own_group_is_never_signalled(tmp_path: Path, mark: str) -> None:
    own = identity_of(os.getpgrp()) if alive(os.getpgrp()) else identity_of(os.getpid())
    folder = tmp_path / "job"
    folder.mkdir()
    (folder / "pid").write_text(f"{own.pid} {own.start} {own.boot}\n")
    if own.pid == os.getpgrp():
        with pytest.raises(JobError, match="never signalled"):
            await stop(Job(JobFolder(folder), Local(), mark), 0.1)


async def test_a_job_that_wants_input_gets_none(tmp_path: Path, mark: str) -> None:
    job = await begin(tmp_path / "job", "read -r line || echo nothing; cat; readlink /proc/self/fd/0", mark)
    assert await asyncio.wait_for(job.wait(), PATIENCE_S) == 0
    assert job.folder.log.read_text() == "nothing\n/dev/null\n"


async def test_what_a_job_hands_on(tmp_path: Path, mark: str) -> None:
    script = r"""printf 'A=1\nB=two words = more\n\n' >> "$OMNITUI_ENV"; printf 'C=3' >> "$OMNITUI_ENV" """
    job = await begin(tmp_path / "job", script, mark)
    await job.wait()
    assert read_handed(job.folder) == {"A": "1", "B": "two words = more", "C": "3"}
    for line in ("no equals sign", "2X=1", "=1", "A B=1"):
        job.folder.handed.write_text(f"{line}\n")
        with pytest.raises(JobError, match="NAME=value"):
            read_handed(job.folder)
    job.folder.handed.write_text("A=x\0y\n")
    with pytest.raises(JobError, match="NUL byte in the value of A"):
        read_handed(job.folder)


async def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path, mark: str) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
        with pytest.raises(JobError, match="cannot be written: File too large; free space"):
            await begin(tmp_path / "job", "true", mark)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)


async def test_the_environment_reaches_the_job_and_only_its_names_reach_the_disk(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.setenv("LINES", "11")
    job = await begin(tmp_path / "job", 'echo "${COLUMNS-unset} ${LINES-unset} $WORD"', mark, WORD="se cret")
    assert await job.wait() == 0
    assert job.folder.log.read_text() == "unset unset se cret\n"
    written = {path.name: path.read_text() for path in job.folder.path.iterdir() if path.name != "log"}
    assert "WORD\n" in written["env"]
    assert not any("se cret" in text for text in written.values())
