"""How far a step is: tqdm's own output, cut anywhere, and files that are counted."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.bars import Bar, bar_of, last_bar
from omnitui.jobs.folder import JobFolder
from omnitui.model import Running, RunState, StepRecord
from omnitui.plan import PlannedStep, lay_out
from omnitui.progress import Meter, Progress, count_files, paced, told
from omnitui.runbook.schema import Command, Passes, Phase, Runbook
from omnitui.runbook.schema import Progress as Counted
from omnitui.store import RunFolder

RECORDED = Path(__file__).parents[1] / "data" / "unit" / "tqdm"
BEGAN = "2026-03-02T12:00:00.000Z"
NOW = 1772452800.0
NAMES = sorted(file.stem for file in RECORDED.iterdir())


def recorded(name: str) -> str:
    return (RECORDED / f"{name}.log").read_bytes().decode()


@pytest.mark.parametrize(
    ("name", "bar"),
    [
        ("unicode", Bar(20, 20, 97.68, 0)),
        ("ascii", Bar(20, 20, 97.45, 0)),
        ("chinese", Bar(20, 20, 97.9, 0, "评测语音")),
        ("scaled", Bar(3000, 3000, 10200, 0)),
        ("slow", Bar(2, 2, 1 / 1.2, 0, "slow")),
        ("no_total", Bar(5, None, 98.09)),
        ("nested", Bar(3, 3, 23.57, 0, "outer")),
    ],
)
def test_what_tqdm_drew_last(name: str, bar: Bar) -> None:
    assert last_bar(recorded(name)) == bar


@pytest.mark.parametrize("name", NAMES)
def test_a_cut_bar_is_ignored_and_the_last_whole_one_wins(name: str) -> None:
    text = recorded(name)
    whole = bar = None
    for end in range(len(text)):
        bar = last_bar(text[:end])
        assert bar is None or bar.total is None or bar.done <= bar.total
        assert whole is None or bar is not None
        whole = bar
    assert bar is not None


@pytest.mark.parametrize(
    ("line", "bar"),
    [
        ("12%|███ | 640/1088 [00:41<00:28, 15.6it/s]", Bar(640, 1088, 15.6, 28)),
        ("Evaluating: 59%|#####9   | 640/1088 [00:41<00:28, 15.6it/s]", Bar(640, 1088, 15.6, 28, "Evaluating")),
        ("  5%|▌ | 54/1088 [1:02:03<19:48:07, 68.96s/it, wer=0.042]", Bar(54, 1088, 1 / 68.96, 71287)),
        ("  5%|▌ | 54/1088 [1 day, 1:02:03<2 days, 0:00:10, 68.96s/it]", Bar(54, 1088, 1 / 68.96, 172810)),
        ("  0%|  | 0/1088 [00:00<?, ?it/s]", Bar(0, 1088)),
        (" 59% 640/1088 [00:41<00:28, 15.6it/s]", Bar(640, 1088, 15.6, 28)),
        ("100%|█| 1.09k/1.09k [00:41<00:00, 15.6req/s]", Bar(1090, 1090, 15.6, 0)),
        (" 59%|█| 1/2 [00:01<00:01, 1.0it/s] 50%|█| 3/4 [00:01<00:01, 2.0it/s]", Bar(3, 4, 2, 1, "…")),
    ],
)
def test_bars_as_they_are_drawn(line: str, bar: Bar) -> None:
    found = bar_of(line)
    assert found is not None
    assert (found.done, found.total, found.per_s, found.left_s) == (bar.done, bar.total, bar.per_s, bar.left_s)
    assert bar.label in ("…", found.label)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "INFO: 12 of 40 [ok]",
        "640/1088 [00:41<00:28, 15.6it/s]",
        "| 640/1088 [00:41<00:28, 15.6it/s]",
        "59%|████ | 640/1088 [00:41<00:28, 15.6it",
        "59%|████ | 640/1088 [00:41<00:",
        "59%|████ | 640/",
    ],
)
def test_what_is_no_whole_bar(line: str) -> None:
    assert bar_of(line) is None


@given(st.text(alphabet="0123456789%|[]<:,./?kM its\r\n█#", max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    last_bar(text)


def test_control_sequences_do_not_reach_the_label() -> None:
    bar = last_bar("\x1b[31mrun\x1b]2;evil\x07\x1b[0m:  50%|█| 1/2 [00:01<00:01, 1.00it/s]")
    assert bar == Bar(1, 2, 1, 1, "run")


# -- counting --------------------------------------------------------------------------------------------------


def test_only_younger_files_count(tmp_path: Path) -> None:
    for n in range(5):
        (tmp_path / f"{n}.wav").touch()
        os.utime(tmp_path / f"{n}.wav", (NOW + n, NOW + n))
    (tmp_path / "other.json").touch()
    assert count_files(tmp_path, "*.wav", NOW + 2) == 3
    assert count_files(tmp_path / "missing", "*.wav", 0) == 0


def test_pace() -> None:
    assert paced(30, 90, (NOW, 0), NOW + 10) == Progress(30, 90, 3, 20)
    assert paced(0, 90, (NOW, 0), NOW + 10) == Progress(0, 90)
    assert paced(30, None, (NOW, 0), NOW + 10) == Progress(30, None, 3)
    # Somebody moved files aside: no rate is better than a negative one.
    assert paced(3, 90, (NOW, 30), NOW + 10) == Progress(3, 90)


def test_told() -> None:
    assert told(Progress(640, 1088, 15.6, 28)) == "640/1088 (59 %) · 15.6/s · 28 s left"
    assert told(Progress(54, 1088, 1 / 69, 71287)) == "54/1088 (5 %) · 69 s each · 19 h 48 min left"
    assert told(Progress(5)) == "5"


class At:
    """A run whose one step is at work."""

    def __init__(self, folder: Path, counted: Counted | None) -> None:
        step = Command(id="client", title="Client", run="true", progress=counted)
        phases = (Phase(id="all", title="All", per="pass", steps=(step,)),)
        self.out = folder / "out" / "1"
        out = str(folder / "out" / "${PASS}")
        self.runbook = Runbook(schema=1, title="T", summary="S", passes=Passes(out=out), phases=phases)
        self.run = RunFolder(folder / "run")
        self.planned: PlannedStep = lay_out(self.runbook, ("a/1",))[0]
        running = {"a/1/client": StepRecord(status=Running(attempt=1, since=BEGAN))}
        self.state = RunState(
            schema=1,
            run="run",
            runbook="r",
            runbook_sha256="",
            title="T",
            created=BEGAN,
            schedule=("a/1",),
            variables={},
            steps=running,
        )
        self.meter = Meter(self.run)

    def prints(self, text: str) -> None:
        log = JobFolder(self.run.job("a/1/client", 1)).log
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(text.encode())

    def leaves(self, count: int) -> None:
        self.out.mkdir(parents=True, exist_ok=True)
        for n in range(count):
            (self.out / f"{n}.wav").touch()

    def read(self, at: float = NOW) -> Progress | None:
        return self.meter.read(self.runbook, self.state, self.planned, at)


def test_bars_of_the_running_step(tmp_path: Path) -> None:
    at = At(tmp_path, None)
    assert at.read() is None
    at.prints("loading\n 59%|#| 640/1088 [00:41<00:28, 15.6it/s]\r 60%|#| 650/10")
    assert at.read() == Progress(640, 1088, 15.6, 28)


def test_of_a_long_log_the_first_piece_of_a_line_is_not_believed(tmp_path: Path) -> None:
    at = At(tmp_path, None)
    bar = " 59%|#| 640/1088 [00:41<00:28, 15.6it/s]"
    # All that is read is the end of one endless line.
    at.prints(bar.rjust(1 << 17))
    assert at.read() is None
    at.prints("x" * (1 << 17) + "\r" + bar + "\r")
    assert at.read() == Progress(640, 1088, 15.6, 28)


def test_files_are_counted_and_until_there_are_any_bars_tell(tmp_path: Path) -> None:
    at = At(tmp_path, Counted(files="*.wav", expect="10"))
    at.prints(" 50%|#| 1/2 [00:01<00:01, 1.00it/s]\r")
    assert at.read() == Progress(1, 2, 1, 1)
    at.leaves(5)
    assert at.read(NOW + 10) == Progress(5, 10, 0.5, 10)


def test_a_count_that_nobody_can_foretell(tmp_path: Path) -> None:
    at = At(tmp_path, Counted(files="*.wav", expect="${NOBODY}"))
    assert at.read() is None
    at = At(tmp_path, Counted(files="*.wav"))
    at.leaves(2)
    assert at.read() == Progress(2)
