"""From a snapshot to what the Server pane shows. Pure."""

from collections.abc import Iterator, Mapping

from omnitui.live import Shown
from omnitui.model import StepRecord
from omnitui.snapshot import GONE, STALE_S, Snapshot
from omnitui.ui.signs import GATES, epoch, span
from omnitui.ui.widgets.rows import Cell, Row

_LABEL = 8
_WRITES_S = 10.0
"""A log that was written so lately is not called silent."""


def server_rows(snapshot: Snapshot, log_times: Mapping[str, float], now: float) -> tuple[Row, ...]:
    """Each server that is up: health and latency, port and model, age of the look, starts, silence of its log.

    `log_times` are when the logs were last written, by server, in seconds since the epoch.
    """
    rows: list[Row] = []
    for name, record in snapshot.state.servers.items():
        spec = snapshot.runbook.servers.get(name)
        gates = [gate for gate in snapshot.gates if gate.about == record.step and spec and gate.word == spec.word]
        rows += [Row("", ())] * bool(rows)
        gate = gates[-1] if gates else None
        if name in snapshot.gone:
            rows += _gone(name, gate)
        else:
            rows += _health(name, gate, now, watched=snapshot.holder is not None)
        rows += _life(snapshot.state.step(record.step), now, lives=name not in snapshot.gone)
        rows.append(_silence(log_times.get(name), now))
    return tuple(rows) or (Row("", (Cell("No server is up.", "muted"),)),)


def _health(name: str, gate: Shown | None, now: float, *, watched: bool) -> Iterator[Row]:
    """Whether it is READY, by which look, and how old that is. Nobody looks while no runner is at work."""
    if gate is None:
        yield Row("", (Cell("◌ ", "warn"), Cell(name, "strong"), Cell("  not looked at yet", "muted")))
        return
    age_s = max(0.0, now - gate.at)
    late = age_s >= STALE_S
    sign = GATES["stale" if late else gate.kind]
    word = f"STALE {span(age_s)}" if late else gate.word
    age = "" if late else "now" if age_s < _WRITES_S else f"{span(age_s)} old"
    yield Row("", (Cell(f"{sign.symbol} {word} ", sign.tone), Cell(name, "strong")), (Cell(age, "muted"),))
    yield _named("health", gate.reason if watched else f"{gate.reason} (no runner looks)")
    if gate.kind == "green" and not late:
        yield _named("port", "held by this run's server, and by nobody else")


def _gone(name: str, gate: Shown | None) -> Iterator[Row]:
    sign = GATES["red"]
    yield Row("", (Cell(f"{sign.symbol} gone ", sign.tone), Cell(name, "strong")))
    yield _named("health", gate.reason if gate else GONE)


def _life(record: StepRecord, now: float, *, lives: bool) -> Iterator[Row]:
    last = record.attempts[-1] if record.attempts else None
    starts = max(1, len(record.attempts))
    up = f" · up {_steady(now - epoch(last.began))}" if last and lives else ""
    yield _named("starts", f"{starts}{up}")


def _silence(written: float | None, now: float) -> Row:
    if written is None:
        return _named("log", "cannot be looked at")
    silent_s = now - written
    return _named("log", "being written" if silent_s < _WRITES_S else f"silent for {_steady(silent_s)}")


def _steady(seconds: float) -> str:
    """A duration that changes once a minute after the first."""
    return span(seconds if seconds < 60 else seconds // 60 * 60).removesuffix(" 00s")


def _named(name: str, value: str) -> Row:
    return Row("", (Cell(name, "muted", _LABEL), Cell(value)))
