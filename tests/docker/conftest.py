"""One engine for all tests here, and a container with a desk in front of it for each."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from omnitui.places import open_place
from omnitui.places.agent import close_agents
from omnitui.places.docker import Docker
from omnitui.runbook.schema import PlaceSpec
from omnitui.store import RunFolder
from tests.docker.engine import IMAGE, Engine, NoEngine, running
from tests.flow.desk import RUNBOOKS, Desk
from tests.waiting import until

JOBS = "/work/.omnitui"
"""Where jobs lie in the container; the host's `work` is mounted at /work."""
_PLACE = f"""
[places.bench]
kind = "docker"
container = "${{CONTAINER}}"
jobs = "{JOBS}"

[variables.CONTAINER]
help = "The container's name."

[variables.IMAGE]
default = ""
help = "The image that it must have."

[variables.MOUNTED]
default = ""
help = "What /work must show."
"""
_STARTS = """
[[phases.steps]]
id = "container"
title = "The container"
look_first = true
run = "exit 1"
gates = [{ gate = "container", place = "bench", image = "${IMAGE}", mounts = { "/work" = "${MOUNTED}" } }]

[[phases.steps]]
id = "prepare"
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.docker)


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    try:
        with running() as one:
            yield one
    except NoEngine as error:
        pytest.skip(str(error))


@dataclass(frozen=True)
class Box:
    """A container whose /work is a folder of the host."""

    engine: Engine
    name: str
    work: Path

    def start(self, *options: str) -> None:
        mount = f"{self.work}:/work"
        self.engine.docker(
            *("run", "--detach", "--name", self.name, "--network", "host", "--volume", mount, *options),
            *(IMAGE, "sleep", "infinity"),
        )

    def place(self, run: RunFolder | None = None) -> Docker:
        place = open_place(PlaceSpec(kind="docker", container=self.name, jobs=JOBS), run)
        assert isinstance(place, Docker)
        return place

    def commands(self) -> list[str]:
        """The living processes, but for the container's own and whoever looks."""
        listed = self.engine.docker("top", self.name, "-eo", "pid,stat,args").splitlines()[1:]
        rows = [line.split(None, 2) for line in listed]
        living = [command for _, stat, command in rows if not stat.startswith("Z")]
        aside = ("sleep infinity", "/sbin/docker-init", "/dev/init", "python3 -I -S -c")
        return [line for line in living if not line.startswith(aside)]


@pytest.fixture
def box(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Box]:
    """A name and a folder for a container, and the engine in the environment; the test starts it."""
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    work = engine.folder / tmp_path.name
    (work / "control").mkdir(parents=True)
    one = Box(engine, f"box-{tmp_path.name}".lower().strip("-_"), work)
    yield one
    if one.name in engine.docker("ps", "--all", "--format", "{{.Names}}").split():
        if one.name in engine.docker("ps", "--format", "{{.Names}}").split():
            until(lambda: not one.commands(), about=f"nothing lives in the container: {one.commands()}")
        engine.docker("rm", "--force", one.name)
    open_place.cache_clear()


@pytest.fixture
def boxed(box: Box, tmp_path: Path, home: Path, free_port: int) -> Iterator["Boxed"]:
    """The mini runbook with its bench in the container, and a desk."""
    folder = tmp_path / "boxed"
    (folder / "scripts").mkdir(parents=True)
    for script in (RUNBOOKS / "mini" / "scripts").iterdir():
        if script.is_file():
            (folder / "scripts" / script.name).write_bytes(script.read_bytes())
    text = (RUNBOOKS / "mini" / "runbook.toml").read_text()
    text = text.replace("[environments.bench]\n", '[environments.bench]\nplace = "bench"\n')
    text = text.replace("[passes]\n", '[passes]\nplace = "bench"\n')
    text = text.replace('[[phases.steps]]\nid = "prepare"\n', _STARTS.lstrip(), 1)
    (folder / "runbook.toml").write_text(text + _PLACE)
    desk = Boxed(home, free_port, box.work / "control", box=box, folder=folder)
    try:
        yield desk
        # Verbs run in this process, so their looks into the container do too.
        close_agents()
        until(lambda: not desk.processes(), about="the runner has ended")
    finally:
        left = desk.clear()
    assert not left, f"left over: {left}"


@dataclass
class Boxed(Desk):
    """A desk whose runs work in a container."""

    box: Box = None  # type: ignore[assignment]
    folder: Path = Path()

    def arguments(self, *more: str, **values: str) -> tuple[str, ...]:
        """The arguments that run the runbook."""
        inside = {"CONTROL": "/work/control", "WORK": "/work/results", "TRACE": "/work/trace.txt"}
        known = {"PORT": str(self.port), "CONTAINER": self.box.name, "MOUNTED": str(self.box.work), **inside}
        sets = [f"--set={name}={value}" for name, value in {**known, **values}.items()]
        return ("run", str(self.folder), "--schedule", "one", "--yes", *sets, *(more or ("--headless",)))
