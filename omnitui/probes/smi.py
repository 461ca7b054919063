"""Cards as `nvidia-smi` tells them, where NVML's library is missing or does not load.

It can hang, so it has a time limit and is killed; one that the kernel does not let die is never joined by more.
"""

import subprocess
import time
from contextlib import suppress

from msgspec.structs import replace

from omnitui.probes.nvml import processes_of, reasons
from omnitui.probes.owners import Owners
from omnitui.samples import Gpu, GpuLook, is_wanted

LIMIT_S = 3.0
_COLUMNS = (
    "index",
    "uuid",
    "name",
    "memory.used",
    "memory.total",
    "mig.mode.current",
    "memory.reserved",
    "utilization.gpu",
    "power.draw",
    "power.limit",
    "temperature.gpu",
    "clocks.current.sm",
    "clocks.max.sm",
    "clocks_event_reasons.active",
)
_OLDER = ("memory.reserved", "clocks_event_reasons.active")
"""Columns that drivers before 510 and 535 do not know."""
_MEMORY_ONLY = 6
_UNTOLD = ("", "n/a", "[n/a]", "not supported", "[not supported]", "[insufficient permissions]", "[no permission]")


class Smi:
    """Asks `nvidia-smi`, at most once in `every_s`; in between, the last answer."""

    def __init__(self, every_s: float, program: str = "nvidia-smi") -> None:
        self._every_s = every_s
        self._program = program
        self._asked_s = float("-inf")
        self._last = GpuLook(error="not read yet")
        self._stuck: subprocess.Popen[bytes] | None = None
        self._dropped: tuple[str, ...] = ()

    def look(self, wanted: tuple[str, ...] | None, owners: Owners | None, *, full: bool = True) -> GpuLook:
        """One look at the wanted cards (None: all)."""
        if time.monotonic() - self._asked_s < self._every_s:
            return self._last
        self._asked_s = time.monotonic()
        columns = tuple(c for c in (_COLUMNS if full else _COLUMNS[:_MEMORY_ONLY]) if c not in self._dropped)
        said, error = self._ask(f"--query-gpu={','.join(columns)}")
        if "is not a valid field" in said and not self._dropped:
            self._dropped = _OLDER
            columns = tuple(column for column in columns if column not in _OLDER)
            said, error = self._ask(f"--query-gpu={','.join(columns)}")
        look = parsed(columns, said, wanted) if not error else GpuLook(error=error)
        if full and look.cards:
            apps, error = self._ask("--query-compute-apps=pid,used_gpu_memory,gpu_uuid,process_name")
            if not error:
                look = with_processes(look, apps, owners)
        self._last = look
        return look

    def _ask(self, query: str) -> tuple[str, str]:
        """What it printed, or why it could not be asked."""
        if self._stuck and self._stuck.poll() is None:
            return "", "nvidia-smi hangs and cannot be ended"
        try:
            child = subprocess.Popen(
                [self._program, query, "--format=csv,noheader,nounits"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except OSError as error:
            return "", f"nvidia-smi cannot be run: {error.strerror}"
        try:
            said, _ = child.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            child.kill()
            with suppress(subprocess.TimeoutExpired):
                child.communicate(timeout=0.5)
            self._stuck = child
            return "", f"nvidia-smi has not answered within {LIMIT_S:.0f} s"
        return said.decode(errors="replace"), ""


def parsed(columns: tuple[str, ...], said: str, wanted: tuple[str, ...] | None) -> GpuLook:
    """The cards in an answer. Lines that are none say why one, or all, cannot be read."""
    cards: list[Gpu] = []
    unread: list[str] = []
    for line in filter(None, (line.strip() for line in said.split("\n"))):
        values = [value.strip() for value in line.split(",")]
        if len(values) != len(columns) or not values[0].isdigit():
            unread.append(line)
            continue
        row = dict(zip(columns, values, strict=True))
        card, trouble = _card(row)
        if wanted is not None and not is_wanted(wanted, card.uuid, card.index):
            # A wanted MIG device is missing for a reason, and not because it is gone.
            if card.mig and any(one.startswith("MIG-") for one in wanted):
                unread.append(f"GPU {card.index}: nvidia-smi does not tell its MIG devices")
            continue
        if trouble:
            unread.append(f"GPU {card.index} ({card.uuid}): {trouble}")
        else:
            cards.append(card)
    if not cards and unread and not any(line.startswith("GPU ") for line in unread):
        return GpuLook(source="nvidia-smi", error=f"nvidia-smi: {' '.join(unread)}")
    if not said.strip():
        return GpuLook(source="nvidia-smi", error="nvidia-smi printed nothing")
    return GpuLook(tuple(cards), tuple(unread), "nvidia-smi")


def _card(row: dict[str, str]) -> tuple[Gpu, str]:
    # `[GPU requires reset]`, `[GPU is lost]`, `[Unknown Error]` are no figures and no missing ones either.
    trouble = row["memory.used"].strip("[]") if row["memory.used"].lower() not in _UNTOLD else ""
    used = figure(row["memory.used"])
    mode = row["mig.mode.current"].lower()
    card = Gpu(
        uuid=row["uuid"],
        index=int(row["index"]),
        name=row["name"],
        used_mib=used,
        total_mib=figure(row["memory.total"]),
        reserved_mib=figure(row.get("memory.reserved", "")),
        utilisation=figure(row.get("utilization.gpu", "")),
        power_w=figure(row.get("power.draw", "")),
        power_limit_w=figure(row.get("power.limit", "")),
        temperature_c=figure(row.get("temperature.gpu", "")),
        sm_mhz=figure(row.get("clocks.current.sm", "")),
        sm_max_mhz=figure(row.get("clocks.max.sm", "")),
        throttle=reasons(_hexadecimal(row.get("clocks_event_reasons.active", ""))),
        mig={"enabled": True, "disabled": False}.get(mode),
    )
    return card, "" if used is not None else trouble


def with_processes(look: GpuLook, said: str, owners: Owners | None) -> GpuLook:
    """The look with the processes that an answer names."""
    memory: dict[str, dict[int, float | None]] = {card.uuid: {} for card in look.cards}
    names: dict[int, str] = {}
    for line in said.split("\n"):
        pid, _, rest = line.partition(",")
        used, _, rest = rest.partition(",")
        uuid, _, name = rest.partition(",")
        if pid.strip().isdigit() and uuid.strip() in memory:
            memory[uuid.strip()][int(pid)] = figure(used)
            names[int(pid)] = name.strip().rpartition("/")[2]
        elif line.strip() and not line.startswith("No running"):
            return look
    cards = (replace(card, processes=processes_of(memory[card.uuid], owners, names)) for card in look.cards)
    return replace(look, cards=tuple(cards))


def figure(value: str) -> float | None:
    """A figure, or None for whatever is none: `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `nan`."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _hexadecimal(value: str) -> int | None:
    try:
        return int(value, 16)
    except ValueError:
        return None
