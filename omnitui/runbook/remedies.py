"""What the page says to do when a step is red. Pure."""

from omnitui.runbook.gates import Remedy
from omnitui.runbook.schema import Runbook, Serve, Step


def remedies_of(runbook: Runbook, step: Step) -> tuple[Remedy, ...]:
    """The remedies of a step, of its gates and of the server that it starts, each once."""
    found = [*step.remedies, *(one for gate in step.gates for one in gate.remedies)]
    if isinstance(step, Serve):
        found += runbook.servers[step.server].remedies
    return tuple(one for number, one in enumerate(found) if one not in found[:number])
