from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.probes.host import HostProbe, cpu_ticks, disk_of, loads, memory, swap_pages
from omnitui.probes.owners import container_in, short
from omnitui.samples import cpus_of, shown_cpus

STAT = b"""cpu  30 0 30 340 0 0 0 0 0 0
cpu0 10 0 10 80 0 0 0 0 0 0
cpu1 20 0 20 60 0 0 0 0 5 0
intr 12345 0 0
"""
ID = "a" * 64


def test_the_ticks_of_each_cpu() -> None:
    assert cpu_ticks(STAT) == {0: (20, 100), 1: (40, 100)}
    assert cpu_ticks(b"") == {}


def test_the_load_of_the_benchmarks_cpus_and_of_the_others() -> None:
    before = {0: (20, 100), 1: (40, 100), 2: (0, 100)}
    now = {0: (70, 200), 1: (40, 200), 2: (100, 200)}
    assert loads(before, now, frozenset({0, 1})) == (25.0, 100.0)
    assert loads(before, now, frozenset()) == (None, 50.0)
    assert loads({}, now, frozenset({0})) == (None, None)


ticks = st.dictionaries(st.integers(0, 8), st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), max_size=8)


@given(ticks, ticks, st.frozensets(st.integers(0, 8)))
def test_a_load_is_between_0_and_100_or_not_told(
    before: dict[int, tuple[int, int]], now: dict[int, tuple[int, int]], bench: frozenset[int]
) -> None:
    for load in loads(before, now, bench):
        assert load is None or 0 <= load <= 100


def test_memory_and_swap() -> None:
    assert memory(b"MemTotal: 2048 kB\nMemFree: 1 kB\nMemAvailable: 1024 kB\n") == (1.0, 2.0)
    assert memory(b"MemTotal: 2048 kB\nMemFree: 1 kB\n") == (None, 2.0)
    assert memory(b"") == (None, None)
    assert swap_pages(b"nr_free 1\npswpin 7\npswpout 9\n") == (7, 9)
    assert swap_pages(b"nr_free 1\n") is None


def test_what_happened_since_the_look_before(tmp_path: Path) -> None:
    (tmp_path / "vmstat").write_bytes(b"a 1\npswpin 0\npswpout 256\n")
    probe = HostProbe(frozenset({0}), tmp_path)
    first = probe.look()
    assert (first.swap_in_mib, first.swap_out_mib, first.bench_load, first.memory_used_mib) == (None,) * 4
    (tmp_path / "vmstat").write_bytes(b"a 1\npswpin 256\npswpout 256\n")
    second = probe.look()
    assert (second.swap_in_mib, second.swap_out_mib) == (256 * probe._page / 2**20, 0.0)


def test_a_look_at_this_host() -> None:
    host = HostProbe(frozenset({0})).look()
    assert host.memory_total_mib
    assert host.shm_free_mib is not None


def test_the_disk_of_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    free, error = disk_of(str(tmp_path / "to" / "come"))
    assert free
    assert not error


@pytest.mark.parametrize(
    ("text", "cpus", "shown"),
    [
        ("", [], ""),
        ("3", [3], "3"),
        ("2-4,7", [2, 3, 4, 7], "2-4,7"),
        (" 0 , 1 ,", [0, 1], "0-1"),
        ("0-1,112-113", [0, 1, 112, 113], "0-1,112-113"),
        ("2-7:2,9", [2, 4, 6, 9], "2,4,6,9"),
    ],
)
def test_cpu_lists(text: str, cpus: list[int], shown: str) -> None:
    assert sorted(cpus_of(text)) == cpus
    assert shown_cpus(cpus) == shown


@pytest.mark.parametrize("text", ["a", "-1-2", "1-b", "1,x", "0-3:0", "0-3:x", "${CPUS}"])
def test_what_is_no_cpu_list_is_empty(text: str) -> None:
    assert cpus_of(text) == frozenset()


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        ([], ""),
        (["/usr/bin/stress", "--secret", "x"], "stress"),
        (["/opt/v/bin/python3", "-m", "vllm.server", "--api-key", "x"], "python3 -m vllm.server"),
        (["python", "-u", "/a/b/client.py", "token"], "python client.py"),
        (["python", "-c", "print('secret')"], "python"),
        (["bash", "script"], "bash script"),
        (["VLLM::EngineCore"], "VLLM::EngineCore"),
        (["nginx: worker process"], "nginx:"),
    ],
)
def test_a_command_is_told_without_its_arguments(argv: list[str], told: str) -> None:
    assert short(argv) == told


@pytest.mark.parametrize(
    ("line", "container"),
    [
        (f"0::/system.slice/docker-{ID}.scope", ID),
        (f"12:cpuset:/docker/{ID}", ID),
        (f"0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-{ID}.scope", ID),
        ("0::/user.slice/user-1000.slice/session-1.scope", ""),
        ("0::/", ""),
        ("", ""),
    ],
)
def test_the_container_of_a_process(line: str, container: str) -> None:
    assert container_in(line) == container
