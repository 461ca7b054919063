"""CPU groups: whole cores on the GPU's own node, in the order of nvidia-smi, and a way out when none are left."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.cpu_groups import KEPT_OUT, Core, Gpu, cpu_lists, groups, read_bus_ids, read_cores
from omnitui.errors import OmniError, UsageError
from omnitui.probes.topology import read_topology

RECORDED = Path(__file__).parents[1] / "data" / "topology"


def lscpu(cores: int, *, nodes: int = 1, smt: int = 2, told: bool = True) -> str:
    """What `lscpu -p` prints for a machine whose SMT siblings come after all first threads."""
    rows = [
        f"{thread * cores + core},{core},{core * nodes // cores if told else ''}"
        for thread in range(smt)
        for core in range(cores)
    ]
    return "# CPU,Core,Node\n" + "\n".join(rows) + "\n"


def spread(gpus: int, nodes: int) -> tuple[Gpu, ...]:
    return tuple(Gpu(str(index), index * nodes // gpus) for index in range(gpus))


def reference(cores: Sequence[Core], gpus: Sequence[Gpu], size: int) -> dict[str, list[int]]:
    """The rule once more, written over CPU numbers instead of cores."""
    node = {core.id: core.node for core in cores}
    pool = {n: [c for c in sorted(node) if node[c] == n and c > 1] for n in set(node.values())}
    found = {}
    for gpu in gpus:
        mine = pool.get(gpu.node, [])[:size]
        if len(mine) == size:
            pool[gpu.node] = pool[gpu.node][size:]
            found[gpu.index] = sorted(cpu for core in cores if core.id in mine for cpu in core.cpus)
    return found


def test_what_is_no_text_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, printed in (("lscpu", "0,0,0"), ("nvidia-smi", "\\377\\376")):
        (tmp_path / name).write_text(f"#!/bin/sh\nprintf '{printed}\\n'\n")
        (tmp_path / name).chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(OmniError, match="which is not an index"):
        read_topology()


def test_two_nodes_with_smt() -> None:
    cores = read_cores(lscpu(64, nodes=2))
    found = cpu_lists(cores, spread(8, 2), ("0", "1"))
    assert found["BENCH_CPUS"] == ",".join(map(str, [*range(2, 16), *range(66, 80)]))
    assert found["CI_CPUS"] == ",".join(map(str, [*range(2, 30), *range(66, 94)]))


def test_a_gpu_on_the_second_node_takes_cores_there() -> None:
    found = groups(read_cores(lscpu(64, nodes=2)), spread(8, 2))
    assert [core.id for core in found["4"]] == list(range(32, 46))
    assert sorted(found) == ["0", "1", "4", "5"]


def test_one_node_without_smt() -> None:
    found = cpu_lists(read_cores(lscpu(32, smt=1)), spread(2, 1), ("1", "0"))
    assert found["BENCH_CPUS"] == ",".join(map(str, range(16, 30)))
    assert found["CI_CPUS"] == ",".join(map(str, range(2, 30)))


def test_a_recorded_machine_has_one_group_and_no_second_gpu() -> None:
    cores = read_cores((RECORDED / "one-h200.lscpu").read_text())
    assert [core.id for core in groups(cores, [Gpu("0", 0)])["0"]] == list(range(2, 16))
    with pytest.raises(OmniError, match=r"there is no GPU 1; nvidia-smi lists 0; no later pair .*topo -m"):
        cpu_lists(cores, [Gpu("0", 0)], ("0", "1"))


def test_an_empty_node_column_is_node_0() -> None:
    told, untold = read_cores(lscpu(40)), read_cores(lscpu(40, told=False))
    assert told == untold


def test_cpus_that_are_offline_have_no_core() -> None:
    cores = read_cores("0,0,0\n1,1,0\n2,2,0\n3,3,0\n4,,\n5,,0\n6,2,0\n")
    assert [(core.id, core.cpus) for core in cores] == [(0, (0,)), (1, (1,)), (2, (2, 6)), (3, (3,))]


def test_too_few_cores_name_the_reason_and_the_next_pair_that_has_groups() -> None:
    # Node 0 has 14 cores beside 0 and 1, node 1 has 16, node 2 has 32.
    cores = [*(Core(n, 0, (n,)) for n in range(16)), *(Core(n, 1, (n,)) for n in range(16, 32))]
    cores += [Core(n, 2, (n,)) for n in range(32, 64)]
    gpus = [Gpu(str(n), n // 2) for n in range(6)]
    with pytest.raises(OmniError) as error:
        cpu_lists(cores, gpus, ("0", "1"))
    assert str(error.value) == (
        "GPU 1 gets no group of 14 cores: node 0 has 14 cores beside cores 0 and 1, of which GPU 0 took 14; "
        "take the next pair that has groups: 4 5"
    )
    with pytest.raises(OmniError, match=r"GPU 3 gets no group.*: 4 5"):
        cpu_lists(cores, gpus, ("2", "3"))
    assert cpu_lists(cores, gpus, ("4", "5"))["BENCH_CPUS"] == ",".join(map(str, range(32, 46)))


def test_a_node_without_cores_gives_no_group() -> None:
    with pytest.raises(OmniError, match="GPU 0 gets no group of 14 cores: node 7 has 0 cores beside"):
        cpu_lists(read_cores(lscpu(64)), [Gpu("0", 7), Gpu("1", 0)], ("0", "1"))


def test_a_pair_is_two_gpus() -> None:
    with pytest.raises(UsageError, match="was named twice"):
        cpu_lists(read_cores(lscpu(64)), spread(2, 1), ("1", "1"))


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("0, 00000000:1B:00.0", "0000:1b:00.0"),
        ("0, 00000000:00:06.0\n", "0000:00:06.0"),
        ("0,0000:C1:00.0", "0000:c1:00.0"),
        ("0, 00010000:E1:00.0", "10000:e1:00.0"),
        ("0, 0000FFFF:E1:00.0", "ffff:e1:00.0"),
    ],
)
def test_the_domain_is_written_as_the_kernel_writes_it(printed: str, name: str) -> None:
    assert read_bus_ids(printed) == {"0": name}


@pytest.mark.parametrize("printed", ["No devices were found", "0", "0, nowhere", "0, xyz:1B:00.0"])
def test_what_is_no_list_of_gpus_is_told(printed: str) -> None:
    with pytest.raises(OmniError, match="nvidia-smi printed"):
        read_bus_ids(printed)


@pytest.mark.parametrize("printed", ["0,0", "a,0,0", "0,0,0,0"])
def test_what_is_no_list_of_cpus_is_told(printed: str) -> None:
    with pytest.raises(OmniError, match="lscpu -p=CPU,CORE,NODE printed"):
        read_cores(printed)


@given(
    nodes=st.integers(1, 4),
    per_node=st.integers(1, 40),
    smt=st.integers(1, 4),
    gpus=st.integers(0, 9),
    size=st.integers(1, 20),
)
def test_groups_are_disjoint_whole_cores_and_never_cores_0_and_1(
    nodes: int, per_node: int, smt: int, gpus: int, size: int
) -> None:
    cores = read_cores(lscpu(nodes * per_node, nodes=nodes, smt=smt))
    cards = spread(gpus, nodes)
    found = groups(cores, cards, size)
    taken = [core for group in found.values() for core in group]
    assert len({core.id for core in taken}) == len(taken)
    assert not {core.id for core in taken} & KEPT_OUT
    assert all(len(group) == size and all(len(core.cpus) == smt for core in group) for group in found.values())
    assert all(core.node == int(cards[int(index)].node) for index, group in found.items() for core in group)
    plain = {index: sorted(cpu for core in group for cpu in core.cpus) for index, group in found.items()}
    assert plain == reference(cores, cards, size)


# -- reading ---------------------------------------------------------------------------------------------------


def programs(folder: Path, smi: str) -> None:
    for name, text in {"lscpu": lscpu(32), "nvidia-smi": smi}.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\ncat <<'END'\n{text.strip()}\nEND\n")
        program.chmod(0o755)


def test_the_machine_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path, "0, 00000000:1B:00.0\n1, 00000000:43:00.0")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for name, node in {"0000:1b:00.0": "1\n", "0000:43:00.0": "-1\n"}.items():
        (tmp_path / "devices" / name).mkdir(parents=True)
        (tmp_path / "devices" / name / "numa_node").write_text(node)
    cores, gpus = read_topology(tmp_path / "devices")
    assert len(cores) == 32
    assert gpus == (Gpu("0", 1), Gpu("1", 0))


def test_a_card_that_sysfs_does_not_know_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path, "0, 00000000:1B:00.0")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(OmniError, match=r"0000:1b:00.0/numa_node cannot be read"):
        read_topology(tmp_path)


def test_a_driver_that_does_not_answer_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs(tmp_path, "")
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 'no devices' >&2\nexit 9\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(OmniError, match="ended with 9: no devices"):
        read_topology(tmp_path)
    (tmp_path / "nvidia-smi").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "lscpu").write_text("#!/bin/true\n")
    with pytest.raises(OmniError, match="nvidia-smi could not be run"):
        read_topology(tmp_path)
