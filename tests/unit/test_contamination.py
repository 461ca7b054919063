import pytest
from omnitui.contamination import Spoiled, Suspicion, look
from omnitui.samples import Gpu, GpuLook, GpuProcess, Host, Load, Sample

A, B = "GPU-aa", "GPU-bb"


def sample(*cards: Gpu, at: float = 100.0, age_s: float | None = 0.0, **host: object) -> Sample:
    return Sample(at=at, gpu=GpuLook(cards), gpu_age_s=age_s, host=Host(**host))  # type: ignore[arg-type]


def seen(one: Sample, *wanted: str) -> tuple[Spoiled, ...]:
    return look(Suspicion(), one, wanted or ("0",))[1]


def held(*processes: GpuProcess, uuid: str = A, index: int = 0) -> Gpu:
    return Gpu(uuid, index, "H200", processes=processes)


FOREIGN = GpuProcess(4711, "alice", "python", 100.0, ours=False)


def test_a_foreign_process_on_a_gpu_of_the_run() -> None:
    assert seen(sample(held(FOREIGN))) == (
        Spoiled("foreign process", "foreign process 4711 (python of alice) on GPU 0"),
    )
    assert [one.kind for one in seen(sample(held(FOREIGN)), A)] == ["foreign process"]


def test_another_run_is_named() -> None:
    (found,) = seen(sample(held(GpuProcess(1, "bob", "python", ours=False, run="2026-x"))))
    assert found.reason == "foreign process 1 (python of bob, run 2026-x) on GPU 0"


@pytest.mark.parametrize(
    "card",
    [
        held(),
        held(GpuProcess(1, "me", "python", ours=True)),
        held(GpuProcess(1)),
        held(FOREIGN, uuid=B, index=1),
        Gpu(A, 0, processes=None),
    ],
)
def test_ours_unknown_ones_and_other_cards_spoil_nothing(card: Gpu) -> None:
    assert seen(sample(card)) == ()


@pytest.mark.parametrize("age_s", [None, 3.1, 60.0])
def test_a_late_look_at_the_cards_accuses_nobody(age_s: float | None) -> None:
    assert seen(sample(held(FOREIGN), age_s=age_s)) == ()


@pytest.mark.parametrize(
    ("throttle", "spoils"),
    [
        (None, False),
        ((), False),
        (("idle",), False),
        (("software power cap", "application clocks", "sync boost"), False),
        (("software power cap", "hardware thermal slowdown"), True),
        (("hardware power brake",), True),
        (("hardware slowdown",), True),
        (("software thermal slowdown",), True),
    ],
)
def test_throttling(throttle: tuple[str, ...] | None, spoils: bool) -> None:
    found = seen(sample(Gpu(A, 0, throttle=throttle)))
    assert [one.kind for one in found] == ["throttled"] * spoils


def test_the_words_of_throttling() -> None:
    (found,) = seen(sample(Gpu(A, 0, throttle=("software power cap", "hardware thermal slowdown"))))
    assert found.reason == "throttled: GPU 0, hardware thermal slowdown"


def hog(at: float, percent: float = 85.0, ours: bool | None = False, pid: int = 7) -> Sample:
    load = Load(pid, "bob", "stress", percent, ours)
    return sample(at=at, loads=(load,), loads_over_s=1.0)


def fold(*samples: Sample) -> list[int]:
    """How many things each sample showed."""
    suspicion, counts = Suspicion(), []
    for one in samples:
        suspicion, found = look(suspicion, one, ())
        counts.append(len(found))
    return counts


def test_a_foreign_load_counts_once_it_has_lasted() -> None:
    assert fold(*(hog(at) for at in (10, 11, 12, 13, 14))) == [0, 0, 0, 1, 1]


def test_a_foreign_load_that_pauses_begins_anew() -> None:
    assert fold(hog(10), hog(11), hog(12, percent=3), hog(13), hog(14), hog(15), hog(16)) == [0, 0, 0, 0, 0, 0, 1]
    assert fold(hog(10), hog(11), hog(12, pid=8), hog(13, pid=8)) == [0, 0, 0, 0]


def test_one_look_over_a_long_time_is_enough() -> None:
    load = Load(7, "bob", "stress", 50.0, ours=False)
    assert fold(sample(at=10, loads=(load,), loads_over_s=8.0)) == [1]


@pytest.mark.parametrize("ours", [True, None])
def test_a_load_of_ours_or_of_nobody_known_does_not_count(ours: bool | None) -> None:
    assert fold(*(hog(at, ours=ours) for at in range(10, 20))) == [0] * 10


def test_swapping() -> None:
    assert [one.kind for one in seen(sample(swap_in_mib=0.5, swap_out_mib=0.6))] == ["swapping"]
    assert seen(sample(swap_in_mib=0.0, swap_out_mib=0.1)) == ()
    assert seen(sample(swap_in_mib=None, swap_out_mib=None)) == ()


def test_a_trouble_shows_nothing() -> None:
    assert seen(Sample(at=1.0, trouble="silent")) == ()
