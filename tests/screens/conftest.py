"""Runs that stand still: made through the store, with fixed times, at every state that a screen shows."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from datetime import datetime
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from omnitui import store
from omnitui.gates import Green, Unknown
from omnitui.live import Shown
from omnitui.model import (
    SCHEMA,
    Asking,
    Ended,
    Failed,
    Identity,
    Passed,
    PassRecord,
    Running,
    RunState,
    ServerRecord,
    ended_attempt,
)
from omnitui.plan import lay_out
from omnitui.runbook import load, shelf
from omnitui.samples import (
    Boundary,
    Contaminated,
    Gpu,
    GpuLook,
    GpuProcess,
    Host,
    Line,
    Sample,
    Started,
    encoded,
)
from omnitui.store import Owned, RunFolder
from omnitui.ui.app import OmniApp
from omnitui.ui.screens import run as run_screen
from omnitui.ui.screens.home import HomeScreen
from omnitui.ui.screens.new_run import NewRunScreen
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.showing import gate_words
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.paint_budget import PaintBudget
from omnitui.watched import watched_of

DEMO = Path(__file__).parent / "data" / "demo"
NOW = datetime.fromisoformat("2026-03-02T12:00:00+00:00").timestamp()
ME = Identity(pid=4242, start=1, boot="demo")
ORDER = ("main/run0", "main/run1", "main/run2")
SERVER_LOG = "loading the model\n" + "".join(
    f'INFO: "POST /v1/audio/transcriptions" 200 #{n}\n' for n in range(60)
)


def stamp(ago_s: float) -> str:
    """A stored time, so many seconds before now."""
    at = datetime.fromtimestamp(NOW - ago_s).astimezone(
        tz=datetime.fromisoformat("2026-03-02T12:00:00+00:00").tzinfo
    )
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class FakeRuns:
    """Makes runs of the demo runbook below `home`."""

    me = ME

    def __init__(self, home: Path, stack: ExitStack) -> None:
        self._home = home
        self._stack = stack

    def make(self, kind: str, name: str = "20260302-115000-demo") -> RunFolder:
        """A run that is `held`, `running`, `failed`, `asking`, `complete`, `spoiled` or `corrupt`."""
        state = RunState(
            schema=SCHEMA,
            run=name,
            runbook="demo",
            runbook_sha256=load.digest(DEMO),
            title="Demo: a speech benchmark",
            created=stamp(600),
            schedule=ORDER,
            variables={"PORT": "8000", "MODE": "fast", "COMMIT": "5ed8a8d"},
            source=str(DEMO),
        )
        run = store.create(state, DEMO, load.files_of(DEMO))
        with store.owned(run, ME) as owned:
            getattr(self, f"_{kind}")(owned)
        if kind in ("running", "spoiled"):
            self._stack.enter_context(store.locked(run, ME, "runner"))
            os.utime(run.lock, (NOW - 547, NOW - 547))
        for file in (run.state, run.journal):
            os.utime(file, (NOW - 180, NOW - 180))
        return run

    def let_go(self) -> None:
        """The runners die."""
        self._stack.close()

    def _held(self, owned: Owned) -> None:
        pass

    def _corrupt(self, owned: Owned) -> None:
        owned.run.state.write_bytes(b"")

    def _asking(self, owned: Owned) -> None:
        _pass(owned, "_/_/packages", 1.2, "VENV_OK")
        asking = Asking(at=stamp(180), question="Have you read the licence of the model?")
        record = replace(owned.state.step("_/_/agree"), status=asking)
        owned.commit("asking", owned.state.with_step("_/_/agree", record))

    def _begin(self, owned: Owned, scope: str) -> None:
        book = load.load(DEMO)
        for planned in lay_out(book, ORDER):
            if planned.scope == scope:
                return
            words = gate_words(book, planned.step)
            _pass(owned, planned.id, 12.5, words[0] if words else "done")

    def _running(self, owned: Owned) -> None:
        self._begin(owned, "main/run1")
        _pass(owned, "main/run1/server", 94.0, "READY")
        up = ServerRecord(step="main/run1/server", job="jobs/main/run1/server/1")
        owned.commit("server", replace(owned.state, servers={"asr": up}))
        running = replace(owned.state.step("x"), status=Running(attempt=1, since=stamp(365)))
        owned.commit("step_started", owned.state.with_step("main/run1/client", running))
        _log(owned.run, "main/run1/server", SERVER_LOG)
        _log(owned.run, "main/run1/client", "warming up\n" + "".join(f"sample {n} of 40\n" for n in range(1, 27)))
        _telemetry(owned.run, *watched())
        os.utime(owned.run.job("main/run1/server", 1) / "log", (NOW - 42, NOW - 42))
        _live(
            owned.run,
            Shown("READY", "main/run1/server", "green", "127.0.0.1:8000 tiny 3 ms", NOW - 2),
            Shown("evaluated=(\\d+)", "main/run1/client", "unknown", "running; no line matches", NOW - 40),
        )

    def _spoiled(self, owned: Owned) -> None:
        """At work, with a history of gates, a bar, and two passes that are marked."""
        self._running(owned)
        run = owned.run
        client = "main/run1/client"
        for ago_s, step, word, verdict in (
            (460, "main/run1/server", "READY", Unknown("starting; no answer yet")),
            (366, "main/run1/server", "READY", Green("127.0.0.1:8000 tiny 3 ms")),
            (365, client, "evaluated=(\\d+)", Unknown("running; no line matches")),
        ):
            owned.commit("gate", step=step, word=word, verdict=verdict)
            _redate(run, stamp(ago_s))
        marks = {
            "main/run0": PassRecord(marks=("edited: client",)),
            "main/run1": PassRecord(marks=(f"foreign process 451 (python3 of root) on GPU 0 during {client}",)),
        }
        after = replace(owned.state, passes=marks)
        (reason,) = marks["main/run1"].marks
        owned.commit("contaminated", after, step=client, kind="foreign process", reason=reason)
        bar = "\rEvaluating:  59%|#####9    | 640/1088 [00:41<00:28, 15.6it/s]\r"
        with (run.job(client, 1) / "log").open("a", encoding="utf-8") as log:
            log.write(bar)

    def _failed(self, owned: Owned) -> None:
        self._begin(owned, "main/run1")
        reason = "READY: the server ended while starting (exit status 1); its last line: out of memory"
        _end(owned, "main/run1/server", 8.4, Failed(attempt=1, at=stamp(180), reason=reason))
        _log(owned.run, "main/run1/server", "loading the model\n\x1b[31mCUDA error\x1b[0m: [/] out of memory\n")
        gate = Shown("READY", "main/run1/server", "red", "the server ended while starting", NOW - 180, ends=True)
        _live(owned.run, gate)

    def _complete(self, owned: Owned) -> None:
        self._begin(owned, "")
        table = "demo            n  mean    sd\nWER             2  0.042   0.003\nthroughput      2  11.8    0.2\n"
        _log(owned.run, "_/_/table", table)


def _telemetry(run: RunFolder, *lines: Line) -> None:
    run.telemetry.write_bytes(b"".join(map(encoded, lines)))


def watched(count: int = 300) -> Iterator[Line]:
    """So many seconds of two cards: one fills while a server starts, a stranger sits on the other."""
    began = NOW - count
    yield Started(began, 4000, (0, 1), True, "the monitor keeps to CPUs 0-1, off the benchmark's 2-15")
    yield Boundary(began, "began", "main/run1/server", 1)
    for second in range(count):
        if second == 94:
            yield Boundary(began + 94, "ended", "main/run1/server", 1, "passed")
            yield Boundary(began + 94, "began", "main/run1/client", 1)
        if second == 250:
            reason = "foreign process 911 (python3 of mallory) on GPU 1 during main/run1/client"
            yield Contaminated(began + 250, "main/run1/client", "foreign process", reason)
        yield sample(began + second, second)


def sample(at: float, second: int) -> Sample:
    """One second of it."""
    used = min(61_200.0, 700.0 * second)
    ours = GpuProcess(4711, "kim", "VLLM::EngineCore", used, True)
    foreign = GpuProcess(911, "mallory", "python3 train.py", 20_480.0, False)
    busy = 97.0 if second > 94 else 0.0
    first = Gpu(
        "GPU-a", 0, "NVIDIA H200", used, 143_771.0, 615.0, busy, 612.0, 700.0, 61.0, 1980.0, 1980.0, (), (ours,)
    )
    second_used, holders = (20_480.0, (foreign,)) if second >= 250 else (3.0, ())
    cards = (
        first,
        replace(
            first,
            uuid="GPU-b",
            index=1,
            used_mib=second_used,
            utilisation=0.0,
            power_w=79.0,
            temperature_c=37.0,
            sm_mhz=345.0,
            throttle=("idle",),
            processes=holders,
        ),
    )
    host = Host(70.0 + second % 7, 3.0, 63_000.0, 515_000.0, 0.0, 0.0, 420_000.0, "", 64_000.0, (), 1.0)
    return Sample(at, GpuLook(cards, (), "NVML"), 0.0, host, 0.006 * second, 0.009 * second)


def _redate(run: RunFolder, at: str) -> None:
    """Give the journal's last line another time."""
    *before, last = run.journal.read_text(encoding="utf-8").splitlines()
    dated = json.dumps({**json.loads(last), "t": at}, ensure_ascii=False)
    run.journal.write_text("\n".join([*before, dated, ""]), encoding="utf-8")


def _pass(owned: Owned, step_id: str, seconds: float, word: str) -> None:
    _end(owned, step_id, seconds, Passed(attempt=1, at=stamp(300), evidence=(word,)))
    _log(owned.run, step_id, f"{word}\n")


def _end(owned: Owned, step_id: str, seconds: float, status: Ended) -> None:
    record = ended_attempt(owned.state.step(step_id), stamp(400), seconds, status)
    owned.commit("step_ended", owned.state.with_step(step_id, record))


def _log(run: RunFolder, step_id: str, text: str) -> None:
    folder = run.job(step_id, 1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "log").write_text(text, encoding="utf-8")


def _live(run: RunFolder, *gates: Shown) -> None:
    run.live.write_bytes(msgspec.json.encode(gates))


@asynccontextmanager
async def no_samples(_watched: object) -> AsyncIterator[AsyncIterator[Sample]]:
    """A monitor that tells nothing."""

    async def none() -> AsyncIterator[Sample]:
        await asyncio.Event().wait()
        yield Sample(at=NOW)

    yield none()


def all_read(app: OmniApp) -> bool:
    """Whether the Run screen shows its step, and every log that is in view is read and counted."""
    screen = app.screen
    if not isinstance(screen, RunScreen) or screen.snapshot is None or screen.selected_step() is None:
        return False
    logs = [log for log in screen.query(LogView) if log.path and log.size.height > 0 and log.is_on_screen]
    return all(log._page is not None and "counting" not in log._status() for log in logs)


@pytest.fixture
def fake_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeRuns]:
    """A home of its own, whose clocks stand still."""
    monkeypatch.setenv("OMNITUI_HOME", str(tmp_path))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for module in (load, shelf):
        monkeypatch.setattr(module, "library", lambda: DEMO.parent)
    for screen in (HomeScreen, RunScreen):
        monkeypatch.setattr(screen, "clock", staticmethod(lambda: NOW))
    # What this machine is like must not be in the pictures.
    monkeypatch.setattr(run_screen, "watched_of", lambda *run: replace(watched_of(*run), disk="/results"))
    monkeypatch.setattr(RunScreen, "own_samples", staticmethod(no_samples))
    monkeypatch.setattr(RunScreen, "app_percent", lambda screen: None)
    monkeypatch.setattr(NewRunScreen, "preflight", staticmethod(lambda runbook, values: []))
    with ExitStack() as stack:
        yield FakeRuns(tmp_path, stack)


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], Awaitable[None]]:
    """Waits for a fact."""

    async def wait(fact: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not fact():
                await asyncio.sleep(0.01)

    return wait


@pytest.fixture
def patient_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the machine is busy with, a key in a log is answered before the test goes on."""
    monkeypatch.setattr(LogView, "patience_s", 20.0)
    monkeypatch.setattr(LogView, "budget", PaintBudget(1e9, 1e9))
