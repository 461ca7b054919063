from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.errors import RunbookError, UsageError
from omnitui.runbook.check import environment_of, problems
from omnitui.runbook.gates import Output
from omnitui.runbook.load import FILE, available, digest, files_of, library, load, locate
from omnitui.runbook.schema import Command, Environment, Runbook, Variable
from omnitui.runbook.variables import chosen, expand, names_in, refusal, resolved, secret_names

HEAD = 'schema = 1\ntitle = "T"\nsummary = "S"\n'
STEP = """
[[phases]]
id = "p"
title = "P"
[[phases.steps]]
id = "s"
title = "S"
"""
RUN = STEP + 'run = "true"\n'
ONE = "phases[0].steps[0]"
UNKNOWN = "unknown key; did you mean "
NO_TEXT, NO_TABLE = "expected `str`, got `int`; put it in quotes", "expected `object`, got `int`"
PASSES = """
[passes]
out = "/r/${SERIES}/${PASS}"
[[schedules]]
id = "one"
title = "One"
order = ["a/1", "a/2"]
"""
CHOICE = '[variables.M]\nhelp = "h"\nchoices = ["x", "y"]\ndefault = "x"\n'
WORKLOAD = '[[workloads]]\nid = "w"\ntitle = "W"\nfile = "f"\nexpect = "1"\n'
PASS = STEP.replace('title = "P"', 'title = "P"\nper = "pass"')


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write a runbook's text; its folder."""

    def written(text: str) -> Path:
        (tmp_path / FILE).write_text(text)
        return tmp_path

    return written


def found(folder: Path) -> list[tuple[str, str]]:
    return [(problem.key, problem.reason) for problem in problems(folder)]


# -- loading ---------------------------------------------------------------------------------------------------


def test_a_step_is_a_command_unless_it_says_otherwise(write: Callable[[str], Path]) -> None:
    book = load(write(HEAD + RUN + 'gates = [{ gate = "output", word = "OK" }]\n'))
    (step,) = book.phases[0].steps
    assert step == Command(id="s", title="S", run="true", gates=(Output(word="OK"),))
    assert environment_of(book, step) == Environment()


AGAIN = '[[phases.steps]]\nid = "again"\ntitle = "A"\n'


def test_a_step_may_run_the_lines_of_another_in_its_own_environment(write: Callable[[str], Path]) -> None:
    book = load(write(HEAD + RUN + AGAIN + 'run_of = "s"\ndestructive = true\n'))
    assert book.phases[0].steps[1] == Command(id="again", title="A", run="true", destructive=True)


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        (RUN + AGAIN + 'run_of = "t"', "steps.again.run_of", "there is no step t with a run of its own; valid"),
        (RUN + AGAIN + 'run_of = ["s"]', "steps.again.run_of", "there is no step ['s']"),
        (RUN + AGAIN + 'run_of = "again"', "steps.again.run_of", "there is no step again"),
        (RUN + AGAIN + 'run_of = "s"\nrun = "x"', "steps.again.run_of", "a step has run or run_of, not both"),
        ("schema =", "", "not TOML: "),
        ("schema = 1\nschema = 1", "", "not TOML: "),
        ("schema = 1", "", "object missing required field `title`"),
        ('title = "T"\nsummary = "S"\n# no schema', "", "object missing required field `schema`"),
        (HEAD.replace("1", "2") + "new = 1", "schema", "2 is not known here; this OmniTUI reads 1"),
        (HEAD.replace("1", "true"), "schema", "expected `int`, got `bool`"),
        (HEAD.replace("1", '"1"'), "schema", "expected `int`, got `str`"),
        ('titel = "x"', "titel", f"{UNKNOWN}title?"),
        ('zzz = "x"', "zzz", "unknown key; valid here: schema, title, summary, variables, places, "),
        ("phases = 3", "phases", "expected `array`, got `int`"),
        ("phases = [3]", "phases[0]", NO_TABLE),
        ('[[phases]]\nid = "p"\ntitle = "P"\nsteps = 3', "phases[0].steps", "expected `array`, got `int`"),
        ("variables = 3", "variables", NO_TABLE),
        ("[variables]\nWHO = 3", "variables.WHO", NO_TABLE),
        ("[variables.WHO]\nhelp = 3", "variables.WHO.help", NO_TEXT),
        ('[variables.WHO]\nhelp = "h"\ndefault = 8000', "variables.WHO.default", NO_TEXT),
        ('[variables.WHO]\nhlp = "x"', "variables.WHO.hlp", f"{UNKNOWN}help?"),
        ("[variables.WHO]", "variables.WHO", "object missing required field `help`"),
        ('[variables.WHO]\nhelp = "h"\nchoices = [1]', "variables.WHO.choices[0]", NO_TEXT),
        ('[environments.bench.exports]\nA = "1"\nB = 2', "environments.bench.exports.B", NO_TEXT),
        ('[environments.bench]\nprelud = ""', "environments.bench.prelud", f"{UNKNOWN}prelude?"),
        ('[servers.tts]\ntitle = "T"\nport = 8000', "servers.tts.port", NO_TEXT),
        ('[passes]\nouts = "x"', "passes.outs", f"{UNKNOWN}out?"),
        (STEP, ONE, "object missing required field `run`"),
        (STEP + 'do = "serv"', f"{ONE}.do", "'serv' is not a choice; did you mean serve?"),
        (STEP + 'do = "dance"', f"{ONE}.do", "'dance' is not a choice; valid here: command, serve, "),
        (STEP + "do = 3", f"{ONE}.do", NO_TEXT),
        (STEP + 'runn = "true"', f"{ONE}.runn", f"{UNKNOWN}run?"),
        (RUN + 'redo = "steps"', f"{ONE}.redo", "'steps' is not a choice; did you mean step?"),
        (
            RUN + 'gates = [{ gate = "outptu" }]',
            f"{ONE}.gates[0].gate",
            "'outptu' is not a choice; did you mean output?",
        ),
        (RUN + 'gates = [{ word = "X" }]', f"{ONE}.gates[0]", "object missing required field `gate`"),
        (RUN + 'gates = [{ gate = "output", wrd = "X" }]', f"{ONE}.gates[0].wrd", f"{UNKNOWN}word?"),
        (
            '[[phases]]\nid = "p"\ntitle = "P"\nper = "runs"',
            "phases[0].per",
            "'runs' is not a choice; did you mean run?",
        ),
        (
            '[[metrics]]\nid = "m"\nfile = "f"\npath = "p"\ndirection = "up"',
            "metrics[0].direction",
            "'up' is not a choice; valid here: higher, lower, none",
        ),
    ],
)
def test_an_error_names_file_key_and_the_nearest_name(
    write: Callable[[str], Path], text: str, key: str, reason: str
) -> None:
    folder = write(text if "schema" in text else HEAD + text)
    with pytest.raises(RunbookError) as caught:
        load(folder)
    assert caught.value.key == key
    assert caught.value.reason.startswith(reason)
    assert str(caught.value).startswith(f"{folder / FILE}: {key}")
    assert "[...]" not in str(caught.value)
    assert caught.value.exit_code == 2
    assert found(folder) == [(key, caught.value.reason)]


def test_a_runbook_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RunbookError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / FILE).write_bytes(b"title = '\xff'")
    with pytest.raises(RunbookError, match="cannot be read"):
        load(tmp_path)


def test_a_runbook_is_found_by_id_folder_or_file(write: Callable[[str], Path]) -> None:
    folder = write(HEAD)
    assert locate(str(folder)) == locate(str(folder / FILE)) == folder
    with pytest.raises(UsageError, match=r"no runbook nowhere: not an id, nor a folder with runbook\.toml"):
        locate("nowhere")
    for name in available():
        assert locate(name) == library() / name
        with pytest.raises(UsageError, match=f"did you mean {name}"):
            locate(f"{name}x")


@pytest.mark.parametrize("name", available())
def test_the_runbooks_that_come_with_it_are_sound(name: str) -> None:
    assert problems(locate(name)) == []


# -- what the types cannot say ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key", "reason"),
    [
        ('[variables.OUT]\nhelp = "h"', "variables.OUT", "this name is set by OmniTUI itself"),
        (
            '[variables.who]\nhelp = "h"',
            "variables.who",
            "a variable's name is capital letters, digits and underscores",
        ),
        ('[variables.KEY]\nhelp = "h"\nsecret = true\ndefault = "x"', "variables.KEY", "a secret has no default"),
        ('[variables.WHO]\nhelp = "h"\npattern = "("', "variables.WHO.pattern", "not a regular expression: ("),
        (
            '[variables.WHO]\nhelp = "h"\npattern = "[0-9]+"\ndefault = "x"',
            "variables.WHO.default",
            "WHO=x: must match [0-9]+ (h)",
        ),
        (
            '[variables.WHO]\nhelp = "h"\nchoices = ["a"]\ndefault = "x"',
            "variables.WHO.default",
            "WHO=x: must be one of a",
        ),
        (PASS + 'run = "true"\n[passes]\nout = "/r/${PASS}"', "schedules", "a runbook with passes needs one"),
        (PASSES.replace("a/1", "a") + PASS + 'run = "true"', "schedules[0].order", "'a' is not series/pass"),
        (PASSES.replace("a/1", "a/..") + PASS + 'run = "true"', "schedules[0].order", "'a/..' is not series/pass"),
        (
            PASSES.replace("a/2", "a/1") + PASS + 'run = "true"',
            "schedules[0].order",
            "a/1 stands 2 times; results would be overwritten",
        ),
        (
            PASSES.replace('out = "', 'unscored = ["3"]\nout = "') + PASS + 'run = "true"',
            "passes.unscored",
            "there is no pass 3; there are: 1, 2",
        ),
        (
            PASSES.replace('out = "/r/${SERIES}/${PASS}"', "") + PASS + 'run = "true"',
            "passes.out",
            "must contain ${PASS}, or passes would share an output folder",
        ),
        (
            '[environments.e]\nplace = "bx"\n[places.box]',
            "environments.e.place",
            "there is no place bx; did you mean box?",
        ),
        ('[environments.e]\nplace = "box"', "environments.e.place", "there is no place box; there are: host"),
        ('[environments.e]\nprelude = "if"', "environments.e.prelude", "bash does not accept it: "),
        (
            '[environments.e]\nprelude = "cd /x && . y"',
            "environments.e.prelude",
            "`cd /x && . y`: when the left side fails, bash goes on",
        ),
        (
            '[environments.e]\ncwd = "${RN_DIR}"',
            "environments.e.cwd",
            "there is no variable RN_DIR; did you mean RUN_DIR?",
        ),
        ('[environments.e.exports]\nA = "${NOBODY}"', "environments.e.exports.A", "there is no variable NOBODY"),
        (
            '[servers.tts]\ntitle = "T"\nport = "${PROT}"\n[variables.PORT]\nhelp = "h"',
            "servers.tts.port",
            "there is no variable PROT; did you mean PORT?",
        ),
        (
            '[[workloads]]\nid = "w"\ntitle = "W"\nfile = "${X}"\nrows = "r"\nexpect = "1"',
            "workloads.w.file",
            "there is no variable X",
        ),
        ('[[metrics]]\nid = "m"\nfile = "${X}"\npath = "p"', "metrics.m.file", "there is no variable X"),
        ('[resources]\nports = ["${X}"]', "resources.ports", "there is no variable X"),
        ('[passes]\nout = "${X}"', "passes.out", "there is no variable X"),
        (RUN + 'gates = [{ gate = "port_free", port = "${X}" }]', "steps.s.gates.port", "there is no variable X"),
        (
            RUN + '[variables.KEY]\nhelp = "h"\nsecret = true\n[resources]\ngpus = "${KEY}"',
            "resources.gpus",
            "the secret KEY may only be read by a script, from its environment",
        ),
        (RUN + 'skip_passes = ["9"]', f"{ONE}(s).skip_passes", "there is no pass 9; there are: none"),
        (RUN + 'redo = "pass"', f"{ONE}(s).redo", "only a step of a pass can begin its pass again"),
        (
            RUN + 'env = "ben"\n[environments.bench]',
            f"{ONE}(s).env",
            "there is no environment ben; did you mean bench?",
        ),
        (STEP + 'do = "stop"\nserver = "tts"', f"{ONE}(s).server", "there is no server tts; there are: none"),
        (
            STEP + 'do = "serve"\nrun = "true"\nserver = "tt"\n[servers.tts]\ntitle = "T"\nport = "1"',
            f"{ONE}(s).server",
            "there is no server tt; did you mean tts?",
        ),
        (STEP + 'run = "if true"', f"{ONE}(s).run", "bash does not accept it: "),
        (STEP + 'run = "a && b\\nc"', f"{ONE}(s).run", "`a && b`: when the left side fails, bash goes on"),
        (
            STEP + 'run = "true"\nsatisfied_by = { run = "(", word = "W" }',
            f"{ONE}(s).satisfied_by.run",
            "bash does not accept it: ",
        ),
        (
            STEP + "run = 'bash \"$RUNBOOK/scripts/no.sh\"'",
            f"{ONE}(s).run",
            "there is no scripts/no.sh in the runbook's folder",
        ),
        (RUN + 'gates = [{ gate = "output" }]', f"{ONE}(s).gates[0]", "an output gate needs a word or a pattern"),
        (
            RUN + 'gates = [{ gate = "output", pattern = "(" }]',
            f"{ONE}(s).gates[0].pattern",
            "not a regular expression: (",
        ),
        (
            RUN + 'gates = [{ gate = "output", pattern = "(a)", equals = ["a", "b"] }]',
            f"{ONE}(s).gates[0].equals",
            "2 values for 1 groups of the pattern",
        ),
        (RUN + 'gates = [{ gate = "coverage" }]', f"{ONE}(s).gates[0]", "coverage needs at least one workload"),
        (
            RUN + 'gates = [{ gate = "port_free", port = "1" }, { gate = "port_free", port = "2" }]',
            f"{ONE}(s).gates",
            "2 gates are called PORT_FREE; give each a word of its own",
        ),
        (RUN.replace('id = "s"', 'id = "S s"'), "phases[].steps", "the id 'S s' must be small letters"),
        (RUN + RUN.replace('id = "p"', 'id = "q"'), "phases[].steps", "the id 's' stands 2 times"),
        (RUN + RUN.replace('id = "s"', 'id = "t"'), "phases", "the id 'p' stands 2 times"),
        ('[[metrics]]\nid = "m"\nfile = "f"\npath = "p"\n' * 2, "metrics", "the id 'm' stands 2 times"),
        ('[variables.M]\nhelp = "h"\nmany = true', "variables.M.many", "a list needs choices"),
        (
            '[variables.M]\nhelp = "h"\nhanded = true\ndefault = "x"',
            "variables.M",
            "what a step hands on has no default and no choices, and is no secret",
        ),
        (
            CHOICE + RUN + 'when = { N = ["x"] }',
            "steps.s.when",
            "there is no variable with choices N; ",
        ),
        (CHOICE + RUN + 'when = { M = ["xx"] }', "steps.s.when.M", "there is no choice xx; did you mean x?"),
        ('[places.b]\nkind = "dockr"', "places.b.kind", "there is no kind of place dockr; did you mean docker?"),
        ('[places.b]\nkind = "docker"\ncontainer = "c"', "places.b", "a docker place needs container and jobs"),
        (
            RUN + 'gates = [{ gate = "container", place = "b" }]',
            f"{ONE}(s).gates[0].place",
            "there is no place b; there are: none",
        ),
        (
            RUN + 'gates = [{ gate = "assets", assets = ["m"] }]',
            f"{ONE}(s).gates[0].assets",
            "there is no asset m; there are: none",
        ),
        ('[[assets]]\nid = "m"\nrepo = "r/m"', "cache.hub", "assets need to know the folder of the cache"),
        ('[passes]\nplace = "box"', "passes.place", "there is no place box; there are: host"),
        (WORKLOAD + 'rows = "a"\ncount = "b"', "workloads.w", "needs rows or count, and not both"),
        (WORKLOAD, "workloads.w", "needs rows or count, and not both"),
        (
            PASS + 'run = "true"' + PASSES + "series = { b = {} }",
            "schedules[0].series",
            "there is no series b; there are: a",
        ),
        (
            PASS + 'run = "true"' + PASSES + 'series = { a = { WHO = "x" } }',
            "schedules[0].series.a",
            "there is no variable WHO; there are: none",
        ),
        (
            PASS + 'run = "true"' + PASSES.replace("/${SERIES}", "").replace('"a/2"', '"b/2"'),
            "passes.out",
            "must contain ${SERIES}, or a variable of its own for each series",
        ),
    ],
)
def test_a_problem_names_its_key(write: Callable[[str], Path], text: str, key: str, reason: str) -> None:
    (problem,) = found(write(HEAD + text))
    assert problem[0] == key
    assert problem[1].startswith(reason)


def test_series_may_have_a_folder_of_their_own_by_a_variable_of_theirs(write: Callable[[str], Path]) -> None:
    text = PASSES.replace("${SERIES}", "${NAME}").replace('"a/2"', '"b/2"')
    own = 'series = { a = { NAME = "main" }, b = { NAME = "main-again" } }\n'
    variable = '[variables.NAME]\nhelp = "h"\ndefault = "main"\n'
    assert found(write(HEAD + variable + PASS + 'run = "true"' + text + own)) == []
    same = own.replace("main-again", "main")
    ((key, _),) = found(write(HEAD + variable + PASS + 'run = "true"' + text + same))
    assert key == "passes.out"


@pytest.mark.parametrize(
    "run",
    [
        "a && b",
        "true\na && b",
        "if a && b; then c; fi\nd",
        "while a && b; do c; done\nd",
        "echo 'a && b'\nc",
        'echo "a && b"\nc',
        "[[ a && b ]]\nc",
        "# a && b\nc",
        "cat <<'EOF'\na && b\nEOF\nc",
        "a \\\n  && b",
        "",
    ],
)
def test_scripts_that_are_accepted(write: Callable[[str], Path], run: str) -> None:
    assert found(write(HEAD + STEP + f"run = '''\n{run}\n'''\n")) == []


def test_a_continued_chain_that_is_not_the_last_command(write: Callable[[str], Path]) -> None:
    ((key, reason),) = found(write(HEAD + STEP + "run = '''\na \\\n  && b\nc\n'''\n"))
    assert key == f"{ONE}(s).run"
    assert "write one command a line" in reason


def test_a_script_of_the_runbook_is_found(write: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "go.sh").write_text("true\n")
    assert found(write(HEAD + STEP + "run = 'bash ${RUNBOOK}/scripts/go.sh'")) == []


def test_all_problems_are_told_at_once(write: Callable[[str], Path]) -> None:
    text = HEAD + RUN.replace('"true"', '"if"') + '[variables.OUT]\nhelp = "h"\n[passes]\nout = "${X}"\n'
    assert [key for key, _ in found(write(text))] == ["variables.OUT", "passes.out", f"{ONE}(s).run"]


# -- the digest ------------------------------------------------------------------------------------------------


def test_the_digest_changes_with_any_byte_and_any_name(write: Callable[[str], Path]) -> None:
    folder = write(HEAD)
    (folder / "scripts").mkdir()
    script = folder / "scripts" / "go.sh"
    script.write_bytes(b"echo one\n")
    seen = {digest(folder)}
    for data in (b"echo one", b"echo one\r\n", b"echo One\n", b""):
        script.write_bytes(data)
        seen.add(digest(folder))
    script.rename(folder / "scripts" / "g.osh")
    seen.add(digest(folder))
    (folder / "more").write_bytes(b"")
    seen.add(digest(folder))
    assert len(seen) == 7


def test_caches_are_no_part_of_a_runbook(write: Callable[[str], Path]) -> None:
    folder = write(HEAD)
    before = digest(folder)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert digest(folder) == before
    assert files_of(folder) == [folder / FILE]


@given(st.binary(min_size=1, max_size=40), st.data())
def test_the_digest_tells_any_two_contents_apart(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, draw: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("book")
    (folder / FILE).write_bytes(data)
    before = digest(folder)
    at = draw.draw(st.integers(0, len(data) - 1))
    other = draw.draw(st.integers(0, 255).filter(lambda value: value != data[at]))
    (folder / FILE).write_bytes(data[:at] + bytes([other]) + data[at + 1 :])
    assert digest(folder) != before


# -- variables -------------------------------------------------------------------------------------------------

BOOK = Runbook(
    schema=1,
    title="T",
    summary="S",
    variables={
        "PORT": Variable(help="The port.", default="8000", pattern=r"[0-9]{1,5}"),
        "MODE": Variable(help="How.", default="fast", choices=("fast", "slow")),
        "COMMIT": Variable(help="What is measured."),
        "URL": Variable(help="Where.", default="http://127.0.0.1:${PORT}"),
        "TOKEN": Variable(help="A secret.", secret=True),
        "SHORT": Variable(help="From a step.", handed=True),
    },
)


def test_values_are_given_over_defaults_and_secrets_are_left_out() -> None:
    values = chosen(BOOK, {"COMMIT": "abc", "PORT": "9", "TOKEN": "s3cret"})
    assert values == {"PORT": "9", "MODE": "fast", "COMMIT": "abc", "URL": "http://127.0.0.1:${PORT}"}
    assert expand(values["URL"], values) == "http://127.0.0.1:9"
    assert secret_names(BOOK) == ("TOKEN",)


@pytest.mark.parametrize(
    ("given_values", "reason"),
    [
        ({}, "variable COMMIT has no value (What is measured.); set it with --set COMMIT=..."),
        (
            {"COMMIT": "a", "PROT": "1"},
            "the runbook has no variable PROT; it has: PORT, MODE, COMMIT, URL, TOKEN, SHORT",
        ),
        ({"COMMIT": "a", "SHORT": "b"}, "SHORT is handed on by a step of the run; it cannot be given"),
        ({"COMMIT": "a", "PORT": "http"}, "PORT=http: must match [0-9]{1,5} (The port.)"),
        ({"COMMIT": "a", "PORT": "80\n"}, "PORT=80\n: must match"),
        ({"COMMIT": "a", "MODE": "faster"}, "MODE=faster: must be one of fast, slow"),
        ({"COMMIT": "a\nb"}, "COMMIT: must be one line"),
        ({"COMMIT": "a\0"}, "COMMIT: must be one line"),
    ],
)
def test_values_that_are_refused(given_values: dict[str, str], reason: str) -> None:
    with pytest.raises(UsageError) as caught:
        chosen(BOOK, given_values)
    assert str(caught.value).startswith(reason)


def test_a_pattern_waits_for_the_variables_in_a_value() -> None:
    assert refusal(BOOK, "PORT", "${OTHER}") == ""


@given(st.text(max_size=8))
def test_a_secret_is_never_among_the_values(secret: str) -> None:
    values = chosen(BOOK, {"COMMIT": "abc", "TOKEN": secret})
    assert "TOKEN" not in values


def test_references_are_expanded_in_any_depth() -> None:
    assert resolved({"A": "${B}1", "B": "${C}2"}, {"C": "3"}) == {"A": "321", "B": "32", "C": "3"}
    assert expand("$A ${} ${1} $${B}", {"B": "b"}) == "$A ${} ${1} $b"
    assert names_in("${A} $B ${C_1} ${2}") == ["A", "C_1"]


@pytest.mark.parametrize("values", [{"A": "${A}"}, {"A": "x${B}", "B": "${A}"}, {"A": "${A}${A}"}])
def test_circles_are_told(values: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="in a circle"):
        resolved(values, {})


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(UsageError, match="variable B has no value; set it with --set B="):
        resolved({"A": "${B}"}, {})


@given(st.text(), st.dictionaries(st.sampled_from("ABC"), st.text(), min_size=3))
def test_text_without_references_is_left_alone(text: str, values: dict[str, str]) -> None:
    if not names_in(text):
        assert expand(text, values) == text


@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
def test_a_time_that_is_no_number_of_seconds_is_refused(value: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(
        'schema = 1\ntitle = "T"\nsummary = "S"\n[[phases]]\nid = "p"\ntitle = "P"\n'
        f'[[phases.steps]]\nid = "s"\ntitle = "S"\nrun = "true"\ntimeout_s = {value}\n'
    )
    (problem,) = problems(tmp_path)
    assert problem.key == "phases[0].steps[0](s).timeout_s"
