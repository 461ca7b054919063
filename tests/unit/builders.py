"""Small values that many tests build on."""

from collections.abc import Mapping

from hypothesis import strategies as st
from omnitui.model import (
    SCHEMA,
    Asking,
    Attempt,
    Crashed,
    Failed,
    Passed,
    PassRecord,
    Running,
    RunState,
    ServerRecord,
    Skipped,
    Status,
    StepRecord,
    Stopped,
    Waiting,
)
from omnitui.plan import lay_out
from omnitui.runbook.schema import (
    Collect,
    Command,
    Confirm,
    Passes,
    Phase,
    Runbook,
    Serve,
    Server,
    Step,
    Stop,
    Summarize,
)

AT = "2026-01-02T03:04:05.678Z"
ORDER = ("a/warm", "a/1", "b/warm", "b/1", "b/2", "a/2")

# -- a runbook with everything that decides where a run resumes ------------------------------------------------


def step(name: str, **more: object) -> Command:
    return Command(id=name, title=name.capitalize(), run=f"echo {name}", **more)  # type: ignore[arg-type]


SETUP: tuple[Step, ...] = (step("check"), step("venv"))
SERIES: tuple[Step, ...] = (step("checkout"),)
MEASURE: tuple[Step, ...] = (
    step("folder"),
    Serve(id="serve", title="Serve", run="sleep 9", server="tts"),
    step("client"),
    step("extra", skip_passes=("warm",)),
    step("peek", redo="step"),
    Stop(id="stop", title="Stop", server="tts"),
)
SCORE: tuple[Step, ...] = (step("score"), Collect(id="collect", title="Collect"))
END: tuple[Step, ...] = (Confirm(id="look", title="Look", ask="Well?"), Summarize(id="table", title="Table"))


def runbook(**more: object) -> Runbook:
    """Setup, then checkout per series with measuring and scoring passes, then a question and the table."""
    parts: dict[str, object] = {
        "schema": 1,
        "title": "Bench",
        "summary": "A benchmark.",
        "servers": {"tts": Server(title="TTS", port="8000")},
        "passes": Passes(out="/results/${SERIES}/${PASS}", unscored=("warm",)),
        "phases": (
            Phase(id="setup", title="Setup", steps=SETUP),
            Phase(id="series", title="Series", per="series", steps=SERIES),
            Phase(id="measure", title="Measure", per="pass", steps=MEASURE),
            Phase(id="score", title="Score", per="pass", steps=SCORE),
            Phase(id="end", title="End", steps=END),
        ),
    }
    return Runbook(**{**parts, **more})  # type: ignore[arg-type]


BOOK = runbook()
PLAN = lay_out(BOOK, ORDER)
IDS = [planned.id for planned in PLAN]
WARM = ["folder", "serve", "client", "peek", "stop", "score", "collect"]
WHOLE = ["folder", "serve", "client", "extra", "peek", "stop", "score", "collect"]
"""The steps of an unscored pass, and of a whole one."""


# -- states ----------------------------------------------------------------------------------------------------


def state(
    statuses: Mapping[str, Status] | None = None,
    *,
    order: tuple[str, ...] = ORDER,
    passes: Mapping[str, PassRecord] | None = None,
) -> RunState:
    return RunState(
        schema=SCHEMA,
        run="20260102-030405-bench",
        runbook="bench",
        runbook_sha256="0" * 64,
        title="Bench",
        created=AT,
        schedule=order,
        variables={},
        steps={key: StepRecord(status=status) for key, status in (statuses or {}).items()},
        passes=passes or {},
    )


def green(attempt: int = 1) -> Passed:
    return Passed(attempt=attempt, at=AT, evidence=("OK",))


def running(attempt: int = 1) -> Running:
    return Running(attempt=attempt, since=AT)


def red(attempt: int = 1) -> Failed:
    return Failed(attempt=attempt, at=AT, reason="because")


def at(step_id: str, status: Status, **more: Status) -> RunState:
    """Everything before a step is green, and the step has a status."""
    before = IDS[: IDS.index(step_id)]
    return state({**dict.fromkeys(before, green()), step_id: status, **more})


STOPPED = Stopped(attempt=1, at=AT, reason="stopped")
CRASHED = Crashed(attempt=1, at=AT, reason="gone")
NOT_DONE: tuple[Status, ...] = (
    Waiting(),
    running(),
    red(),
    STOPPED,
    CRASHED,
    Asking(at=AT, question="Really?"),
)
DONE: tuple[Status, ...] = (green(), Skipped(at=AT, reason="no need"))

# -- arbitrary states ------------------------------------------------------------------------------------------

ODD = (
    "",
    "# end",
    "\n# end\n",
    '"""',
    "'''",
    "\\",
    'a "quoted" \\ word',
    "two\nlines",
    "\r\n",
    "\t\b\f\x00\x1b[31m\x7f",
    "\u0085\u2028\u2029\ufeff",
    "你好 é 👩‍🚀",
    "[steps]",
    "a = 1",
    "nan",
)
texts = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
keys = st.sampled_from(("_/_/check", "a/1/client", "a.b/1/x y", "", '"', "é", "#")) | texts
numbers = st.integers(0, 2**31)
seconds = st.floats(0, 1e7).map(lambda value: round(value, 3))
statuses: st.SearchStrategy[Status] = st.one_of(
    st.just(Waiting()),
    st.builds(Running, attempt=numbers, since=texts),
    st.builds(
        Passed, attempt=numbers, at=texts, evidence=st.lists(texts, max_size=3).map(tuple), already=st.booleans()
    ),
    st.builds(Failed, attempt=numbers, at=texts, reason=texts),
    st.builds(Stopped, attempt=numbers, at=texts, reason=texts),
    st.builds(Crashed, attempt=numbers, at=texts, reason=texts),
    st.builds(Skipped, at=texts, reason=texts),
    st.builds(Asking, at=texts, question=texts),
)
attempts = st.builds(
    Attempt, n=numbers, began=texts, seconds=seconds, outcome=texts, reason=texts, edited=st.booleans()
)
records = st.builds(
    StepRecord,
    status=statuses,
    attempts=st.lists(attempts, max_size=2).map(tuple),
    edited=texts,
    confirmed=st.booleans(),
)
_pairs = st.dictionaries(keys, texts, max_size=3)
states = st.builds(
    RunState,
    schema=st.just(SCHEMA),
    run=texts,
    runbook=texts,
    runbook_sha256=texts,
    title=texts,
    created=texts,
    schedule=st.lists(texts, max_size=3).map(tuple),
    variables=_pairs,
    secrets=st.lists(texts, max_size=2).map(tuple),
    source=texts,
    handed=st.dictionaries(keys, _pairs, max_size=2),
    steps=st.dictionaries(keys, records, max_size=3),
    servers=st.dictionaries(keys, st.builds(ServerRecord, step=texts, job=texts), max_size=2),
    passes=st.dictionaries(
        keys, st.builds(PassRecord, round=numbers, marks=st.lists(texts, max_size=2).map(tuple)), max_size=2
    ),
)
"""Any state, with every string that TOML or JSON could trip over."""
