import pytest
from msgspec.structs import replace
from omnitui.containers import ContainerReading
from omnitui.gates import Green, Moot, Red, Unknown, Verdict, judge
from omnitui.places.inspecting import FIELDS, on_host, reading_of
from omnitui.runbook.gates import ContainerUp

IMAGE = "hongccc/sglang-omni@sha256:ebe4"
GATE = ContainerUp(place="bench", image=IMAGE, gpus="0,1", cpuset="2-4,8", mounts={"/results": "/data/results"})
UP = ContainerReading(
    name="omni-bench",
    id="0123456789abcdef",
    running=True,
    image=IMAGE,
    gpus=("1", "0"),
    cpuset="8,2,3,4",
    mounts={"/results": "/data/results", "/work": "/data/work"},
)


def why(verdict: Verdict) -> str:
    assert isinstance(verdict, Red)
    return verdict.reason


def test_the_container_of_the_page_is_green() -> None:
    verdict = judge(GATE, UP)
    assert isinstance(verdict, Green)
    assert verdict.reason == f"omni-bench (0123456789ab) runs {IMAGE}"


def test_a_gate_that_names_nothing_asks_only_that_it_runs() -> None:
    assert isinstance(judge(ContainerUp(place="bench"), UP), Green)
    stopped = judge(ContainerUp(place="bench"), replace(UP, running=False))
    assert why(stopped) == "container omni-bench: it is stopped: docker start omni-bench"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"image": "other:1"}, f"its image is other:1, not {IMAGE}"),
        ({"gpus": ("0",)}, "its GPUs are 0, not 0,1"),
        ({"gpus": ()}, "its GPUs are none, not 0,1"),
        ({"gpus": ("all",)}, "its GPUs are all, not 0,1"),
        ({"cpuset": ""}, "its CPUs are all, not 2-4,8"),
        ({"cpuset": "2-4"}, "its CPUs are 2-4, not 2-4,8"),
        ({"mounts": {"/results": "/old"}}, "/results shows /old, not /data/results"),
        ({"mounts": {}}, "/results shows no folder of the host, not /data/results"),
    ],
)
def test_each_difference_is_told(changed: dict[str, object], told: str) -> None:
    assert told in why(judge(GATE, replace(UP, **changed)))


def test_all_differences_are_told_at_once() -> None:
    reason = why(judge(GATE, replace(UP, running=False, image="other:1", cpuset="")))
    assert reason.count(";") == 2


def test_an_image_is_known_by_its_digest_whatever_it_was_called() -> None:
    assert isinstance(judge(GATE, replace(UP, image="omni:latest", digests=(IMAGE, "sha256:1"))), Green)


def test_what_is_not_there_is_red_and_what_is_not_known_is_unknown() -> None:
    assert why(judge(GATE, ContainerReading(name="omni-bench"))) == "there is no container omni-bench"
    assert judge(GATE, ContainerReading(name="omni-bench", error="no daemon")) == Unknown("no daemon")
    assert isinstance(judge(GATE, ContainerReading(here=True)), Moot)


# -- what the engine tells -------------------------------------------------------------------------------------


def told(**fields: object) -> dict[str, object]:
    requests = [{"Driver": "", "Count": 0, "DeviceIDs": ["0", "1"], "Capabilities": [["gpu"]], "Options": {}}]
    mounts = [{"Type": "bind", "Source": "/data/results", "Destination": "/results", "Mode": "", "RW": True}]
    known = ("0123", "sha256:77", IMAGE, True, "2026-01-02T03:04:05.123456789Z", "0-3", requests, mounts)
    return {**dict(zip(FIELDS, known, strict=True)), **fields}


def test_the_fields_of_an_inspection() -> None:
    seen = reading_of("omni-bench", told(), [IMAGE])
    assert (seen.id, seen.running, seen.image, seen.digests) == ("0123", True, IMAGE, (IMAGE, "sha256:77"))
    assert (seen.gpus, seen.cpuset, seen.mounts) == (("0", "1"), "0-3", {"/results": "/data/results"})


def test_nothing_that_may_hold_a_secret_is_asked_for() -> None:
    assert not [field for field in FIELDS if "Env" in field or "Cmd" in field or "Args" in field or field == "."]


def test_gpus_that_are_counted_or_absent() -> None:
    every = [{"Count": -1, "DeviceIDs": None, "Capabilities": [["gpu"]]}]
    other = [{"Count": 0, "DeviceIDs": ["x"], "Capabilities": [["fpga"]]}]
    name = ".HostConfig.DeviceRequests"
    assert reading_of("c", told(**{name: every}), []).gpus == ("all",)
    assert reading_of("c", told(**{name: None}), []).gpus == ()
    assert reading_of("c", told(**{name: other}), []).gpus == ()


@pytest.mark.parametrize(
    ("path", "host"),
    [
        ("/results/run1", "/data/results/run1"),
        ("/results", "/data/results"),
        ("/results/deep/x", "/fast/x"),
        ("/resultsx", None),
        ("/root/.cache", None),
        ("/results/../root", None),
    ],
)
def test_the_nearest_mount_wins(path: str, host: str | None) -> None:
    found = on_host({"/results": "/data/results", "/results/deep": "/fast"}, path)
    assert (str(found) if found else None) == host
