"""What NVML and nvidia-smi say, recorded, and what is made of it."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.gates import Green, Unknown, judge_gpu_free
from omnitui.probes.cards import Cards
from omnitui.probes.gpu import memory_of, of_run
from omnitui.probes.nvml import number, reasons
from omnitui.probes.smi import _COLUMNS, Smi, figure, parsed, with_processes
from omnitui.runbook.gates import GpuFree
from omnitui.samples import Gpu, GpuLook

DATA = Path(__file__).parents[1] / "data" / "gpu"
A = "GPU-aaaaaaaa-2222-3333-4444-555555555555"
B = "GPU-bbbbbbbb-2222-3333-4444-555555555555"
MIG = "MIG-11111111-2222-3333-4444-555555555555"


def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """What `import pynvml` finds from here on."""
    spec = importlib.util.spec_from_file_location("pynvml", DATA / "fake" / "pynvml.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "pynvml", module)


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> Callable[..., GpuLook]:
    """A look through the stand-in at one recorded answer."""
    stand_in(monkeypatch)

    def look(name: str, *wanted: str, full: bool = True) -> GpuLook:
        monkeypatch.setenv("FAKE_NVML", str(DATA / name))
        smi = Smi(0.0, "/nonexistent/nvidia-smi")
        return Cards(wanted or None, full=full, smi=smi, absent=lambda: False).look()

    return look


def free(look: GpuLook, gpus: str) -> object:
    return judge_gpu_free(GpuFree(), of_run(memory_of(look), gpus))


# -- NVML --------------------------------------------------------------------------------------------------------


def test_an_idle_card_is_free_though_the_driver_keeps_a_reserve(nvml: Callable[..., GpuLook]) -> None:
    look = nvml("nvml_idle.json")
    (card,) = look.cards
    assert (card.used_mib, card.reserved_mib, card.total_mib) == (0.0, 615.06, 143771.0)
    assert (card.utilisation, card.power_w, card.temperature_c) == (0, 79.33, 37)
    assert (card.sm_mhz, card.sm_max_mhz, card.throttle, card.mig) == (345, 1980, ("idle",), False)
    assert card.processes == ()
    assert (look.source, look.error, look.unread) == ("NVML", "", ())
    assert isinstance(free(look, "0"), Green)


def test_a_held_card_tells_its_processes(nvml: Callable[..., GpuLook]) -> None:
    (card,) = nvml("nvml_held.json").cards
    assert card.processes is not None
    assert [(one.pid, one.used_mib, one.ours) for one in card.processes] == [(490, 41478, None)]
    assert card.throttle == ("software power cap",)
    assert isinstance(free(nvml("nvml_held.json"), "0"), Unknown)


def test_the_uuid_is_the_key_whatever_the_order(nvml: Callable[..., GpuLook]) -> None:
    look = nvml("nvml_two_swapped.json")
    assert {card.uuid: card.used_mib for card in look.cards} == {B: 20000.0, A: 0.0}
    assert isinstance(free(look, A), Green)
    assert isinstance(free(look, B), Unknown)
    assert [card.uuid for card in nvml("nvml_two_swapped.json", A).cards] == [A]
    (held,) = nvml("nvml_two_swapped.json", "0").cards
    assert held.uuid == B
    assert held.processes
    assert held.processes[0].used_mib is None


def test_an_older_driver_counts_the_reserve_as_used_and_tells_the_rest_not_at_all(
    nvml: Callable[..., GpuLook],
) -> None:
    (card,) = nvml("nvml_old_driver.json").cards
    assert (card.used_mib, card.reserved_mib) == (0.0, None)
    assert (card.utilisation, card.power_w, card.throttle, card.processes, card.mig) == (None,) * 5


def test_a_card_that_shares_the_hosts_memory_is_not_free(nvml: Callable[..., GpuLook]) -> None:
    look = nvml("nvml_unsupported.json")
    (card,) = look.cards
    assert (card.used_mib, card.total_mib) == (None, None)
    assert free(look, "0") == Unknown("GPU 0 does not tell its memory")


def test_mig_devices_are_cards_of_their_own(nvml: Callable[..., GpuLook]) -> None:
    look = nvml("nvml_mig.json")
    assert [(card.uuid, card.index, card.mig) for card in look.cards] == [
        (A, 0, True),
        (MIG, 0, True),
        (B, 1, False),
    ]
    assert look.cards[0].utilisation is None
    assert isinstance(free(look, MIG), Green)
    assert isinstance(free(look, "0"), Unknown)
    assert [card.uuid for card in nvml("nvml_mig.json", MIG).cards] == [MIG]
    assert [card.uuid for card in nvml("nvml_mig.json", "0").cards] == [A]


@pytest.mark.parametrize(("name", "lost", "well"), [("nvml_lost.json", 1, 0), ("nvml_lost_late.json", 0, 1)])
def test_a_lost_card_is_unknown_and_the_others_are_read(
    nvml: Callable[..., GpuLook], name: str, lost: int, well: int
) -> None:
    look = nvml(name)
    assert len(look.cards) == 1
    verdict = free(look, str(lost))
    assert isinstance(verdict, Unknown)
    assert "GPU is lost" in verdict.reason
    assert isinstance(free(look, str(well)), Green)


def test_a_library_that_does_not_fit_the_driver_says_so(nvml: Callable[..., GpuLook]) -> None:
    look = nvml("nvml_mismatch.json")
    assert "Driver/library version mismatch" in look.error
    assert "nvidia-smi cannot be run" in look.error
    assert isinstance(free(look, "0"), Unknown)


def test_reasons_have_words_and_unknown_bits_a_number(nvml: Callable[..., GpuLook]) -> None:
    (card,) = nvml("nvml_throttled.json").cards
    assert card.throttle == (
        "software power cap",
        "hardware slowdown",
        "hardware thermal slowdown",
        "reason 0x4000",
    )
    assert reasons(0) == ()
    assert reasons(None) is None


def test_only_memory_is_asked_for_the_gate(nvml: Callable[..., GpuLook]) -> None:
    (card,) = nvml("nvml_held.json", full=False).cards
    assert card == Gpu(A, 0, "NVIDIA H200", 41487.0, 143771.0, 615.06, mig=False)


# -- nvidia-smi --------------------------------------------------------------------------------------------------


def smi(name: str, *wanted: str) -> GpuLook:
    return parsed(_COLUMNS, (DATA / name).read_text(), wanted or None)


def test_smi_tells_what_nvml_tells(nvml: Callable[..., GpuLook]) -> None:
    (card,), (same,) = smi("smi_idle.csv").cards, nvml("nvml_idle.json").cards
    for name in ("uuid", "index", "name", "used_mib", "total_mib", "utilisation", "power_w", "throttle", "mig"):
        assert getattr(card, name) == getattr(same, name), name
    assert isinstance(free(smi("smi_idle.csv"), A), Green)


def test_smi_in_another_order() -> None:
    assert {card.uuid: card.used_mib for card in smi("smi_two_swapped.csv").cards} == {B: 41487.0, A: 0.0}
    assert [card.uuid for card in smi("smi_two_swapped.csv", A).cards] == [A]


def test_what_smi_does_not_tell_is_none() -> None:
    (card,) = smi("smi_not_told.csv").cards
    assert (card.used_mib, card.total_mib, card.power_limit_w, card.throttle, card.mig) == (None,) * 5
    assert (card.utilisation, card.power_w) == (0, 4.48)
    assert isinstance(free(smi("smi_not_told.csv"), "0"), Unknown)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("smi_mismatch.txt", "Driver/library version mismatch"),
        ("smi_no_driver.txt", "communicate with the NVIDIA driver"),
        ("smi_no_devices.txt", "No devices were found"),
    ],
)
def test_what_smi_says_instead_of_cards_is_the_error(name: str, said: str) -> None:
    look = smi(name)
    assert said in look.error
    assert isinstance(free(look, "0"), Unknown)


@pytest.mark.parametrize(
    ("name", "said", "well"), [("smi_reset.csv", "reset", B), ("smi_lost.csv", "GPU is lost", A)]
)
def test_a_card_in_trouble_does_not_hide_the_others(name: str, said: str, well: str) -> None:
    look = smi(name)
    assert said in look.unread[0]
    assert [card.uuid for card in look.cards] == [well]
    assert isinstance(free(look, well), Green)
    assert isinstance(free(look, f"{A},{B}"), Unknown)


def test_smi_does_not_tell_mig_devices_and_says_so() -> None:
    assert smi("smi_mig.csv").cards[0].utilisation is None
    assert isinstance(free(smi("smi_mig.csv", MIG), MIG), Unknown)


def test_smi_names_the_processes() -> None:
    look = with_processes(smi("smi_two_swapped.csv"), (DATA / "smi_apps.csv").read_text(), None)
    told = {card.uuid: card.processes for card in look.cards}
    assert [(one.pid, one.used_mib, one.command) for one in told[B] or ()] == [(490, 41478, "python3")]
    assert [(one.pid, one.used_mib) for one in told[A] or ()] == [(521, None)]
    # An error in place of the list is no empty list.
    assert with_processes(smi("smi_idle.csv"), "Unknown Error\n", None).cards[0].processes is None
    assert with_processes(smi("smi_idle.csv"), "", None).cards[0].processes == ()


def script(folder: Path, text: str) -> str:
    file = folder / "nvidia-smi"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def fallback(monkeypatch: pytest.MonkeyPatch, program: str, every_s: float = 0.0) -> Cards:
    stand_in(monkeypatch)
    monkeypatch.setenv("FAKE_NVML", str(DATA / "nvml_mismatch.json"))
    return Cards(smi=Smi(every_s, program), absent=lambda: False)


def test_smi_stands_in_where_nvml_does_not_load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = script(tmp_path, f'echo "$1" >> {tmp_path}/asked\necho "0, {A}, NVIDIA H200, 5, 143771, Disabled"')
    cards = fallback(monkeypatch, program, every_s=60.0)
    for _ in range(5):
        look = cards.look()
        assert (look.source, look.cards[0].used_mib, look.error) == ("nvidia-smi", 5, "")
    assert len((tmp_path / "asked").read_text().splitlines()) == 1


def test_an_older_smi_is_asked_for_what_it_knows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = script(
        tmp_path,
        f"""case "$1" in
*event_reasons*) echo 'Field "clocks_event_reasons.active" is not a valid field to query.'; exit 2;;
*compute-apps*) ;;
*) echo '0, {A}, NVIDIA A100, 5, 40960, Disabled, 3, 61.5, 400.00, 30, 210, 1410';;
esac""",
    )
    look = Smi(0.0, program).look(None, None)
    assert (look.cards[0].power_w, look.cards[0].reserved_mib, look.cards[0].throttle) == (61.5, None, None)


@pytest.mark.long
def test_an_smi_that_hangs_is_killed_and_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cards = fallback(monkeypatch, script(tmp_path, "exec sleep 600"))
    assert "nvidia-smi has not answered within 3 s" in cards.look().error


# -- what is not told never becomes 0 ---------------------------------------------------------------------------


@given(st.none() | st.booleans() | st.text() | st.floats() | st.integers())
def test_a_figure_that_is_none_stays_none(value: object) -> None:
    told = number(value)
    if told is None:
        assert not (isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62)
    else:
        assert told == round(float(value), 2)  # type: ignore[arg-type]


@given(
    st.text() | st.sampled_from(["[N/A]", "[Not Supported]", "N/A", "nan", "inf", "-1", "[Unknown Error]", "ERR!"])
)
def test_text_that_is_no_figure_is_none(value: str) -> None:
    told = figure(value)
    if told == 0:
        assert float(value) == 0
    if not any(digit.isdigit() for digit in value):
        assert told is None


@given(
    st.lists(st.sampled_from(["[N/A]", "[Not Supported]", "N/A", "[Unknown Error]", ""]), min_size=11, max_size=11)
)
def test_a_card_that_tells_nothing_tells_no_zero(values: list[str]) -> None:
    look = parsed(_COLUMNS, ", ".join(["0", A, "NVIDIA H200", *values]), None)
    for card in look.cards:
        told = (
            card.used_mib,
            card.total_mib,
            card.reserved_mib,
            card.utilisation,
            card.power_w,
            card.temperature_c,
        )
        assert told == (None,) * 6
    assert not isinstance(free(look, "0"), Green)
