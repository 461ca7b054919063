"""The judges that turn readings into verdicts. Pure.

What could not be read is `Unknown`: never green, never zero. `Moot` is a gate that asks about something that this
run does not have (a GPU on a machine without one); it neither earns nor blocks.
"""

from collections.abc import Mapping
from typing import TypeAlias, assert_never

from msgspec import Struct

from omnitui.assets import AssetsReading, Cached, Unread, said
from omnitui.containers import ContainerReading, differences
from omnitui.readings import CoverageReading, GpuReading, HealthReading, Listener, OutputReading, PortReading
from omnitui.runbook.gates import AssetsCached, ContainerUp, Coverage, Gate, GpuFree, Output, PortFree
from omnitui.runbook.schema import Server

# -- verdicts --------------------------------------------------------------------------------------------------


class Green(Struct, frozen=True, tag="green", tag_field="is"):
    """Earned; `reason` is the evidence."""

    reason: str


class Red(Struct, frozen=True, tag="red", tag_field="is"):
    """Cannot become green any more."""

    reason: str


class Unknown(Struct, frozen=True, tag="unknown", tag_field="is"):
    """Not yet, or not readable."""

    reason: str


class Moot(Struct, frozen=True, tag="moot", tag_field="is"):
    """Does not apply here."""

    reason: str


Verdict: TypeAlias = Green | Red | Unknown | Moot
Reading: TypeAlias = OutputReading | PortReading | GpuReading | CoverageReading | AssetsReading | ContainerReading

# -- judges ----------------------------------------------------------------------------------------------------


def judge(gate: Gate, reading: Reading) -> Verdict:
    """The verdict of a gate on a reading of its kind."""
    match gate, reading:
        case Output(), OutputReading():
            return judge_output(gate, reading)
        case PortFree(), PortReading():
            return judge_port_free(reading)
        case GpuFree(), GpuReading():
            return judge_gpu_free(gate, reading)
        case Coverage(), CoverageReading():
            return judge_coverage(reading)
        case AssetsCached(), AssetsReading():
            return judge_assets(reading)
        case ContainerUp(), ContainerReading():
            return judge_container(gate, reading)
        case _:
            return Unknown(f"a {type(reading).__name__} says nothing about {type(gate).__name__}")


def judge_output(gate: Output, reading: OutputReading) -> Verdict:
    """Green needs the word (or the pattern with the right captures) and an exit status that fits."""
    for word in gate.refuse:
        if word in reading.words:
            return Red(f"printed {word}")
    missing = _missing(gate, reading)
    if reading.lost:
        return Red("the job is gone and left no exit status")
    if reading.exit is None:
        said = f"printed {_asked(gate, reading)}; still running" if gate.word or gate.pattern else "running"
        return Unknown(f"running; {missing}" if missing else said)
    if reading.exit not in gate.exit:
        return Red(f"exit status {reading.exit}" + (f"; {missing}" if missing else ""))
    if missing:
        return Red(f"exit status {reading.exit}, but {missing}")
    return Green(_asked(gate, reading))


def _asked(gate: Output, reading: OutputReading | None = None) -> str:
    if gate.word:
        return gate.word
    if not gate.pattern:
        return f"exit status {reading.exit}" if reading else "nothing"
    return reading.matched.get(gate.pattern, gate.pattern) if reading else gate.pattern


def _missing(gate: Output, reading: OutputReading) -> str:
    if gate.word and gate.word not in reading.words:
        return f"{gate.word} not printed"
    if gate.pattern:
        captured = reading.captures.get(gate.pattern)
        if captured is None:
            return f"{gate.name} not printed" if gate.name else f"no line matches {gate.pattern}"
        if gate.equals and captured != gate.equals:
            return f"{gate.pattern} gave {', '.join(captured)} instead of {', '.join(gate.equals)}"
    return ""


def judge_port_free(reading: PortReading) -> Verdict:
    """Free means that nobody listens; what cannot be read is not free."""
    if reading.error:
        return Unknown(f"port {reading.port}: {reading.error}")
    if reading.listeners:
        return Unknown(f"port {reading.port} is held by {who(reading.listeners[0])}")
    return Green(f"nobody listens on port {reading.port}")


def who(listener: Listener) -> str:
    """The process that listens, in words."""
    if listener.pid is None:
        return "a process of another user"
    of_run = f" of run {listener.run}" if listener.run else ""
    return f"pid {listener.pid} ({listener.command}){of_run}"


def judge_ready(server: Server, model: str, reading: HealthReading) -> Verdict:
    """READY: our process lives, itself listens, its health page says 200, and it serves the model asked for."""
    if not reading.alive:
        how = "left no exit status" if reading.exit is None else f"exit status {reading.exit}"
        return Red(f"the server ended while starting ({how})")
    port = reading.port
    if port.error:
        return Unknown(f"port {port.port}: {port.error}")
    if not port.listeners:
        return Unknown(f"nobody listens on port {port.port} yet")
    foreign = next((listener for listener in port.listeners if not listener.ours), None)
    if foreign:
        return Red(f"port {port.port} is held by {who(foreign)}, not by our server")
    if reading.status is None:
        return Unknown(f"{server.health} does not answer: {reading.error}")
    if reading.status != 200:
        return Unknown(f"{server.health} answers {reading.status}")
    if model and reading.models is None:
        return Unknown(f"/v1/models does not answer: {reading.error}")
    if model and reading.models is not None and model not in reading.models:
        return Red(f"the server serves {', '.join(reading.models) or 'no model'}, not {model}")
    return Green(f"127.0.0.1:{port.port} {model} {reading.latency_s * 1000:.0f} ms".replace("  ", " "))


def judge_gpu_free(gate: GpuFree, reading: GpuReading) -> Verdict:
    """Free means: every card of the run was read, is below the limit, and no process of ours is left."""
    if reading.ours_left:
        return Unknown(f"still alive: pid {', '.join(map(str, reading.ours_left))}")
    if reading.absent:
        return Red(reading.absent) if gate.needs_gpu else Moot(reading.absent)
    if reading.error:
        return Unknown(reading.error)
    if not reading.wanted:
        return Red("the run names no GPU") if gate.needs_gpu else Moot("the run uses no GPU")
    if len(reading.cards) < len(reading.wanted):
        if reading.unread:
            return Unknown("; ".join(reading.unread))
        return Red(f"only {len(reading.cards)} of the GPUs {', '.join(reading.wanted)} are there")
    shown = ", ".join(f"GPU{c.index} {c.used_mib:.0f} of {c.total_mib:.0f} MiB" for c in reading.cards)
    # Written so that a NaN is not free.
    if all(card.used_mib < gate.limit_mib for card in reading.cards):
        return Green(f"{shown}, below {gate.limit_mib}")
    return Unknown(f"{shown}, not below {gate.limit_mib}")


def judge_coverage(reading: CoverageReading) -> Verdict:
    """Green when every workload was read and nothing is wrong with any of them."""
    if reading.error:
        return Red(reading.error)
    if not reading.workloads:
        return Red("no workload was read")
    wrong = [f"{one.id}: {reason}" for one in reading.workloads for reason in one.wrong]
    wrong += reading.missing
    # Zero samples of zero are no evidence.
    short = [w for w in reading.workloads if w.rows != w.expected or w.unique != w.expected or w.expected < 1]
    if wrong or short:
        return Red("; ".join(wrong or [f"{w.id}: {w.rows} of {w.expected}" for w in short]))
    return Green(", ".join(f"{one.id} {one.rows}/{one.expected}" for one in reading.workloads))


def judge_assets(reading: AssetsReading) -> Verdict:
    """Green when every asset is there, whole, at its revision; unknown when one could not be looked at."""
    if reading.error:
        return Unknown(reading.error)
    if not reading.assets:
        return Moot("the run wants no assets")
    lacking = [one for one in reading.assets if not isinstance(one.state, Cached)]
    if not lacking:
        return Green(", ".join(f"{one.asset.id} {said(one)}" for one in reading.assets))
    told = "; ".join(f"{one.asset.id}: {said(one)}" for one in lacking)
    return Unknown(told) if all(isinstance(one.state, Unread) for one in lacking) else Red(told)


def judge_container(gate: ContainerUp, reading: ContainerReading) -> Verdict:
    """Green when it runs and all that the gate names is so; every difference is told. `gate` is expanded."""
    if reading.here:
        return Moot("OmniTUI itself runs there; no container is looked at")
    if reading.error:
        return Unknown(reading.error)
    if not reading.id:
        return Red(f"there is no container {reading.name}")
    if wrong := differences(gate, reading):
        return Red(f"container {reading.name}: {'; '.join(wrong)}")
    return Green(f"{reading.name} ({reading.id[:12]}) runs {gate.image or reading.image}")


def earned(verdicts: Mapping[str, Verdict]) -> bool:
    """Whether a step's gates let it pass: at least one is green and none is red or unknown."""
    greens = 0
    for verdict in verdicts.values():
        match verdict:
            case Green():
                greens += 1
            case Moot():
                pass
            case Red() | Unknown():
                return False
            case _:
                assert_never(verdict)
    return greens > 0


def word_of(gate: Gate) -> str:
    """What the gate is called on the page."""
    if isinstance(gate, Output):
        return gate.name or gate.word or gate.pattern or "exit"
    return gate.word
