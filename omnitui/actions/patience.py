"""How long a gate may wait. In a rehearsal nobody waits half an hour to learn that a server does not start."""

import os

from omnitui.model import REHEARSAL

VARIABLE = "OMNITUI_REHEARSAL_PATIENCE"
"""By what a rehearsal's waiting times are multiplied; ignored outside of one."""
DEFAULT = 0.02
_AT_LEAST_S = 4.0


def patience_s(limit_s: float) -> float:
    """The runbook's limit; in a rehearsal a fraction of it, but not less than four seconds."""
    if not os.environ.get(REHEARSAL):
        return limit_s
    try:
        factor = float(os.environ.get(VARIABLE, ""))
    except ValueError:
        factor = DEFAULT
    return min(limit_s, max(_AT_LEAST_S, limit_s * factor))
