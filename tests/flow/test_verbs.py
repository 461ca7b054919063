"""The command line: exit codes, stable JSON, and errors that name file, key and the nearest valid name."""

import csv
import io
import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.books import make_book
from tests.flow.desk import MINI, RUNBOOKS, Desk, Told

STATUS_KEYS = {
    "run": str,
    "runbook": str,
    "outcome": str,
    "step": (str, type(None)),
    "status": (str, type(None)),
    "reason": str,
    "done": int,
    "steps": int,
    "created": str,
    "runner_pid": (int, type(None)),
    "servers": list,
    "folder": str,
}
"""The keys of `status --json` and of each row of `runs --json`. They may grow; none may go or change its type."""


def has_keys(row: dict[str, object]) -> None:
    """A row is as promised."""
    assert row.keys() >= STATUS_KEYS.keys()
    for key, kind in STATUS_KEYS.items():
        assert isinstance(row[key], kind), key  # type: ignore[arg-type]


def test_a_whole_run_told_in_every_way(desk: Desk) -> None:
    told = desk.process(*desk.mini(schedule="three"))
    assert told.code == 0, told
    assert told.err == ""
    run = desk.only_run()
    for word in ("PREPARED_OK", "VERSIONS_OK", "RUN_READY", "READY", "CLIENT_OK", "PORT_FREE", "RUN_COMPLETE"):
        assert f"✔ {word}" in told.out
    assert "✘" not in told.out
    assert "2 scored passes averaged (run1, run2)" in told.out
    assert "run0 is left out: not scored" in told.out
    assert f"Run {run.name} is complete." in told.out

    # What a run leaves: the pages' own metrics.json, and the same beside its provenance.
    page = json.loads((run.path / "work" / "run1" / "metrics.json").read_text())
    assert page["complete"] is True
    assert page["metrics"]["wer"] == 0.25
    assert page["metrics"]["audio.files"] == 3
    known = tomllib.loads((run.pass_folder("mini/run1") / "provenance.toml").read_text())
    assert known["runbook_sha256"] == desk.state(run).runbook_sha256

    # status
    status = desk.omnitui("status", run.name, "--json")
    assert status.code == 0
    row = json.loads(status.out)
    has_keys(row)
    assert (row["outcome"], row["done"], row["step"]) == ("complete", row["steps"], None)
    assert {gate["word"] for gate in row["gates"]} == {"exit"}
    assert all(gate.keys() >= {"word", "about", "verdict", "reason", "at"} for gate in row["gates"])
    assert isinstance(row["resume"], list)

    # runs
    (listed,) = json.loads(desk.omnitui("runs", "--json").out)
    has_keys(listed)
    assert {key: row[key] for key in STATUS_KEYS} == {key: listed[key] for key in STATUS_KEYS}
    assert run.name in desk.omnitui("runs").out

    # results
    results = desk.omnitui("results", run.name, "--json")
    assert results.code == 0
    found = json.loads(results.out)
    assert found.keys() >= {"run", "title", "series"}
    (series,) = found["series"]
    assert series.keys() >= {"series", "rows", "averaged", "left_out", "complete"}
    assert series["averaged"] == ["run1", "run2"]
    wer = next(one for one in series["rows"] if one["metric"] == "wer")
    assert wer.keys() >= {"metric", "unit", "direction", "mean", "stdev", "values", "passes"}
    assert (wer["mean"], wer["stdev"], wer["values"]) == (0.25, 0.0, [0.25, 0.25])
    rows = list(csv.DictReader(io.StringIO(desk.omnitui("results", "--format", "csv").out)))
    assert [row["metric"] for row in rows] == ["latency", "wer", "audio.files", "audio.empty_or_nan"]
    assert "| wer" in desk.omnitui("results", "--format", "md").out

    # Nothing is left to do, and nothing is done.
    again = desk.omnitui("resume", run.name, "--headless", "--yes")
    assert again.code == 0
    assert "nothing to resume" in again.out
    assert desk.omnitui("hold", run.name).code == 0
    assert desk.omnitui("stop", run.name).code == 0
    assert len(desk.events(run, "runner_started")) == 1
    # A name may be cut, and a folder will do.
    assert desk.omnitui("status", run.name[:10]).code == 0
    assert desk.omnitui("attach", str(run.path), "--headless").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "no-such-runbook"], "no runbook no-such-runbook"),
        (["run", MINI, "--set=PORT=http"], "PORT=http: must match"),
        (["run", MINI], "PORT has no value"),
        (["run", MINI, "--set=PROT=1"], "no variable PROT"),
        (["run", MINI, "--set=PORT=21999", "--set=FAULT=dye"], "must be one of"),
        (["run", MINI, "--set", "PORT"], "NAME=VALUE"),
        (["run", MINI, "--set=PORT=21999", "--schedule", "tree"], "no schedule tree"),
        (["status"], "there are no runs"),
        (["resume", "2099"], "there are no runs"),
        (["bogus"], "bogus"),
        (["status", "--bogus"], "bogus"),
        (["stop"], "Missing argument"),
        (["results", "--format", "xml"], "xml"),
    ],
)
def test_a_wrong_use_is_told_with_exit_code_2_and_leaves_nothing(
    desk: Desk, arguments: list[str], said: str
) -> None:
    told = desk.omnitui(*arguments)
    assert told.code == 2, told
    assert said in told.err
    assert not list(desk.home.glob("runs/*"))


def test_the_real_program_ends_with_the_same_codes(desk: Desk) -> None:
    assert desk.process("bogus").code == 2
    assert desk.process("status").code == 2
    told = desk.process("--version")
    assert (told.code, told.out.split()[0]) == (0, "omnitui")
    assert desk.process("--help").code == 0


def test_the_beginning_of_a_name_must_be_unique(desk: Desk) -> None:
    assert desk.omnitui("run", str(RUNBOOKS / "words"), "--set=DO=echo DONE", "--headless").code == 0
    run = desk.only_run()
    shutil.copytree(run.path, run.path.with_name(f"{run.name}-2"))
    assert desk.omnitui("status", run.name).code == 0
    told = desk.omnitui("status", run.name[:8])
    assert told.code == 2
    assert "2 runs begin with" in told.err


# -- check and show --------------------------------------------------------------------------------------------


@pytest.fixture
def edited(desk: Desk, tmp_path: Path) -> Callable[[str, str], tuple[Path, Told]]:
    """Check a copy of the mini runbook in which one text is replaced; its file, and what was said."""

    def check(old: str, new: str) -> tuple[Path, Told]:
        folder = tmp_path / "edited"
        shutil.copytree(MINI, folder)
        file = folder / "runbook.toml"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))
        return file, desk.omnitui("check", str(folder))

    return check


@pytest.mark.parametrize(
    ("old", "new", "key", "hint"),
    [
        ('title = "Warm up"', 'tilte = "Warm up"', "phases[1].steps[2].tilte", "did you mean title?"),
        ("summary =", "sumary =", "sumary", "did you mean summary?"),
        ("unscored =", "unscorred =", "passes.unscorred", "did you mean unscored?"),
        ('pattern = "[0-9]{2,5}"', 'patern = "x"', "variables.PORT.patern", "did you mean pattern?"),
        ("timeout_s = 60", "timeout = 60", "servers.speech.timeout", "did you mean timeout_s?"),
        ("timeout_s = 60", 'timeout_s = "long"', "servers.speech.timeout_s", "expected `float`"),
        ('do = "serve"', 'do = "server"', "phases[1].steps[1].do", "did you mean serve?"),
        ('gate = "port_free"', 'gate = "port_fre"', "phases[1].steps[4].gates[0].gate", "did you mean port_free?"),
        ('per = "pass"', 'per = "passes"', "phases[1].per", "did you mean pass?"),
        ('server = "speech"', 'server = "speach"', "phases[1].steps[1](serve).server", "did you mean speech?"),
        ('env = "bench"', 'env = "bnech"', "phases[0].steps[0](prepare).env", "did you mean bench?"),
        ('port = "${PORT}"', 'port = "${PROT}"', "servers.speech.port", "did you mean PORT?"),
        ('["run0"]', '["run9"]', "passes.unscored", "no pass run9"),
        ("scripts/client.py", "scripts/cleint.py", "phases[1].steps[3](client).run", "no scripts/cleint.py"),
        ('mkdir "$OUT"', "if true", "phases[1].steps[0](out).run", "bash does not accept it"),
        ("trace() {", "cd /tmp && true\ntrace() {", "environments.bench.prelude", "one command a line"),
        ('id = "warm"', 'id = "client"', "phases[].steps", "stands 2 times"),
        ('id = "warm"', 'id = "Warm Up"', "phases[].steps", "small letters"),
        ('"mini/run1", "mini/run2"]', '"mini/run1", "mini/run1"]', "schedules[0].order", "overwritten"),
    ],
)
def test_check_names_the_file_the_key_and_the_nearest_valid_name(
    edited: Callable[[str, str], tuple[Path, Told]], old: str, new: str, key: str, hint: str
) -> None:
    file, told = edited(old, new)
    assert told.code == 2, told
    assert f"{file}: {key}: " in told.err
    assert hint in told.err
    assert "Traceback" not in told.err


def test_the_app_does_not_open_without_a_terminal(desk: Desk) -> None:
    told = desk.omnitui("open", MINI)
    assert told.code == 2
    assert "--headless" in told.err


def test_check_says_that_a_file_is_no_toml(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "runbook.toml").write_text("schema = = 1")
    told = desk.omnitui("check", str(tmp_path))
    assert told.code == 2
    assert f"{tmp_path / 'runbook.toml'}: not TOML" in told.err


def test_check_takes_many_and_one_that_is_wrong_hides_none(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "runbook.toml").write_text("schema = = 1")
    told = desk.omnitui("check", MINI, str(tmp_path), str(RUNBOOKS / "words"))
    assert told.code == 2
    assert told.out.count(": ok") == 2


@pytest.mark.parametrize("name", ["mini", "words", "facts", "asks", "keys"])
def test_the_runbooks_of_these_tests_are_sound_and_can_be_shown(desk: Desk, name: str) -> None:
    folder = str(RUNBOOKS / name)
    assert desk.omnitui("check", folder).code == 0
    shell = desk.omnitui("show", folder, "--format", "sh")
    page = desk.omnitui("show", folder, "--format", "md")
    assert (shell.code, page.code) == (0, 0)
    assert shell.out.startswith("#!/usr/bin/env bash")
    assert page.out.startswith("# ")


def test_show_resolves_the_variables(desk: Desk) -> None:
    told = desk.omnitui("show", MINI, "--format", "sh", f"--set=PORT={desk.port}", "--schedule", "one")
    assert f"export PORT={desk.port}" in told.out
    assert "client.py" in told.out
    assert "mini/run1" in told.out
    assert "mini/run2" not in told.out


@pytest.mark.parametrize(("given", "reason"), [("NOPE=1", "no variable NOPE"), ("PORT=x\n", "PORT")])
def test_what_a_run_would_refuse_is_not_shown(desk: Desk, given: str, reason: str) -> None:
    told = desk.omnitui("show", MINI, "--set", given)
    assert told.code == 2, told
    assert reason in told.err


@pytest.mark.parametrize("verb", ["status", "attach", "check", "show", "run"])
def test_a_name_that_no_file_can_have_is_told(desk: Desk, verb: str) -> None:
    told = desk.omnitui(verb, "x" * 5000)
    assert told.code == 2
    assert "cannot be read: File name too long" in told.err


def test_what_a_runbook_is_called_is_not_obeyed_by_the_terminal_nor_by_bash(desk: Desk, tmp_path: Path) -> None:
    book = make_book(
        tmp_path / "hostile",
        """
schema = 1
title = "Copy \\u001b]52;c;aGk=\\u0007me"
summary = "Hostile."

[[phases]]
id = "all"
title = "All"

[[phases.steps]]
id = "one"
title = "One\\ntouch $RUN_DIR/obeyed"
run = "true"
""",
    )
    told = desk.omnitui("run", book, "--headless")
    assert told.code == 0, told
    assert "Copy me" in told.out
    assert "\x1b" not in told.out
    assert not (desk.only_run().path / "obeyed").exists()


def test_a_terminal_that_cannot_show_a_character_gets_another(desk: Desk) -> None:
    tiny = str(RUNBOOKS / "tiny")
    told = desk.process("run", tiny, "--headless", env={"PYTHONIOENCODING": "ascii"})
    assert told.code == 1
    assert "? Say hello" in told.out
    assert told.err == ""
