import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.plan import lay_out
from omnitui.rendering import as_markdown, as_shell, told
from omnitui.runbook.gates import Coverage, GpuFree, Output, PortFree
from omnitui.runbook.load import load
from omnitui.runbook.schema import (
    Command,
    Confirm,
    Environment,
    Passes,
    Phase,
    Runbook,
    Schedule,
    Serve,
    Stop,
    Variable,
)
from tests.unit.builders import MEASURE, ORDER, runbook, step

BOOKS = Path(__file__).parents[1] / "data" / "runbooks"
FULL = runbook(
    summary="A benchmark\nof two (2) lines; it's $(whole) `here`",
    variables={"MODEL": Variable(help="Which | one."), "TOKEN": Variable(help="Secret.", secret=True)},
    environments={
        "bench": Environment(
            cwd="${RUN_DIR}/my work",
            prelude=". venv/bin/activate\nulimit -c 0",
            exports={"CACHE": '${RUN_DIR}/a "b" $c', "PLAIN": "it's $HOME"},
            unset=("http_proxy",),
            cpus="2-15",
        )
    },
    phases=(
        Phase(id="measure", title="Measure", per="pass", steps=MEASURE),
        Phase(
            id="end",
            title="End",
            steps=(
                step(
                    "words",
                    gates=(Output(word="CPUS_OK", exit=(0, 3)), GpuFree(), PortFree(port="1")),
                    env="bench",
                ),
                step("match", gates=(Output(pattern=r"n=(\d+)", equals=("20",)),), note="First.\nSecond."),
                Command(id="doc", title="Doc", run="cat <<'EOF'\n( not closed\nEOF\n"),
                Confirm(id="ask", title="Ask", ask="Is it\nright (really)?"),
            ),
        ),
    ),
)


def accepted(text: str) -> str:
    """What bash has to say against a script."""
    return subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False).stderr


def runs_of(book: Runbook) -> list[str]:
    planned = [one.step for one in lay_out(book, ORDER)]
    return [one.run.strip("\n") for one in planned if isinstance(one, Command | Serve)]


PASSES = Schedule(id="s", title="S", order=ORDER)
NO_PASSES = Schedule(id="", title="", order=())


@pytest.mark.parametrize("text", [as_shell(FULL, PASSES, {}), as_markdown(FULL, PASSES, {})], ids=["sh", "md"])
def test_every_command_and_word_is_there(text: str) -> None:
    for run in runs_of(FULL):
        assert run in text
    for part in ("CPUS_OK, exit status 0 or 3", "GPU_FREE", "PORT_FREE", r"a line matching n=(\d+) = 20"):
        assert part in text
    for part in ("First.", "Second.", "READY", "/health on port 8000", "server tts", "Is it right (really)?"):
        assert part in text
    for part in (". venv/bin/activate", "ulimit -c 0", "unset http_proxy", "taskset -pc 2-15 $$"):
        assert part in text


def test_the_shell_form_repeats_each_pass_in_order() -> None:
    text = as_shell(FULL, PASSES, {"MODEL": "m"})
    places = [text.index(f"# ==== {scope} ====") for scope in (*ORDER, "Run")]
    assert places == sorted(places)
    assert text.count("echo client") == len(ORDER)
    assert 'export OUT="/results/a/warm"' in text
    assert "# TOKEN: a secret, or set later" in text


def test_the_page_has_each_step_once() -> None:
    text = as_markdown(FULL, PASSES, {"MODEL": "m"})
    assert text.count("echo client") == 1
    assert "| `MODEL` | `m` |" in text
    assert "| `TOKEN` | `(secret)` |" in text
    assert "Once in every pass." in text
    assert ") &" not in text


def test_bash_accepts_the_shell_form() -> None:
    assert accepted(as_shell(FULL, PASSES, {"MODEL": "it's"})) == ""


@pytest.mark.parametrize("name", sorted(path.parent.name for path in BOOKS.glob("*/runbook.toml")))
def test_bash_accepts_every_runbook(name: str) -> None:
    book = load(BOOKS / name)
    order = book.schedules[0].order if book.schedules else ()
    values = {key: variable.default or "" for key, variable in book.variables.items()}
    text = as_shell(book, Schedule(id="s", title="S", order=order), values)
    assert accepted(text) == ""
    for planned in lay_out(book, order):
        assert planned.step.title in text
        assert planned.step.title in as_markdown(book, Schedule(id="s", title="S", order=order), values)


def test_references_in_an_environment_are_expanded_by_bash(tmp_path: Path) -> None:
    show = step("show", env="bench")
    show = Command(id="show", title="Show", env="bench", run='printf "%s\\n" "$CACHE" "$PLAIN" "$PWD"')
    book = runbook(
        environments={"bench": Environment(cwd="${RUN_DIR}", exports=dict(FULL.environments["bench"].exports))},
        phases=(Phase(id="p", title="P", steps=(show,)),),
    )
    script = f"RUN_DIR='{tmp_path}'\n" + as_shell(book, NO_PASSES, {})
    result = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True)
    assert result.stdout == f'{tmp_path}/a "b" $c\nit\'s $HOME\n{tmp_path}\n'


def test_a_variable_without_a_value_is_left_to_the_shell() -> None:
    book = runbook(variables={"WHERE": Variable(help="h")}, passes=Passes(out="${WHERE}/${PASS}"))
    assert 'export OUT="${WHERE}/1"' in as_shell(book, Schedule(id="s", title="S", order=("a/1",)), {})


_odd = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\r\"'`$()&;#\\"), max_size=20)


@given(_odd, _odd, _odd, _odd)
def test_no_text_escapes_into_the_script(title: str, summary: str, value: str, ask: str) -> None:
    book = runbook(
        title=title,
        summary=summary,
        environments={"e": Environment(exports={"A": value}, cwd=value)},
        phases=(
            Phase(
                id="p",
                title=title,
                steps=(
                    Command(id="s", title="S", note=summary, env="e", run="true"),
                    Confirm(id="c", title="C", ask=ask),
                    Stop(id="t", title="T", server="tts"),
                ),
            ),
        ),
    )
    told_off = [line for line in as_shell(book, NO_PASSES, {"V": value}).split("\n") if line.startswith("#")]
    assert accepted(as_shell(book, NO_PASSES, {"V": value})) == ""
    assert told_off


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        (Output(word="OK"), "OK, exit status 0"),
        (Output(word="OK", exit=(0, 3)), "OK, exit status 0 or 3"),
        (Output(pattern="n=(.)", equals=("1",)), "a line matching n=(.) = 1, exit status 0"),
        (GpuFree(word="GPU_FREE"), "GPU_FREE"),
        (PortFree(port="1"), "PORT_FREE: nobody listens on port 1"),
        (Coverage(), "RUN_COMPLETE"),
    ],
)
def test_a_gate_in_words(gate: Output | GpuFree | PortFree | Coverage, words: str) -> None:
    assert told(gate) == words
