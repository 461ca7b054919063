"""What the runner costs over plain bash, and how soon it sees a word, an exit and a healthy server.

Plain bash is measured in turn with the runner, so that what the machine does meanwhile happens to both.
"""

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from omnitui import store, supervise
from omnitui.store import RunFolder

from tests.bench.measuring import PATIENCE_S, Figure
from tests.ports import free_ports

ROUNDS = 3
TAIL = 50
"""The steps at the end of a long run that are timed: the state is as large as it gets."""
HEAD = 'schema = 1\ntitle = "Bench"\nsummary = "Bench."\n'
STEP = '[[phases.steps]]\nid = "s{0}"\ntitle = "Step {0}"\nrun = "true"\n'


def runbook(folder: Path, text: str) -> Path:
    """A runbook made for a measurement."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "runbook.toml").write_text(HEAD + text)
    return folder


def finished(run: RunFolder, timeout_s: float = PATIENCE_S) -> list[dict[str, Any]]:
    """The journal of a run whose runner has ended."""
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        time.sleep(0.2)
        supervise.reap()
        events, _ = store.events(run)
        if events[-1]["event"] == "runner_ended":
            return events
    raise TimeoutError(f"{run.path} has not ended")


def moments(events: list[dict[str, Any]], kind: str) -> list[float]:
    """When events of one kind were written, in epoch seconds."""
    return [datetime.fromisoformat(event["t"]).timestamp() for event in events if event["event"] == kind]


def plain_bash_ms(scripts: Path, count: int = 100) -> float:
    """One script after the other by bash alone, milliseconds each."""
    script = scripts / "true.sh"
    script.write_text("true\n")
    loop = f"for i in $(seq {count}); do bash {script}; done"
    begun = time.perf_counter()
    subprocess.run(["bash", "-c", loop], check=True)
    return (time.perf_counter() - begun) * 1000 / count


def steps(folder: Path) -> Iterator[Figure]:
    """What a trivial step costs, every save with its fsync included."""
    for count in (60, 300):
        book = runbook(
            folder / f"steps{count}",
            '[[phases]]\nid = "p"\ntitle = "P"\n' + "".join(STEP.format(i) for i in range(count)),
        )
        over, ratios = [], []
        for _ in range(ROUNDS):
            plain = plain_bash_ms(folder)
            run = supervise.make_run(str(book), {}, None)
            supervise.start(run)
            events = finished(run)
            begun = moments(events, "step_started")[-TAIL]
            each = (moments(events, "step_ended")[-1] - begun) * 1000 / TAIL
            over.append(each - plain)
            ratios.append(each / plain)
        yield Figure(f"step_over_plain_bash_at_{count}", statistics.median(over), "ms", 12.0)
        yield Figure(f"step_ratio_to_plain_bash_at_{count}", statistics.median(ratios), "x", float("inf"))


SEEN = """
[[phases]]
id = "p"
title = "P"
"""
WORD = """
[[phases.steps]]
id = "s{0}"
title = "S"
run = '''
sleep 0.2
date +%s.%N > "$RUN_DIR/word{0}"
echo SEEN
sleep 0.3
date +%s.%N > "$RUN_DIR/exit{0}"
'''
gates = [{{ gate = "output", word = "SEEN" }}]
"""


def words_and_exits(folder: Path, count: int = 20) -> Iterator[Figure]:
    """From `echo WORD` to the gate that has seen it, and from the script's last line to the step's end."""
    run = supervise.make_run(
        str(runbook(folder / "words", SEEN + "".join(WORD.format(i) for i in range(count)))), {}, None
    )
    supervise.start(run)
    events = finished(run)
    seen: dict[str, float] = {}
    ended: dict[str, float] = {}
    for event in events:
        at = datetime.fromisoformat(event["t"]).timestamp()
        if event["event"] == "gate" and "still running" in event["verdict"]["reason"]:
            seen.setdefault(event["step"], at)
        if event["event"] == "gate" and event["verdict"]["is"] == "green":
            ended.setdefault(event["step"], at)
    # A busy machine may see a word only when its step has ended: that late.
    first = ended | seen
    printed = [first[f"_/_/s{i}"] - float((run.path / f"word{i}").read_text()) for i in range(count)]
    left = [ended[f"_/_/s{i}"] - float((run.path / f"exit{i}").read_text()) for i in range(count)]
    # The journal's clock has milliseconds, and bash itself needs two to say the time and to end.
    yield Figure("word_seen_after", statistics.median(printed) * 1000, "ms", 10.0)
    yield Figure("exit_seen_after", statistics.median(left) * 1000, "ms", 10.0)


SERVER = """
[servers.s]
title = "S"
port = "{port}"
timeout_s = 300

[[phases]]
id = "p"
title = "P"

[[phases.steps]]
id = "serve"
title = "Serve"
do = "serve"
server = "s"
run = 'exec "$OMNITUI_PYTHON" -m tests.bench.bench_runner {port} "$RUN_DIR" {late_s}'

[[phases.steps]]
id = "stop"
title = "Stop"
do = "stop"
server = "s"
gates = [{{ gate = "port_free", port = "{port}" }}]
"""
_ILL_S = 7.0
PERIOD_S = 0.22


def serve(port: int, folder: Path, late_s: float) -> None:
    """Answer 503 for a while, then 200; write down when the change came."""
    well = threading.Event()

    class Health(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200 if well.is_set() else 503)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    def recover() -> None:
        time.sleep(_ILL_S + late_s)
        # Once it is well it may be stopped at any moment.
        (folder / "well").write_text(str(time.time()))
        well.set()

    threading.Thread(target=recover, daemon=True).start()
    HTTPServer(("127.0.0.1", port), Health).serve_forever()


def health(folder: Path, rounds: int = 5) -> Iterator[Figure]:
    """From a server's first healthy moment to READY, and what waiting for it costs."""
    late, cost, ports = [], [], free_ports()
    for number in range(rounds):
        port = next(ports)
        # The change comes at another moment of the poll's period each time.
        text = SERVER.format(port=port, late_s=number / rounds * PERIOD_S)
        run = supervise.make_run(str(runbook(folder / f"health{number}", text)), {}, None)
        pid = supervise.start(run)
        # Waiting is what costs for minutes; starting is over by then.
        time.sleep(2.0)
        used = cpu_s(pid)
        time.sleep(_ILL_S - 4.0)
        cost.append((cpu_s(pid) - used) * 60 / (_ILL_S - 4.0))
        events = finished(run)
        ready = next(
            datetime.fromisoformat(e["t"]).timestamp()
            for e in events
            if e["event"] == "gate" and e["word"] == "READY" and e["verdict"]["is"] == "green"
        )
        late.append(ready - float((run.path / "well").read_text()))
    yield Figure("health_seen_after_mean", statistics.mean(late), "s", 0.15)
    yield Figure("health_wait_cpu", statistics.median(cost), "CPU s/min", 0.5)


def cpu_s(pid: int) -> float:
    """CPU seconds of a process and its threads. The scheduler counts nanoseconds; `/proc/PID/stat` only ticks."""
    spent = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        # A thread may end between two looks.
        with suppress(FileNotFoundError, ProcessLookupError):
            spent += int((task / "schedstat").read_text().split()[0])
    return spent / 1e9


def measure(folder: Path) -> Iterator[Figure]:
    """All figures of the runner."""
    os.environ["OMNITUI_HOME"] = str(folder / "home")
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
    yield from steps(folder)
    yield from words_and_exits(folder)
    yield from health(folder)


if __name__ == "__main__":
    serve(int(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]))
