import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from omnitui.errors import UsageError
from omnitui.model import RunState, StepRecord
from omnitui.plan import find_step, lay_out
from omnitui.runbook.schema import Environment
from omnitui.values import command_of, of_scope, port_of, script, shell_rc
from tests.unit.builders import ORDER, runbook, state

BOOK = runbook()
FOLDER = Path("/runs/r1")


def run_state(**handed: dict[str, str]) -> RunState:
    variables = {"WHERE": "${RUN_DIR}/out", "MODEL": "m", "URL": "http://${HOST}/${MODEL}", "HOST": "h"}
    return replace(state(), variables=variables, handed=handed)


def of(scope: str, **handed: dict[str, str]) -> dict[str, str]:
    return of_scope(BOOK, run_state(**handed), scope, FOLDER)


# -- values ----------------------------------------------------------------------------------------------------


def test_a_pass_has_everything_with_references_expanded() -> None:
    assert of("a/1") == {
        "WHERE": "/runs/r1/out",
        "MODEL": "m",
        "URL": "http://h/m",
        "HOST": "h",
        "RUN_DIR": "/runs/r1",
        "RUNBOOK": "/runs/r1/runbook",
        "OMNITUI_PYTHON": sys.executable,
        "SERIES": "a",
        "PASS": "1",
        "OUT": "/results/a/1",
    }


def test_a_series_has_no_pass_and_the_run_has_neither() -> None:
    assert {"SERIES"} == of("a/_").keys() & {"SERIES", "PASS", "OUT"}
    assert set() == of("_/_").keys() & {"SERIES", "PASS", "OUT"}


def test_the_narrower_scope_wins() -> None:
    handed = {"_/_": {"MODEL": "run", "IMAGE": "i"}, "a/_": {"MODEL": "series"}, "a/1": {"MODEL": "pass"}}
    found = {scope: of(scope, **handed)["MODEL"] for scope in ("_/_", "a/_", "a/1", "a/2", "b/_", "b/1")}
    assert found == {"_/_": "run", "a/_": "series", "a/1": "pass", "a/2": "series", "b/_": "run", "b/1": "run"}
    assert of("b/1", **handed)["URL"] == "http://h/run"
    assert of("b/1", **handed)["IMAGE"] == "i"


def test_what_omnitui_sets_itself_cannot_be_handed_on() -> None:
    handed = {"a/1": {"OUT": "/x", "PASS": "9", "SERIES": "x", "RUN_DIR": "/y"}}
    found = of("a/1", **handed)
    assert (found["OUT"], found["PASS"], found["SERIES"], found["RUN_DIR"]) == (
        "/results/a/1",
        "1",
        "a",
        "/runs/r1",
    )


def test_what_a_script_handed_on_stands_as_it_is() -> None:
    assert of("a/1", **{"a/1": {"X": "${NOBODY} $(date)"}})["X"] == "${NOBODY} $(date)"


@pytest.mark.parametrize("port", ["", "x", "0", "65536", "80 ", "²"])
def test_what_is_no_port_is_told(port: str) -> None:
    with pytest.raises(UsageError, match="no port between 1 and 65535"):
        port_of("${PORT}", {"PORT": port})


# -- scripts ---------------------------------------------------------------------------------------------------


def run(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash"], input=text, capture_output=True, text=True, check=False)


def test_a_script_holds_its_lines_as_written() -> None:
    environment = Environment(
        cwd="${WHERE}/it's",
        prelude=". activate\nulimit -c 0\n",
        exports={"CACHE": "${WHERE}/$c"},
        unset=("http_proxy",),
        cpus="${CPUS}",
    )
    values = {"WHERE": "/w", "CPUS": "2-15"}
    assert script(environment, "Title", '\necho "$X" ${Y}\n', values).split("\n") == [
        "#!/usr/bin/env bash",
        "set -eo pipefail",
        "export CACHE='/w/$c'",
        "unset http_proxy",
        "cd -- '/w/it'\"'\"'s'",
        "taskset -pc 2-15 $$",
        ". activate",
        "ulimit -c 0",
        "# Title",
        'echo "$X" ${Y}',
        "",
    ]


def test_a_strict_script_ends_at_its_first_failure() -> None:
    run_lines = "false | true\necho after"
    assert run(script(Environment(), "T", run_lines, {})).returncode == 1
    assert run(script(Environment(strict=False), "T", run_lines, {})).stdout == "after\n"
    assert run(script(Environment(cwd="/no/such/folder"), "T", "echo there", {})).stdout == ""


def test_an_interactive_shell_is_not_ended_by_a_typo(tmp_path: Path) -> None:
    text = shell_rc(Environment(cwd=str(tmp_path), exports={"A": "1"}), {})
    assert "set -e" not in text
    assert run(f'HOME=/nowhere\n{text}\nfalse\necho "$PWD $A"').stdout == f"{tmp_path} 1\n"


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\"'`$\\"), max_size=20))
@settings(max_examples=15)
def test_an_exported_value_reaches_the_script_unchanged(value: str) -> None:
    text = script(
        Environment(exports={"GIVEN": "${V}"}), "T", 'printf %s "$GIVEN"', {"V": value.replace("${", "$")}
    )
    assert run(text).stdout == value.replace("${", "$")


def test_the_operators_own_command_comes_first() -> None:
    plan = lay_out(BOOK, ORDER)
    client, stop = find_step(plan, "a/1/client"), find_step(plan, "a/1/stop")
    assert command_of(client, state()) == "echo client"
    assert command_of(client, state().with_step(client.id, StepRecord(edited="echo mine"))) == "echo mine"
    assert command_of(find_step(plan, "a/1/serve"), state()) == "sleep 9"
    assert command_of(stop, state()) == ""
