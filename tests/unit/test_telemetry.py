from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui import telemetry
from omnitui.results.seen import summary
from omnitui.samples import (
    Boundary,
    Contaminated,
    Gpu,
    GpuLook,
    GpuProcess,
    Host,
    Line,
    Load,
    Notice,
    Sample,
    Started,
    decoded,
    encoded,
)
from omnitui.store import RunFolder
from omnitui.telemetry import Writer

# -- a line survives the pipe and the file, and None stays None -------------------------------------------------

figures = st.none() | st.just(0.0) | st.floats(0, 1e7)
texts = st.text(max_size=8)
told = st.none() | st.booleans()
processes = st.builds(
    GpuProcess, pid=st.integers(1, 2**22), user=texts, command=texts, used_mib=figures, ours=told, run=texts
)
cards = st.builds(
    Gpu,
    uuid=texts,
    index=st.none() | st.integers(0, 15),
    name=texts,
    used_mib=figures,
    total_mib=figures,
    reserved_mib=figures,
    utilisation=figures,
    power_w=figures,
    power_limit_w=figures,
    temperature_c=figures,
    sm_mhz=figures,
    sm_max_mhz=figures,
    throttle=st.none() | st.lists(texts, max_size=2).map(tuple),
    processes=st.none() | st.lists(processes, max_size=2).map(tuple),
    mig=told,
)
looks = st.builds(
    GpuLook,
    cards=st.lists(cards, max_size=2).map(tuple),
    unread=st.lists(texts, max_size=2).map(tuple),
    source=texts,
    absent=texts,
    error=texts,
)
hosts = st.builds(
    Host,
    bench_load=figures,
    other_load=figures,
    memory_used_mib=figures,
    memory_total_mib=figures,
    swap_in_mib=figures,
    swap_out_mib=figures,
    disk_free_mib=figures,
    shm_free_mib=figures,
    loads=st.none()
    | st.lists(st.builds(Load, st.integers(1, 99), texts, texts, st.floats(0, 1e4), told)).map(tuple),
)
lines: st.SearchStrategy[Line] = st.one_of(
    st.builds(Sample, at=st.floats(0, 1e10), gpu=looks, gpu_age_s=figures, host=hosts, own_cpu_s=figures),
    st.builds(Boundary, at=st.floats(0, 1e10), event=texts, step=texts, attempt=st.integers(0, 9), outcome=texts),
    st.builds(Notice, at=st.floats(0, 1e10), said=texts),
    st.builds(Contaminated, at=st.floats(0, 1e10), step=texts, kind=texts, reason=texts),
    st.builds(Started, st.floats(0, 1e10), st.integers(1, 99), st.just((0, 1)), st.booleans(), texts),
)


@given(lines)
def test_a_line_comes_back_as_it_was(line: Line) -> None:
    data = encoded(line)
    assert data.endswith(b"\n")
    assert b"\n" not in data[:-1]
    assert decoded(data) == line


def test_what_is_not_told_is_not_written_and_zero_is() -> None:
    data = encoded(Sample(at=1.0, gpu=GpuLook((Gpu("GPU-a", used_mib=0.0),)), host=Host(swap_in_mib=0.0)))
    assert b'"used_mib":0.0' in data
    assert b'"swap_in_mib":0.0' in data
    assert b"power_w" not in data
    assert b"swap_out_mib" not in data


# -- the file ----------------------------------------------------------------------------------------------------


def sample(at: float, **more: object) -> Sample:
    return Sample(at=at, gpu=GpuLook((Gpu("GPU-a", 0, "H200", used_mib=at),)), gpu_age_s=0.0, **more)  # type: ignore[arg-type]


def filled(folder: Path, count: int, limit: int = telemetry.LIMIT_BYTES) -> RunFolder:
    run = RunFolder(folder)
    writer = Writer(run.telemetry, limit)
    for number in range(count):
        writer.append(sample(float(number)))
        if number % 100 == 0:
            writer.append(Boundary(float(number), "began", f"s{number}"))
    writer.close()
    return run


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Several blocks long."""
    return filled(tmp_path_factory.mktemp("long"), 12_000)


@pytest.mark.parametrize(
    ("since", "until"),
    [
        (0, 12_000),
        (5_000, 5_010),
        (11_990, 99_999),
        (0, 3),
        (4_321.5, 9_876.5),
        (7, 7),
        (20_000, 30_000),
        (-5, -1),
    ],
)
def test_the_lines_between_two_times(long_run: RunFolder, since: float, until: float) -> None:
    found = [line.at for line in telemetry.read(long_run, since, until) if isinstance(line, Sample)]
    assert found == [float(number) for number in range(12_000) if since <= number <= until]


def test_everything_without_times(long_run: RunFolder) -> None:
    assert len(telemetry.read(long_run)) == 12_000 + 120


def test_few_samples_and_every_event(long_run: RunFolder) -> None:
    found = telemetry.read(long_run, 1_000, 10_999, at_most=100)
    samples = [line.at for line in found if isinstance(line, Sample)]
    assert 80 <= len(samples) <= 110
    assert len([line for line in found if isinstance(line, Boundary)]) == 100
    gaps = [after - before for before, after in pairwise(samples)]
    assert max(gaps) == min(gaps)


def test_the_newest_sample(long_run: RunFolder, tmp_path: Path) -> None:
    newest = telemetry.latest(long_run)
    assert newest
    assert newest.at == 11_999
    assert telemetry.latest(RunFolder(tmp_path)) is None
    assert telemetry.read(RunFolder(tmp_path)) == []


def test_broken_lines_are_left_out(tmp_path: Path) -> None:
    run = filled(tmp_path, 3)
    with run.telemetry.open("ab") as file:
        file.write(b'{"is":"sample","at":\nnonsense\n\x00\x00\n{"is":"other","at":4}\n{"is":"sample","at":9.0')
    writer = Writer(run.telemetry)
    writer.append(sample(5.0))
    writer.close()
    assert [line.at for line in telemetry.read(run) if isinstance(line, Sample)] == [0, 1, 2, 5]


def test_times_never_go_back(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    for times in ((5.0, 3.0), (1.0, 9.0)):
        writer = Writer(run.telemetry)
        for at in times:
            writer.append(sample(at))
        writer.close()
    assert [line.at for line in telemetry.read(run)] == [5, 5, 5, 9]


def test_a_full_file_is_thinned(tmp_path: Path) -> None:
    limit = 100_000
    run = filled(tmp_path, 5_000, limit)
    assert run.telemetry.stat().st_size <= 1.1 * limit
    assert run.telemetry.stat().st_mode & 0o777 == 0o600
    found = telemetry.read(run)
    assert [line.at for line in found] == sorted(line.at for line in found)
    assert len([line for line in found if isinstance(line, Boundary)]) == 50
    samples = [line.at for line in found if isinstance(line, Sample)]
    # The newest are all there, the oldest are few, and the beginning is not lost.
    assert samples[-100:] == [float(number) for number in range(4_900, 5_000)]
    assert samples[0] < 1_000
    assert not list(tmp_path.glob(".*"))


def test_a_file_of_events_alone_is_not_thinned_at_every_line(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "telemetry.jsonl", 1_000)
    for number in range(200):
        writer.append(Boundary(float(number), "gate", "step"))
    writer.close()
    assert len(telemetry.read(RunFolder(tmp_path))) == 200


def test_what_could_not_be_written_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    writer = Writer(folder / "telemetry.jsonl")
    writer.append(sample(1.0))
    writer.append(sample(2.0))
    folder.mkdir()
    writer.append(sample(3.0))
    writer.close()
    told = telemetry.read(RunFolder(folder))
    assert [type(line) for line in told] == [Notice, Sample]
    assert "2 lines could not be written: No such file" in told[0].said  # type: ignore[union-attr]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_disturbs_nobody(tmp_path: Path) -> None:
    path = tmp_path / "telemetry.jsonl"
    path.symlink_to("/dev/full")
    writer = Writer(path)
    writer.append(sample(1.0))
    writer.close()


# -- what was seen -----------------------------------------------------------------------------------------------


def test_the_summary_of_a_pass() -> None:
    hot = Gpu("GPU-a", 0, "H200", 500.0, temperature_c=80.0, throttle=("hardware slowdown",))
    unknown = Gpu("GPU-a", 0, "H200", 100.0, temperature_c=70.0, processes=(GpuProcess(5),))
    found = summary(
        [
            Boundary(1.0, "began", "s"),
            Sample(2.0, GpuLook((hot,)), 0.0, own_cpu_s=1.0, runner_cpu_s=10.0),
            Sample(3.0, GpuLook((unknown,)), 0.0, own_cpu_s=1.5, runner_cpu_s=10.25, app_cpu_s=1.75),
            Sample(4.0, GpuLook((hot,)), 9.0, own_cpu_s=0.25, runner_cpu_s=10.5, app_cpu_s=2.0),
            Sample(5.0, trouble="silent"),
            Contaminated(6.0, "s", "throttled", "throttled: GPU 0"),
        ]
    )
    assert found == {
        "samples": 3,
        "own_cpu_s": 0.75,
        "runner_cpu_s": 0.5,
        "app_cpu_s": 0.25,
        "times_without_a_sample": 1,
        "samples_with_stale_gpus": 1,
        "GPU 0 temperature_c_max": 80.0,
        "GPU 0 used_mib_max": 500.0,
        "throttle_reasons": ["GPU 0: hardware slowdown"],
        "gpu_processes_of_unknown_owner": ["5 (unknown) on GPU 0"],
        "contaminated_by": ["throttled: GPU 0"],
    }


def test_nothing_seen_is_told_as_nothing() -> None:
    assert summary([]) == {"samples": 0}


def test_a_file_that_was_removed_is_begun_again(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    writer = Writer(run.telemetry)
    writer.append(Sample(at=100.0))
    run.telemetry.unlink()
    writer.append(Sample(at=99.0))
    writer.append(Sample(at=101.0))
    writer.close()
    assert [line.at for line in telemetry.read(run)] == [100.0, 101.0]
