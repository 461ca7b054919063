"""The cards of a rehearsal: files that say who holds memory, which falls a while after the death of its holder."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from omnitui.rehearsal.stand_ins import stage

NAME = "NVIDIA H200 (stand-in)"
DRIVER = "000.00 (stand-in)"
TOTAL_MIB = 143771
IDLE_MIB = 4
LAG_S = 0.8
"""How long after the death of its holder memory stays taken; on real cards it is seconds, too."""
KEPT = "memory-kept"
FEW = "few-gpus"


class Card(NamedTuple):
    """One card; `bus` is its PCI address as the driver writes it."""

    number: int
    uuid: str
    bus: str
    node: int


class Hold(NamedTuple):
    """Memory of one card that a process has taken."""

    pid: int
    uuid: str
    mib: int
    command: str


def all_cards(count: int = 8) -> list[Card]:
    """The cards of the stand-in host, half of them on each NUMA node."""
    return [
        Card(n, f"GPU-57a4d1e5-0000-4000-8000-{n:012d}", f"00000000:{0x18 + n:02X}:00.0", int(n >= count / 2))
        for n in range(count)
    ]


def visible() -> list[Card]:
    """The cards that this process may see, numbered as it sees them (`NVIDIA_VISIBLE_DEVICES`)."""
    cards = all_cards(1 if stage.fault() == FEW else 8)
    wanted = os.environ.get("NVIDIA_VISIBLE_DEVICES", "all")
    if wanted == "all":
        return cards
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    chosen = [card for card in cards if str(card.number) in names or card.uuid in names]
    return [card._replace(number=n) for n, card in enumerate(chosen)]


def for_cuda() -> list[Card]:
    """The visible cards that CUDA may use (`CUDA_VISIBLE_DEVICES`)."""
    wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
    cards = visible()
    if wanted is None:
        return cards
    names = [name.strip() for name in wanted.split(",")]
    return [card for card in cards if str(card.number) in names or card.uuid in names]


def _holds() -> Path:
    return stage.state() / "gpu-holds"


def take(cards: list[Card], mib: int, command: str) -> None:
    """Let this process hold memory on each of the cards until it dies."""
    pid = os.getpid()
    for card in cards:
        hold = {"pid": pid, "start": stage.start_of(pid), "uuid": card.uuid, "mib": mib, "command": command}
        stage.write_json(_holds() / f"{pid}-{card.number}.json", hold)


def holds() -> list[Hold]:
    """Who holds memory now. A dead holder's is freed a while after it was first found dead."""
    found = []
    for file in sorted(_holds().glob("*.json")):
        one = stage.read_json(file, None)
        if one is None:
            continue
        hold = Hold(one["pid"], one["uuid"], one["mib"], one["command"])
        if stage.start_of(hold.pid) == one["start"] or stage.fault() == KEPT or not _freed(file):
            found.append(hold)
    return found


def _freed(file: Path) -> bool:
    gone = file.with_suffix(".gone")
    with suppress(FileExistsError):
        os.close(os.open(gone, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    with suppress(FileNotFoundError):
        if time.time() - gone.stat().st_mtime < LAG_S:
            return False
    file.unlink(missing_ok=True)
    gone.unlink(missing_ok=True)
    return True


def used_mib(card: Card, held: list[Hold] | None = None) -> int:
    """Memory in use on a card."""
    known = holds() if held is None else held
    return IDLE_MIB + sum(hold.mib for hold in known if hold.uuid == card.uuid)
