"""From the newest sample to what the Host pane shows. Pure."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from omnitui.machine import HostPoint, Machine
from omnitui.samples import Host, Load
from omnitui.ui.gpu_texts import SPAN_S, Frame, gib, marked, stale_row
from omnitui.ui.plots import columns, plot
from omnitui.ui.process_texts import who
from omnitui.ui.signs import Tone, span
from omnitui.ui.widgets.rows import Cell, Row

_LABEL = 10
_WIDE = 48


class AppCost(Struct, frozen=True):
    """What this app takes of one core, and which CPUs it keeps to."""

    percent: float | None = None
    said: str = ""


_SWAP_MIB = 1.0


def host_rows(machine: Machine, frame: Frame, cpus: str, disk: str, app: AppCost) -> tuple[Row, ...]:
    """All lines of the pane. `cpus` are the benchmark's, `disk` the results' folder."""
    head = marked(frame.marks)
    if machine.sample is None:
        return (*head, Row("", (Cell(f"✘ {machine.trouble}" if machine.trouble else "No reading yet.", "muted"),)))
    age_s = machine.host_age_s(frame.now)
    if machine.host_stale(frame.now):
        head.append(stale_row(age_s, trouble=machine.trouble))
    host = machine.sample.host
    body = [
        *_cpus(machine.host, host, frame, cpus),
        *(_load(one, frame.width) for one in host.loads or ()),
        _used("memory", host.memory_used_mib, host.memory_total_mib, brief=frame.width < _WIDE),
        _swap(host),
        _free("disk", host.disk_free_mib, host.disk_error),
        _free("/dev/shm", host.shm_free_mib, ""),
        _cost(machine, app.percent, brief=frame.width < _WIDE),
    ]
    room = max(0, frame.height - len(head) - len(body))
    body += list(_more(machine, frame, disk, app.said))[:room]
    return (*head, *body)


def _cpus(points: Sequence[HostPoint], host: Host, frame: Frame, cpus: str) -> Iterator[Row]:
    """The load of the benchmark's CPUs and of the others, or of all where the run names none."""
    last_at = points[-1].at if points else frame.now
    if cpus:
        past = [(one.at, one.bench_load) for one in points]
        yield _spark(f"CPUs {cpus}", past, host.bench_load, frame.width, last_at, "blue")
    past = [(one.at, one.other_load) for one in points]
    yield _spark("others" if cpus else "all CPUs", past, host.other_load, frame.width, last_at, "")


def _spark(
    name: str,
    past: Sequence[tuple[float, float | None]],
    value: float | None,
    width: int,
    last_at: float,
    tone: Tone,
) -> Row:
    label = name[: _LABEL - 2] + "…" if len(name) >= _LABEL else name
    shown = Cell("not told", "muted") if value is None else Cell(f"{value:.0f} %", width=5)
    room = width - _LABEL - max(shown.width, len(shown.text)) - 2
    (line,) = plot(columns(past, max(1, room), SPAN_S, last_at, mean=True), 100.0, 1, 0.0, tone)
    return Row("", (Cell(label, "muted", _LABEL), *line), (shown,))


def _load(one: Load, width: int) -> Row:
    whose = {True: Cell(" ours", "green"), False: Cell(" FOREIGN", "red"), None: Cell(" owner not told", "muted")}
    right = (Cell(f"{one.percent:.0f} %" + " of a core" * (width >= _WIDE)), whose[one.ours])
    room = width - sum(len(cell.text) for cell in right) - 4
    return Row("", (Cell(f"  {who(one, room)}"),), right)


def _named(name: str, value: Cell) -> Row:
    return Row("", (Cell(name, "muted", _LABEL), value))


def _used(name: str, used: float | None, total: float | None, *, brief: bool) -> Row:
    if used is None:
        return _named(name, Cell("not told", "muted"))
    share = f" ({100 * used / total:.0f} %)" if total and not brief else ""
    return _named(name, Cell(f"{gib(used)} of {gib(total)} GiB{share}"))


def _swap(host: Host) -> Row:
    if host.swap_in_mib is None or host.swap_out_mib is None:
        return _named("swap", Cell("not told", "muted"))
    if host.swap_in_mib + host.swap_out_mib < _SWAP_MIB:
        return _named("swap", Cell("nothing moved"))
    return _named("swap", Cell(f"✘ {host.swap_in_mib:.0f} MiB in, {host.swap_out_mib:.0f} MiB out", "red"))


def _free(name: str, mib: float | None, error: str) -> Row:
    if error:
        return _named(name, Cell(f"✘ {error}", "red"))
    if mib is None:
        return _named(name, Cell("not told", "muted"))
    return _named(name, Cell(f"{gib(mib)} GiB free", "red" if mib < 1024 else ""))


def _cost(machine: Machine, app_percent: float | None, *, brief: bool) -> Row:
    """What OmniTUI itself takes."""
    parts = (("monitor", machine.monitor_percent()), ("runner", machine.runner_percent()), ("app", app_percent))
    told = [(name, percent) for name, percent in parts if percent is not None]
    said = " · ".join(f"{name} {percent:.1f} %" for name, percent in told)
    if brief and told:
        said = f"{sum(percent for _, percent in told):.1f} % of a core"
    return _named("OmniTUI", Cell(said or "not told yet", "" if said else "muted"))


def _more(machine: Machine, frame: Frame, disk: str, app_said: str) -> Iterator[Row]:
    """What there is room for."""
    age_s = machine.host_age_s(frame.now)
    if age_s is not None and not machine.host_stale(frame.now):
        yield _named("read", Cell("now" if age_s < 2 else f"{span(age_s)} ago", "muted"))
    if disk:
        yield _named("results", Cell(disk, "muted"))
    for said in filter(None, (machine.started.said if machine.started else "", app_said)):
        yield _named("", Cell(said, "muted"))
