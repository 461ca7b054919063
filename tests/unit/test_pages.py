"""Each benchmark page is in its runbook whole: every command, flag, revision and limit, in its place.

One data file a page, `tests/data/pages/<runbook>.toml`:

- `set`, `schedule`: what `omnitui show` is given.
- `contains`: texts of the page that its shell form must have.
- `[[lines]]`, to be stricter: `text` of the page under its `heading`, and the `step` whose shell form has it, or
  the `script` or `file` of the runbook's folder, as the page's document says as well. A line's own `set` is for a
  step that is there only then.
- `[limits]`: `server_timeout_s`, and `gpu_limit_mib` and `gpu_timeout_s` of every step that stops a server.
- `[workloads]`: how many samples each must have. `[metrics]`: file and path of each, in the page's order.
"""

import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from omnitui.plan import lay_out, schedule_of
from omnitui.runbook.check import problems
from omnitui.runbook.gates import GpuFree
from omnitui.runbook.load import load
from omnitui.runbook.narrow import narrow
from omnitui.runbook.schema import Runbook, Stop
from omnitui.runbook.variables import expand, resolved

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: tomllib.loads(path.read_text()) for path in sorted((ROOT / "tests/data/pages").glob("*.toml"))}
TEXTS = [(name, text) for name, page in PAGES.items() for text in page.get("contains", ())]
LINES = [(name, number) for name, page in PAGES.items() for number in range(len(page.get("lines", ())))]
Own: TypeAlias = tuple[tuple[str, str], ...]


@cache
def shown(name: str, own: Own = ()) -> str:
    """What `omnitui show --format sh` prints of a page's runbook."""
    page = PAGES[name]
    given = [f"--set={key}={value}" for key, value in {**page.get("set", {}), **dict(own)}.items()]
    given += [f"--schedule={page['schedule']}"] if "schedule" in page else []
    command = [sys.executable, "-m", "omnitui", "show", str(folder(name)), "--format", "sh", *given]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def folder(name: str) -> Path:
    return ROOT / "runbooks" / name


def runbook(name: str, own: Own = ()) -> Runbook:
    return narrow(load(folder(name)), values(name, own))


def values(name: str, own: Own = ()) -> dict[str, str]:
    variables = load(folder(name)).variables
    given: dict[str, str] = {key: variable.default or "" for key, variable in variables.items()}
    return {**given, **PAGES[name].get("set", {}), **dict(own)}


def flat(text: str) -> str:
    """Without line ends, so that a command may be broken elsewhere than on the page."""
    return re.sub(r"\s+", " ", text.replace("\\\n", " "))


def of_step(name: str, step: str, own: Own) -> str:
    """The shell form of every step with this id's title; titles may stand more than once."""
    book = runbook(name, own)
    order = schedule_of(book, PAGES[name].get("schedule")).order
    titles = {planned.step.title for planned in lay_out(book, order) if planned.step.id == step}
    assert titles, f"the runbook has no step {step}"
    blocks = re.split(r"^# -- ", shown(name, own), flags=re.M)
    return "\n".join(block for block in blocks if block.partition("\n")[0] in titles)


@pytest.mark.parametrize(("name", "text"), TEXTS)
def test_a_text_of_the_page_is_in_the_shell_form(name: str, text: str) -> None:
    assert flat(text) in flat(shown(name))


@pytest.mark.parametrize(("name", "number"), LINES)
def test_a_line_of_the_page_is_where_the_data_says(name: str, number: int) -> None:
    line: dict[str, Any] = PAGES[name]["lines"][number]
    inside = line.get("script") or line.get("file")
    own = tuple(line.get("set", {}).items())
    text = (folder(name) / inside).read_text() if inside else of_step(name, line["step"], own)
    assert flat(line["text"]) in flat(text)


@pytest.mark.parametrize("name", PAGES)
def test_bash_accepts_the_whole_page(name: str) -> None:
    assert problems(folder(name)) == []
    checked = subprocess.run(["bash", "-n"], input=shown(name), capture_output=True, text=True, check=False)
    assert checked.stderr == ""


@pytest.mark.parametrize("name", PAGES)
def test_the_documents_map_every_line(name: str) -> None:
    document = (ROOT / "docs" / "pages" / f"{name}.md").read_text()
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in document.splitlines()]
    told = {tuple(row[:3]) for row in rows}
    for line in PAGES[name].get("lines", ()):
        where = line.get("script") or line.get("file") or line["step"]
        text = flat(line["text"]).replace("|", "\\|")
        assert (line["heading"], f"`` {text} ``", f"`{where}`") in told


@pytest.mark.parametrize("name", PAGES)
def test_limits_are_the_pages(name: str) -> None:
    limits: dict[str, float] = PAGES[name].get("limits", {})
    book = runbook(name)
    if "server_timeout_s" in limits:
        assert {server.timeout_s for server in book.servers.values()} == {limits["server_timeout_s"]}
    stops = [step for phase in book.phases for step in phase.steps if isinstance(step, Stop)]
    for step in stops if "gpu_limit_mib" in limits else ():
        found = [(gate.limit_mib, gate.timeout_s) for gate in step.gates if isinstance(gate, GpuFree)]
        assert found == [(limits["gpu_limit_mib"], limits["gpu_timeout_s"])], step.id


@pytest.mark.parametrize("name", PAGES)
def test_samples_and_metrics_are_the_pages(name: str) -> None:
    page: dict[str, Any] = PAGES[name]
    book = runbook(name)
    known = resolved(values(name), dict.fromkeys(("RUN_DIR", "RUNBOOK", "SERIES", "PASS", "OUT"), ""))
    if "workloads" in page:
        assert {one.id: expand(one.expect, known) for one in book.workloads} == page["workloads"]
    if "metrics" in page:
        assert [[one.id, [one.file, one.path]] for one in book.metrics] == [
            list(p) for p in page["metrics"].items()
        ]
