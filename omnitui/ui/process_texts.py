"""A process in few cells: where there is little room, what is most telling of it stays. Pure."""

from rich.cells import cell_len

from omnitui.samples import GpuProcess, Load
from omnitui.sanitise import plain

_LEAST = 8


def who(one: GpuProcess | Load, room: int) -> str:
    """Pid, user, program and another run that started it, in `room` cells; what the program is goes last."""
    command = plain(one.command) or "?"
    # Of `python3 -m benchmarks.eval.client`, the end says which it is.
    name = command.rpartition(" ")[2]
    last = name.rpartition(".")[2] if " -m " in command else name
    pid, whose = str(one.pid), f"{one.pid} {one.user or '?'}"
    ways = [f"{whose} {command}", f"{whose} {name}", f"{whose} {last}", f"{pid} {name}", f"{pid} {last}", last]
    if one.run:
        ways.insert(0, f"{whose} {command} of run {one.run}")
    return next((said for said in ways if cell_len(said) <= room), f"…{last[1 - max(room, _LEAST) :]}")
