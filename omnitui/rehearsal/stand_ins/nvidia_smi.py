"""Stand-in for `nvidia-smi`: the list of cards, and queries as CSV, from the rehearsal's files."""

import sys
from collections.abc import Callable

from omnitui.rehearsal.stand_ins import gpus
from omnitui.rehearsal.stand_ins.gpus import Card, Hold

_FIELDS: dict[str, tuple[str, Callable[[Card], str]]] = {
    "index": ("", lambda card: str(card.number)),
    "uuid": ("", lambda card: card.uuid),
    "gpu_uuid": ("", lambda card: card.uuid),
    "name": ("", lambda _: gpus.NAME),
    "gpu_name": ("", lambda _: gpus.NAME),
    "pci.bus_id": ("", lambda card: card.bus),
    "gpu_bus_id": ("", lambda card: card.bus),
    "driver_version": ("", lambda _: gpus.DRIVER),
    "memory.used": ("MiB", lambda card: str(gpus.used_mib(card))),
    "memory.total": ("MiB", lambda _: str(gpus.TOTAL_MIB)),
    "memory.free": ("MiB", lambda card: str(gpus.TOTAL_MIB - gpus.used_mib(card))),
    "utilization.gpu": ("%", lambda card: "50" if gpus.used_mib(card) > gpus.IDLE_MIB else "0"),
    "utilization.memory": ("%", lambda _: "0"),
    "temperature.gpu": ("", lambda _: "40"),
    "power.draw": ("W", lambda _: "120.00"),
    "clocks.sm": ("MHz", lambda _: "1980"),
    "mig.mode.current": ("", lambda _: "Disabled"),
    "compute_mode": ("", lambda _: "Default"),
    "persistence_mode": ("", lambda _: "Enabled"),
}


def main(argv: list[str]) -> int:
    """`nvidia-smi`, as far as runbooks use it."""
    options = _split(argv)
    cards = _chosen(options.get("-i", options.get("--id", "")))
    if not cards:
        sys.stdout.write("No devices were found\n")
        return 6
    style = options.get("--format", "csv").split(",")
    if "-L" in options or "--list-gpus" in options:
        lines = [f"GPU {card.number}: {gpus.NAME} (UUID: {card.uuid})" for card in cards]
    elif "--query-gpu" in options:
        lines = _query(options["--query-gpu"].split(","), cards, style)
    elif "--query-compute-apps" in options:
        lines = _apps(options["--query-compute-apps"].split(","), cards, style)
    elif "topo" in argv:
        lines = ["stand-in nvidia-smi topo", *(f"GPU{card.number}\tNUMA {card.node}" for card in cards)]
    else:
        lines = ["stand-in nvidia-smi", *_query(["index", "name", "memory.used", "memory.total"], cards, style)]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _split(argv: list[str]) -> dict[str, str]:
    """Options by name, with their values given as `--a=b` or as the next word."""
    found: dict[str, str] = {}
    words = iter(argv)
    for word in words:
        name, equals, value = word.partition("=")
        found[name] = value if equals or name not in ("-i", "--id") else next(words, "")
    return found


def _chosen(wanted: str) -> list[Card]:
    cards = gpus.visible()
    names = [name.strip() for name in wanted.split(",") if name.strip()]
    buses = {card.bus.lower(): card for card in cards}
    if not names:
        return cards
    return [c for c in cards if str(c.number) in names or c.uuid in names or buses.get(names[0].lower()) == c]


def _query(fields: list[str], cards: list[Card], style: list[str]) -> list[str]:
    unknown = [field for field in fields if field.strip() not in _FIELDS]
    if unknown:
        return [f'Field "{unknown[0]}" is not a valid field to query.']
    known = [(field.strip(), *_FIELDS[field.strip()]) for field in fields]
    rows = [", ".join(_shown(read(card), unit, style) for _, unit, read in known) for card in cards]
    head = ", ".join(f"{name} [{unit}]" if unit else name for name, unit, _ in known)
    return rows if "noheader" in style else [head, *rows]


def _shown(value: str, unit: str, style: list[str]) -> str:
    return value if not unit or "nounits" in style else f"{value} {unit}"


def _apps(fields: list[str], cards: list[Card], style: list[str]) -> list[str]:
    mine = {card.uuid for card in cards}
    held = [hold for hold in gpus.holds() if hold.uuid in mine]
    known: dict[str, Callable[[Hold], str]] = {
        "gpu_uuid": lambda hold: hold.uuid,
        "pid": lambda hold: str(hold.pid),
        "process_name": lambda hold: hold.command,
        "name": lambda hold: hold.command,
        "used_memory": lambda hold: _shown(str(hold.mib), "MiB", style),
        "used_gpu_memory": lambda hold: _shown(str(hold.mib), "MiB", style),
    }
    rows = [", ".join(known[name](hold) if name in known else "[N/A]" for name in fields) for hold in held]
    return rows if "noheader" in style else [", ".join(fields), *rows]
