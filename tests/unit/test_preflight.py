"""What is told before a run: GPUs that are not there, ports and GPUs that another run has for itself."""

from pathlib import Path

import pytest
from omnitui import claims
from omnitui.preflight import Preflight
from omnitui.readings import GpuMemory, GpuReading
from omnitui.runbook.schema import Resources, Runbook, Variable

CARDS = tuple(GpuMemory(uuid=f"GPU-{n}", index=n, name="H200", used_mib=0, total_mib=1) for n in range(2))


def book(gpus: str = "", port: str = "") -> Runbook:
    variables = {"GPUS": Variable(help="", default=gpus)}
    return Runbook(
        schema=1,
        title="T",
        summary="S",
        variables=variables,
        resources=Resources(gpus="${GPUS}", ports=(port,) if port else ()),
    )


@pytest.fixture(autouse=True)
def stays_at_logout(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this machine does at logout is not of these tests."""
    monkeypatch.setattr("omnitui.preflight.killed_at_logout", lambda: "")


def test_gpus_that_are_not_there_are_named() -> None:
    host = Preflight(lambda: GpuReading(CARDS))
    assert host.look(book("0,1"), {}) == []
    assert host.look(book("GPU-1"), {}) == []
    (told,) = host.look(book("1,2,GPU-9"), {})
    assert told == "GPU 2, GPU-9 is not there; this machine has 2 (index 0, 1)"


@pytest.mark.parametrize(
    "reading", [GpuReading(absent="no NVIDIA GPU"), GpuReading(error="NVML: the driver is not loaded")]
)
def test_gpus_that_cannot_be_read_are_never_fine(reading: GpuReading) -> None:
    (told,) = Preflight(lambda: reading).look(book("0"), {})
    assert told.startswith(f"GPU 0: {reading.absent or reading.error}")


def test_gpus_are_read_only_where_some_are_wanted_and_not_at_every_look() -> None:
    read: list[int] = []

    def once() -> GpuReading:
        read.append(1)
        return GpuReading(CARDS)

    host = Preflight(once)
    assert host.look(book(), {}) == [] and not read
    for _ in range(3):
        host.look(book("0"), {})
    assert len(read) == 1


def test_what_another_run_has_for_itself_is_told_with_its_name(home: Path, free_port: int) -> None:
    host = Preflight(lambda: GpuReading(CARDS))
    wanted = book("0,1", str(free_port))
    with claims.claimed({f"port-{free_port}": "p", "gpu-GPU-1": "g"}, "20260302-other"):
        port, card = host.look(wanted, {})
        assert port.startswith(f"port {free_port} belongs to run 20260302-other of uid ")
        assert card.startswith("GPU 1 (GPU-1) belongs to run 20260302-other of uid ")
    assert host.look(wanted, {}) == []


def test_who_only_asks_for_the_holder_is_in_nobodys_way(home: Path) -> None:
    with claims.claimed({"port-1": "p"}, "first"):
        assert "first" in claims.holder("port-1")
    assert claims.holder("port-1") == "" and claims.holder("port-2") == ""
    with claims.claimed({"port-1": "p"}, "second"):
        assert "second" in claims.holder("port-1")


def test_a_folder_that_keeps_no_locks_is_told_before_a_run_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMNITUI_LOCKS", str(tmp_path / "none"))
    (told,) = Preflight(lambda: GpuReading(CARDS)).look(book("0"), {})
    assert told == f"{tmp_path / 'none'} is not a folder: make it, or set OMNITUI_LOCKS to a shared folder"
    assert Preflight(lambda: GpuReading(CARDS)).look(book(), {}) == []
    monkeypatch.setenv("OMNITUI_LOCKS", "/proc/self")
    (told,) = Preflight(lambda: GpuReading(CARDS)).look(book("0"), {})
    assert told.startswith("/proc/self cannot be written")
