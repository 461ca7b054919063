"""A secret reaches the steps, and nothing on the disk but a log that prints it."""

import hashlib
import json
from pathlib import Path

import pytest
from omnitui import store
from omnitui.logs import blanked, leaks_of
from omnitui.store import RunFolder
from tests.books import make_book
from tests.flow.desk import RUNBOOKS, Desk
from tests.waiting import until

KEYS = str(RUNBOOKS / "keys")
SECRET = "hf_b1rd-s0ng+&'\"$x"


def holders(run: RunFolder) -> list[str]:
    """The files of a run in which the secret stands."""
    files = (file for file in run.path.rglob("*") if file.is_file())
    return sorted(str(file.relative_to(run.path)) for file in files if SECRET.encode() in file.read_bytes())


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> str:
    """The secret, in the operator's environment."""
    monkeypatch.setenv("TOKEN", SECRET)
    return SECRET


def test_a_secret_reaches_the_step_and_stays_off_the_disk(desk: Desk, token: str) -> None:
    told = desk.omnitui("run", KEYS, "--headless", "--yes")
    assert told.code == 0, told
    run = desk.only_run()
    assert (run.path / "digest.txt").read_text().split()[0] == hashlib.sha256(token.encode()).hexdigest()
    assert holders(run) == []
    assert token not in told.out + told.err
    assert desk.state(run).secrets == ("TOKEN",)
    assert desk.events(run, "leak") == []


def test_a_secret_given_on_the_command_line_is_not_stored_either(desk: Desk) -> None:
    assert desk.omnitui("run", KEYS, "--headless", "--yes", f"--set=TOKEN={SECRET}").code == 0
    run = desk.only_run()
    assert holders(run) == []
    assert "TOKEN" not in desk.state(run).variables


def test_a_log_that_contains_a_secret_is_told_and_blanked(desk: Desk, token: str) -> None:
    told = desk.omnitui("run", KEYS, "--headless", "--yes", "--set=LOUD=yes")
    assert told.code == 0
    assert "contains a secret" in told.out
    assert token not in told.out
    run = desk.only_run()
    job = desk.job(run, "_/_/print")
    assert holders(run) == [str(job.log.relative_to(run.path))]
    assert desk.events(run, "leak", step="_/_/print")
    ((offset, length),) = json.loads((job.path / "leaks.json").read_text())
    assert job.log.read_bytes()[offset : offset + length] == token.encode()


def test_a_secret_handed_on_under_another_name_fails_the_step(desk: Desk, token: str) -> None:
    told = desk.omnitui("run", KEYS, "--headless", "--yes", "--set=LOUD=handed")
    assert told.code == 1
    assert "the value of MINE holds a secret" in told.out
    assert token not in told.out
    run = desk.only_run()
    # The step itself wrote it there.
    assert holders(run) == ["jobs/_/_/print/1/handed"]


def test_a_secret_in_a_server_log_is_known_before_the_server_is_ready(
    desk: Desk, tmp_path: Path, token: str
) -> None:
    book = make_book(
        tmp_path / "starting",
        f"""
schema = 1
title = "Starting"
summary = "A server that prints a secret and never listens."
variables.TOKEN = {{ secret = true, help = "To sign in." }}
servers.web = {{ title = "Web", port = "{desk.port}" }}

[[phases]]
id = "all"
title = "All"

[[phases.steps]]
id = "serve"
title = "Serve"
do = "serve"
server = "web"
run = 'echo "with $TOKEN"; bye() {{ echo "bye $TOKEN"; exit; }}; trap bye TERM; while :; do sleep 0.05; done'

[[phases.steps]]
id = "stop"
title = "Stop"
do = "stop"
server = "web"
""",
    )
    run = desk.detach("run", book)
    desk.group_of(run, "_/_/serve")
    log = desk.job(run, "_/_/serve").log
    until(
        lambda: blanked(log.read_bytes(), 0, leaks_of(log)) == b"with " + b"*" * len(token) + b"\n",
        about="it is blanked",
    )
    desk.omnitui("stop", run.name)
    assert b"bye" in log.read_bytes()
    assert token.encode() not in blanked(log.read_bytes(), 0, leaks_of(log))


def test_a_missing_secret_blocks_the_start_and_every_resume(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKEN", raising=False)
    told = desk.omnitui("run", KEYS, "--headless")
    assert told.code == 3
    assert "the secret TOKEN is not in the environment" in told.err
    assert store.runs() == []

    monkeypatch.setenv("TOKEN", SECRET)
    assert desk.omnitui("run", KEYS, "--headless").code == 3
    run = desk.only_run()
    assert desk.status_of(run, "_/_/pause") == "Asking"
    desk.omnitui("confirm", run.name)
    monkeypatch.delenv("TOKEN")
    told = desk.omnitui("resume", run.name, "--headless")
    assert told.code == 3
    assert "TOKEN" in told.err
    monkeypatch.setenv("TOKEN", SECRET)
    assert desk.omnitui("resume", run.name, "--headless").code == 0
    assert holders(run) == []


def test_no_beginning_of_a_secret_remains_where_evidence_is_cut(desk: Desk, tmp_path: Path) -> None:
    folder = make_book(
        tmp_path / "long",
        """
schema = 1
title = "Long"
summary = "A secret far to the right in a line that matches."

[variables.TOKEN]
secret = true
help = "A secret."

[[phases]]
id = "p"
title = "P"

[[phases.steps]]
id = "s"
title = "S"
run = 'printf "begin %0380d %s\\n" 0 "$TOKEN"'
gates = [{ gate = "output", name = "line", pattern = "begin .*" }]
""",
    )
    told = desk.process("run", folder, "--headless", env={"TOKEN": "SECRETabcdef123456"})
    assert told.code == 0, told
    run = desk.only_run()
    for file in (run.state, run.journal, run.live):
        assert "SECRET" not in file.read_text()
    assert "SECRET" not in told.out
