"""The provenance of a pass as flat keys, and what each key is to a comparison. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from omnitui.runbook.part import Role
from omnitui.runbook.schema import Runbook

UNKNOWN = None
"""The value of a key that nobody can tell: it equals nothing, not even another unknown one."""

_CPUS = re.compile(r" to CPUs ([0-9,-]+)")
ROLE_WORDS: Mapping[Role, str] = {"equal": "must be equal", "subject": "is compared", "told": "told only"}
FIXED: Mapping[str, Role] = {
    "runbook": "equal",
    "definition": "equal",
    "rehearsal": "equal",
    "origin": "equal",
    "edited": "equal",
    "skipped": "equal",
    "gpu.names": "equal",
    "gpu.uuids": "equal",
    "gpu.driver": "equal",
    "host.cpu": "equal",
    "host.cpus": "equal",
    "containers": "equal",
    "cpus.kept": "told",
    "audio.rates": "told",
    "remedies": "told",
    "host.name": "told",
    "host.kernel": "told",
    "host.boot": "told",
    "host.python": "told",
    "omnitui": "told",
    "packages": "told",
    "runbook_sha256": "told",
}
"""Keys of every pass. A new boot is a new session: told, because it may change the noise, as a remedy may."""


def keys_of(known: Mapping[str, Any]) -> dict[str, str | None]:
    """The flat keys of a pass's provenance; of its `[monitor]` table only which CPUs its threads kept to."""
    host, cards = known.get("host", {}), known.get("gpus", {})
    no_card = cards.get("count") == 0
    found: dict[str, str | None] = {
        "runbook": known.get("runbook"),
        "definition": known.get("definition_sha256"),
        "runbook_sha256": known.get("runbook_sha256"),
        "rehearsal": "yes" if known.get("rehearsal") else "no",
        "origin": known.get("origin"),
        "edited": _text(known["edited"]) if "edited" in known else UNKNOWN,
        "skipped": ", ".join(known["skipped"]) or "none" if "skipped" in known else UNKNOWN,
        "remedies": _remedies(known["remedies"]) if "remedies" in known else UNKNOWN,
        "omnitui": known.get("omnitui"),
        "packages": _text(known["packages"]) if "packages" in known else UNKNOWN,
        "containers": _containers(known["containers"]) if "containers" in known else "none",
    }
    found["cpus.kept"] = _kept(known.get("monitor", {}).get("pinned", ()))
    for name in ("names", "uuids", "driver"):
        found[f"gpu.{name}"] = "none" if no_card else _text(cards[name]) if name in cards else UNKNOWN
    if found["gpu.driver"] is UNKNOWN and "boot" in host and cards:
        # Within one boot it is the same one, whichever that is.
        found["gpu.driver"] = f"that of boot {host['boot']}"
    for name in ("name", "cpu", "cpus", "kernel", "boot", "python"):
        found[f"host.{name}"] = _text(host[name]) if name in host else UNKNOWN
    if known.get("origin", "run") != "run" and "containers" not in known:
        found["containers"] = UNKNOWN
    found |= {f"variable.{name}": str(value) for name, value in known.get("variables", {}).items()}
    found |= {f"told.{name}": str(value) for name, value in known.get("told", {}).items()}
    return found


def roles_of(runbook: Runbook) -> dict[str, Role]:
    """What each key is to a comparison of passes of this runbook."""
    roles = dict(FIXED)
    roles |= {
        f"variable.{name}": variable.compare for name, variable in runbook.variables.items() if not variable.secret
    }
    return roles | {f"told.{one.id}": one.compare for one in runbook.provenance}


def commit_of(known: Mapping[str, Any]) -> str:
    """The commit that a pass measured, as far as its provenance tells; empty when it does not."""
    told, variables = known.get("told", {}), known.get("variables", {})
    handed: dict[str, str] = {}
    for values in known.get("handed", {}).values():
        handed |= values
    candidates = (told.get("commit"), handed.get("COMMIT_SHA"), variables.get("COMMIT_SHA"), handed.get("SHORT"))
    return str(next((one for one in (*candidates, variables.get("COMMIT")) if one), ""))


def gpu_of(known: Mapping[str, Any]) -> str:
    """The model of the cards, in few words; empty when it is not known."""
    cards = known.get("gpus", {})
    if cards.get("count") == 0:
        return "no GPU"
    if not cards and (said := str(known.get("told", {}).get("gpu", ""))):
        return said.partition(",")[0]
    return ", ".join(dict.fromkeys(cards.get("names", ())))


def _containers(found: Sequence[Mapping[str, Any]]) -> str | None:
    """What must be equal of them. One that its engine could not tell of is not known, and equals no other."""
    if not all(one.get("image") or one.get("digests") for one in found):
        return UNKNOWN
    return _text([_container(one) for one in found])


def _container(one: Mapping[str, Any]) -> dict[str, Any]:
    # Its name, id and start say nothing about the numbers; where its folders lie on the host neither.
    digests = sorted(map(_text, one.get("digests", ()))) or [one.get("image", "")]
    return {"image": digests, "gpus": one.get("gpus", ()), "cpuset": one.get("cpuset", "")}


def _kept(pinned: Sequence[str]) -> str | None:
    """Of each step the CPUs that its threads were seen to keep to, out of the sentence that tells it."""
    told = [(line.partition(":")[0], _CPUS.search(line)) for line in pinned]
    return "; ".join(f"{step} = {match[1]}" for step, match in told if match) or UNKNOWN


def _remedies(taken: Sequence[Mapping[str, Any]]) -> str:
    ended = (f"exit status {one['exit']}" if "exit" in one else "its end is not known" for one in taken)
    told = (f"{one['step']}: {one['remedy']} ({end})" for one, end in zip(taken, ended, strict=True))
    return "; ".join(told) or "none"


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "; ".join(f"{key} = {_text(item)}" for key, item in sorted(value.items()))
    if isinstance(value, list | tuple):
        return ", ".join(_text(item) for item in value)
    return str(value)
