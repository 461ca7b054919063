"""What must be equal for two numbers to be compared, as far as this host can tell."""

import os
import platform
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import omnitui
from omnitui.model import RUN_WIDE, RunState
from omnitui.places.local import boot_id


def provenance(state: RunState, scope: str) -> dict[str, Any]:
    """The provenance of one pass, ready for TOML. Secrets are never among the variables."""
    edited = sorted(key for key, record in state.steps.items() if record.edited and key.startswith(_scopes(scope)))
    found: dict[str, Any] = {
        "runbook": state.runbook,
        "runbook_sha256": state.runbook_sha256,
        "run": state.run,
        "pass": scope,
        "omnitui": omnitui.__version__,
        "variables": dict(state.variables),
        "handed": {key: dict(value) for key, value in state.handed.items()},
        "edited_steps": edited,
        **({"rehearsal": True} if state.rehearsal else {}),
        "host": {
            "name": platform.node(),
            "kernel": platform.release(),
            "machine": platform.machine(),
            "cpu": _cpu_model(),
            "cpus": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [],
            "boot": boot_id(),
            "python": platform.python_version(),
        },
        "packages": packages(),
    }
    return found


def _scopes(scope: str) -> tuple[str, ...]:
    """The pass itself and the wider scopes whose steps it stands on."""
    return (f"{scope}/", f"{scope.partition('/')[0]}/{RUN_WIDE}/", f"{RUN_WIDE}/{RUN_WIDE}/")


def _cpu_model() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def packages() -> dict[str, str]:
    """The freeze list of this interpreter."""
    return dict(sorted((d.metadata["Name"], d.version) for d in metadata.distributions() if d.metadata["Name"]))
