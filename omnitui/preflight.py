"""What can be known before a run begins: what is in its way on this host, and what would end it."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from omnitui.gates import judge_port_free
from omnitui.probes import listeners
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import BUILT_IN, chosen, resolved
from omnitui.values import port_of


def preflight(runbook: Runbook, given: Mapping[str, str]) -> list[str]:
    """What would stand in the way of a run with these values, or end it: ports that are taken, logind's habits."""
    values = resolved(chosen(runbook, given), dict.fromkeys(BUILT_IN, ""))
    found = []
    for text in runbook.resources.ports:
        reading = listeners.look(port_of(text, values))
        if reading.listeners or reading.error:
            found.append(judge_port_free(reading).reason)
    return [*found, *filter(None, [killed_at_logout()])]


def killed_at_logout(config: Path = Path("/etc/systemd/logind.conf")) -> str:
    """How to keep the run alive where logind kills a user's processes at logout; empty where it does not."""
    with suppress(OSError):
        if "session-" not in Path("/proc/self/cgroup").read_text():
            return ""
        texts = [config, *sorted(Path(f"{config}.d").glob("*.conf"))]
        lines = [line.strip() for file in texts if file.exists() for line in file.read_text().splitlines()]
        answers = [
            line.partition("=")[2].strip().lower() for line in lines if line.startswith("KillUserProcesses=")
        ]
        if answers and answers[-1] in ("yes", "true", "1", "on"):
            return (
                "This host kills a user's processes at logout (KillUserProcesses in logind.conf): the run would "
                "die with your session. Run once: loginctl enable-linger; then start with: "
                "systemd-run --user --scope omnitui"
            )
    return ""
