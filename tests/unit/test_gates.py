import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.gates import (
    Green,
    Moot,
    Reading,
    Red,
    Unknown,
    Verdict,
    earned,
    judge,
    judge_coverage,
    judge_gpu_free,
    judge_output,
    judge_port_free,
    judge_ready,
    word_of,
)
from omnitui.probes.gpu import of_run
from omnitui.readings import (
    CoverageReading,
    GpuMemory,
    GpuReading,
    HealthReading,
    Listener,
    OutputReading,
    PortReading,
    WorkloadReading,
)
from omnitui.runbook.gates import Coverage, Gate, GpuFree, Output, PortFree
from omnitui.runbook.schema import Server

READY = Output(word="READY")
SEEN = r"evaluated=(\d+)/(\d+)"
COUNT = Output(pattern=SEEN, equals=("20", "20"))
LOOSE = Output(pattern=r"Verified (\d+) pins")
PLAIN = Output()
STRICT = Output(word="RUN_COMPLETE", refuse=("RUN_INCOMPLETE", "RUN_FAILED"))
BOTH = Output(word="DONE", pattern=r"rate (\S+)")
THREE = Output(word="DONE", exit=(0, 3))


def printed(*words: str, exit_status: int | None = 0, lost: bool = False, **captures: str) -> OutputReading:
    return OutputReading(frozenset(words), {}, exit_status, lost)


def matched(gate: Output, *groups: str, words: tuple[str, ...] = (), exit_status: int | None = 0) -> OutputReading:
    text = {gate.pattern: f"seen {' '.join(groups)}"}
    return OutputReading(frozenset(words), {gate.pattern: groups}, exit_status, matched=text)


# -- output ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "reading", "verdict"),
    [
        (READY, printed("READY"), Green("READY")),
        (READY, printed(), Red("exit status 0, but READY not printed")),
        (READY, printed("READY", exit_status=1), Red("exit status 1")),
        (READY, printed(exit_status=7), Red("exit status 7; READY not printed")),
        (READY, printed("READY", exit_status=None), Unknown("printed READY; still running")),
        (READY, printed(exit_status=None), Unknown("running; READY not printed")),
        (READY, printed("READY", exit_status=None, lost=True), Red("the job is gone and left no exit status")),
        (READY, printed("READY!", "ready", " READY"), Red("exit status 0, but READY not printed")),
        (PLAIN, printed(), Green("exit status 0")),
        (PLAIN, printed(exit_status=143), Red("exit status 143")),
        (PLAIN, printed(exit_status=None), Unknown("running")),
        (THREE, printed("DONE", exit_status=3), Green("DONE")),
        (THREE, printed("DONE", exit_status=1), Red("exit status 1")),
        (STRICT, printed("RUN_COMPLETE"), Green("RUN_COMPLETE")),
        (STRICT, printed("RUN_COMPLETE", "RUN_FAILED"), Red("printed RUN_FAILED")),
        (STRICT, printed("RUN_INCOMPLETE", exit_status=None), Red("printed RUN_INCOMPLETE")),
        (COUNT, matched(COUNT, "20", "20"), Green("seen 20 20")),
        (COUNT, matched(COUNT, "19", "20"), Red(f"exit status 0, but {SEEN} gave 19, 20 instead of 20, 20")),
        (COUNT, matched(COUNT, "20"), Red(f"exit status 0, but {SEEN} gave 20 instead of 20, 20")),
        (COUNT, printed(), Red(f"exit status 0, but no line matches {SEEN}")),
        (COUNT, matched(COUNT, "20", "20", exit_status=1), Red("exit status 1")),
        (COUNT, matched(COUNT, "20", "20", exit_status=None), Unknown("printed seen 20 20; still running")),
        (LOOSE, matched(LOOSE, "12"), Green("seen 12")),
        (LOOSE, matched(LOOSE), Green("seen ")),
        (BOTH, matched(BOTH, "nan"), Red("exit status 0, but DONE not printed")),
        (BOTH, matched(BOTH, "2", words=("DONE",)), Green("DONE")),
        (BOTH, printed("DONE"), Red(f"exit status 0, but no line matches {BOTH.pattern}")),
    ],
)
def test_output(gate: Output, reading: OutputReading, verdict: Verdict) -> None:
    assert judge_output(gate, reading) == judge(gate, reading) == verdict


_words = st.sampled_from(("READY", "DONE", "FAILED", "OK"))
_gates = st.builds(
    Output,
    word=st.just("") | _words,
    refuse=st.lists(_words, max_size=2).map(tuple),
    exit=st.lists(st.integers(0, 3), min_size=1, max_size=2).map(tuple),
)


@given(
    _gates,
    st.frozensets(_words),
    st.none() | st.integers(-1, 5),
    st.booleans(),
)
def test_output_is_green_only_with_word_and_exit(
    gate: Output, words: frozenset[str], status: int | None, lost: bool
) -> None:
    verdict = judge_output(gate, OutputReading(words, {}, status, lost))
    spoken = not gate.word or gate.word in words
    refused = any(word in words for word in gate.refuse)
    assert isinstance(verdict, Green) == (spoken and not refused and not lost and status in gate.exit)
    assert isinstance(verdict, Unknown) == (not refused and not lost and status is None)
    assert verdict.reason


# -- ports -----------------------------------------------------------------------------------------------------

OURS = Listener("127.0.0.1", 41, "server", ours=True)
OTHER = Listener("0.0.0.0", 42, "python3", ours=False)
HIDDEN = Listener("::", None, "", ours=False)


@pytest.mark.parametrize(
    ("reading", "verdict"),
    [
        (PortReading(8000), Green("nobody listens on port 8000")),
        (PortReading(8000, (OTHER,)), Unknown("port 8000 is held by pid 42 (python3)")),
        (PortReading(8000, (OURS,)), Unknown("port 8000 is held by pid 41 (server)")),
        (PortReading(8000, (HIDDEN,)), Unknown("port 8000 is held by a process of another user")),
        (PortReading(8000, error="no table"), Unknown("port 8000: no table")),
        (PortReading(8000, (OTHER,), "no table"), Unknown("port 8000: no table")),
    ],
)
def test_port_free(reading: PortReading, verdict: Verdict) -> None:
    assert judge_port_free(reading) == judge(PortFree(port="8000"), reading) == verdict


# -- servers ---------------------------------------------------------------------------------------------------

SERVER = Server(title="TTS", port="8000")
UP = PortReading(8000, (OURS,))
HELD, NOT_OURS = "port 8000 is held by", ", not by our server"


def looked(
    port: PortReading = UP,
    *,
    alive: bool = True,
    exit: int | None = None,  # noqa: A002 - the reading's own name
    status: int | None = None,
    models: tuple[str, ...] | None = ("m",),
    latency_s: float = 0.0,
    error: str = "",
) -> HealthReading:
    return HealthReading(port, alive, exit, status, latency_s, models, error)


@pytest.mark.parametrize(
    ("reading", "verdict"),
    [
        (looked(status=200, models=("m", "n"), latency_s=0.003), Green("127.0.0.1:8000 m 3 ms")),
        (looked(PortReading(8000), status=200), Unknown("nobody listens on port 8000 yet")),
        (looked(PortReading(8000, error="no table"), status=200), Unknown("port 8000: no table")),
        (looked(alive=False, exit=1, status=200), Red("the server ended while starting (exit status 1)")),
        (looked(alive=False, exit=0), Red("the server ended while starting (exit status 0)")),
        (looked(alive=False), Red("the server ended while starting (left no exit status)")),
        (looked(PortReading(8000, (OTHER,)), status=200), Red(f"{HELD} pid 42 (python3){NOT_OURS}")),
        (looked(PortReading(8000, (OURS, OTHER)), status=200), Red(f"{HELD} pid 42 (python3){NOT_OURS}")),
        (looked(PortReading(8000, (HIDDEN,)), status=200), Red(f"{HELD} a process of another user{NOT_OURS}")),
        (looked(error="refused"), Unknown("/health does not answer: refused")),
        (looked(status=503), Unknown("/health answers 503")),
        (looked(status=404), Unknown("/health answers 404")),
        (looked(status=204), Unknown("/health answers 204")),
        (looked(status=200, models=None, error="no"), Unknown("/v1/models does not answer: no")),
        (looked(status=200, models=("n", "o")), Red("the server serves n, o, not m")),
        (looked(status=200, models=()), Red("the server serves no model, not m")),
        (looked(status=200, models=("mm", "M")), Red("the server serves mm, M, not m")),
    ],
)
def test_ready(reading: HealthReading, verdict: Verdict) -> None:
    assert judge_ready(SERVER, "m", reading) == verdict


def test_a_server_whose_models_are_not_asked_needs_none() -> None:
    assert judge_ready(SERVER, "", HealthReading(UP, True, None, 200, 0.01)) == Green("127.0.0.1:8000 10 ms")


_listeners = st.lists(st.sampled_from((OURS, OTHER, HIDDEN)), max_size=3).map(tuple)


@given(
    st.builds(PortReading, st.just(8000), _listeners, st.sampled_from(("", "unreadable"))),
    st.booleans(),
    st.none() | st.sampled_from((200, 204, 301, 404, 500, 503)),
    st.none() | st.lists(st.sampled_from(("m", "n")), max_size=2).map(tuple),
)
def test_ready_needs_everything(
    port: PortReading, alive: bool, status: int | None, models: tuple[str, ...] | None
) -> None:
    verdict = judge_ready(SERVER, "m", HealthReading(port, alive, None, status, 0.0, models))
    ours = bool(port.listeners) and all(one.ours for one in port.listeners) and not port.error
    assert isinstance(verdict, Green) == (alive and ours and status == 200 and "m" in (models or ()))
    assert not isinstance(verdict, Moot)


# -- GPUs ------------------------------------------------------------------------------------------------------


def card(index: int, used_mib: float, total_mib: float = 1000.0) -> GpuMemory:
    return GpuMemory(f"GPU-{'abcd'[index]}", index, "H200", used_mib, total_mib)


def cards(*used_mib: float) -> GpuReading:
    return GpuReading(tuple(card(index, used) for index, used in enumerate(used_mib)))


GPU_FREE = GpuFree(limit_mib=100)
NEEDS_GPU = GpuFree(limit_mib=100, needs_gpu=True)


@pytest.mark.parametrize(
    ("reading", "gpus", "kind"),
    [
        (cards(10, 20), "0,1", Green),
        (cards(10, 20), " 1 , 0 ,", Green),
        (cards(10, 200), "0", Green),
        (cards(10, 200), "1", Unknown),
        (cards(10, 200), "0,1", Unknown),
        (cards(200, 10), "GPU-b", Green),
        (cards(200, 10), "GPU-b,GPU-a", Unknown),
        (cards(200, 10), "GPU-b,0", Unknown),
        (cards(10, 10), "0,2", Red),
        (cards(10, 10), "GPU-z", Red),
        (cards(), "0", Red),
        (cards(10, 100), "1", Unknown),
        (cards(10, 99.999), "1", Green),
        (cards(math.nan), "0", Unknown),
        (cards(10, math.nan), "0,1", Unknown),
        (cards(math.inf), "0", Unknown),
        (GpuReading(error="NVML: unknown error"), "0", Unknown),
        (GpuReading((card(0, 1),), error="half read"), "0", Unknown),
    ],
)
@pytest.mark.parametrize("gate", [GPU_FREE, NEEDS_GPU])
def test_gpu_free(gate: GpuFree, reading: GpuReading, gpus: str, kind: type) -> None:
    assert isinstance(judge(gate, of_run(reading, gpus)), kind)


def test_cards_are_found_by_uuid_in_any_order() -> None:
    swapped = GpuReading((card(1, 10), card(0, 200)))
    assert isinstance(judge_gpu_free(GPU_FREE, of_run(swapped, "1")), Green)
    assert isinstance(judge_gpu_free(GPU_FREE, of_run(swapped, "GPU-a")), Unknown)


def test_a_machine_without_gpu_is_moot_or_red() -> None:
    absent = GpuReading(absent="no NVIDIA GPU")
    assert judge_gpu_free(GPU_FREE, of_run(absent, "0")) == Moot("no NVIDIA GPU")
    assert judge_gpu_free(NEEDS_GPU, of_run(absent, "0")) == Red("no NVIDIA GPU")
    assert judge_gpu_free(GPU_FREE, of_run(cards(5), "")) == Moot("the run uses no GPU")
    assert judge_gpu_free(NEEDS_GPU, of_run(cards(5), " , ")) == Red("the run names no GPU")


@pytest.mark.parametrize("reading", [cards(1), GpuReading(absent="none"), GpuReading(error="no"), GpuReading()])
def test_processes_of_ours_that_live_keep_it_from_being_free(reading: GpuReading) -> None:
    assert judge_gpu_free(GPU_FREE, of_run(reading, "0", (7, 8))) == Unknown("still alive: pid 7, 8")


@given(st.lists(st.floats(), min_size=1, max_size=4), st.lists(st.sampled_from("0123"), min_size=1, max_size=3))
def test_gpu_free_is_green_only_when_each_named_card_is_below(used: list[float], wanted: list[str]) -> None:
    names = list(dict.fromkeys(wanted))
    verdict = judge_gpu_free(GPU_FREE, of_run(cards(*used), ",".join(names)))
    there = [used[int(name)] for name in names if int(name) < len(used)]
    free = len(there) == len(names) and all(not math.isnan(one) and one < 100 for one in there)
    assert isinstance(verdict, Green) == free


# -- coverage --------------------------------------------------------------------------------------------------

WHOLE = WorkloadReading("seed", 20, 20, 20)
BROKEN = WorkloadReading("video", 5, 5, 5, ("2 failed", "1 silent"))


@pytest.mark.parametrize(
    ("reading", "verdict"),
    [
        (CoverageReading((WHOLE,)), Green("seed 20/20")),
        (CoverageReading((WHOLE, WorkloadReading("video", 5, 5, 5))), Green("seed 20/20, video 5/5")),
        (CoverageReading(), Red("no workload was read")),
        (CoverageReading((WHOLE,), "no coverage was written"), Red("no coverage was written")),
        (CoverageReading((WorkloadReading("seed", 20, 19, 19),)), Red("seed: 19 of 20")),
        (CoverageReading((WorkloadReading("seed", 20, 21, 20),)), Red("seed: 21 of 20")),
        (CoverageReading((WorkloadReading("seed", 20, 20, 19),)), Red("seed: 20 of 20")),
        (CoverageReading((WorkloadReading("seed", 20),)), Red("seed: None of 20")),
        (CoverageReading((WorkloadReading("seed", 20, 20),)), Red("seed: 20 of 20")),
        (CoverageReading((WorkloadReading("seed", 0, 0, 0),)), Red("seed: 0 of 0")),
        (CoverageReading((WHOLE, BROKEN)), Red("video: 2 failed; video: 1 silent")),
    ],
)
def test_coverage(reading: CoverageReading, verdict: Verdict) -> None:
    assert judge_coverage(reading) == judge(Coverage(), reading) == verdict


_counts = st.none() | st.integers(0, 3)


@given(st.lists(st.builds(WorkloadReading, st.just("w"), st.integers(0, 3), _counts, _counts), max_size=3))
def test_coverage_is_green_only_when_all_is_there(workloads: list[WorkloadReading]) -> None:
    verdict = judge_coverage(CoverageReading(tuple(workloads)))
    whole = all(one.expected and one.rows == one.unique == one.expected for one in workloads)
    assert isinstance(verdict, Green) == (bool(workloads) and whole)


# -- all together ----------------------------------------------------------------------------------------------

READINGS: tuple[tuple[Gate, Reading], ...] = (
    (READY, printed("READY")),
    (PortFree(port="1"), PortReading(1)),
    (GpuFree(), GpuReading(absent="none")),
    (Coverage(), CoverageReading((WHOLE,))),
)


@pytest.mark.parametrize("gate", [gate for gate, _ in READINGS])
@pytest.mark.parametrize("reading", [reading for _, reading in READINGS])
def test_a_reading_of_another_kind_says_nothing(gate: Gate, reading: Reading) -> None:
    if (gate, reading) not in READINGS:
        assert isinstance(judge(gate, reading), Unknown)


_verdicts = st.sampled_from((Green("g"), Red("r"), Unknown("u"), Moot("m")))


@given(st.dictionaries(st.text(max_size=3), _verdicts, max_size=5))
def test_a_step_passes_only_with_green_and_moot_and_at_least_one_green(verdicts: dict[str, Verdict]) -> None:
    kinds = {type(verdict) for verdict in verdicts.values()}
    assert earned(verdicts) == (Green in kinds and kinds <= {Green, Moot})


@pytest.mark.parametrize("bad", [Red("r"), Unknown("u")])
def test_one_red_or_unknown_is_enough_to_fail(bad: Verdict) -> None:
    assert not earned({"A": Green("a"), "B": bad, "C": Green("c")})


def test_nothing_and_moot_alone_earn_nothing() -> None:
    assert not earned({})
    assert not earned({"GPU_FREE": Moot("no GPU"), "OTHER": Moot("no GPU")})


@pytest.mark.parametrize(
    ("gate", "word"),
    [
        (READY, "READY"),
        (LOOSE, LOOSE.pattern),
        (PLAIN, "exit"),
        (PortFree(port="1"), "PORT_FREE"),
        (PortFree(port="1", word="ASR_PORT_FREE"), "ASR_PORT_FREE"),
        (GpuFree(), "GPU_FREE"),
        (Coverage(), "RUN_COMPLETE"),
    ],
)
def test_words_keep_their_names(gate: Gate, word: str) -> None:
    assert word_of(gate) == word
