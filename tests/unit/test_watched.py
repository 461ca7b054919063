"""What the monitor is told to look at."""

from pathlib import Path

import msgspec
import pytest
from omnitui.containers import ContainerReading
from omnitui.runbook.gates import ContainerUp
from omnitui.runbook.narrow import narrow
from omnitui.runbook.schema import Environment, MoreResources, Passes, Phase, PlaceSpec, Resources, Variable
from omnitui.samples import wanted_of
from omnitui.store import RunFolder
from omnitui.watched import watched_of
from tests.unit.builders import runbook, state, step

ID = "c" * 64


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.places.mkdir(parents=True)
    return folder


def test_a_run_without_anything_of_its_own(run: RunFolder) -> None:
    watched = watched_of(runbook(), state(), run)
    assert (watched.gpus, watched.cpus, watched.contained, watched.containers) == ("", "", False, ())
    assert watched.run == state().run
    assert watched.disk == "/results/a/warm"


def test_what_the_runbook_names(run: RunFolder) -> None:
    gates = (ContainerUp(place="bench", cpuset="${CPUS}"),)
    book = runbook(
        variables={"GPU": Variable(help="x"), "CPUS": Variable(help="x"), "LATER": Variable(help="x")},
        resources=Resources(gpus="${GPU},1"),
        environments={"a": Environment(cpus="8-9"), "b": Environment(cpus="${LATER}"), "c": Environment()},
        phases=(Phase(id="setup", title="Setup", steps=(step("up", gates=gates),)),),
    )
    known = msgspec.structs.replace(state(), variables={"GPU": "0", "CPUS": "2-3"})
    watched = watched_of(book, known, run)
    assert (watched.gpus, watched.cpus) == ("0,1", "2-3,8-9")
    # What a step hands on is looked at from then on.
    known = msgspec.structs.replace(known, handed={"_/_": {"LATER": "12"}})
    assert watched_of(book, known, run).cpus == "12,2-3,8-9"


def test_all_gpus_that_the_run_has_for_itself_are_looked_at(run: RunFolder) -> None:
    book = runbook(
        variables={name: Variable(help="x") for name in ("PARTS", "GPU", "CI_GPUS", "LATER")},
        resources=Resources(
            gpus="${GPU}",
            also=(
                MoreResources(when={"PARTS": ("ci",)}, gpus="${CI_GPUS}"),
                MoreResources(when={"PARTS": ("judge",)}, gpus="${LATER}"),
            ),
        ),
    )

    def gpus(parts: str) -> tuple[str, ...]:
        variables = {"PARTS": parts, "GPU": "0", "CI_GPUS": "0,1"}
        known = msgspec.structs.replace(state(), variables=variables)
        return wanted_of(watched_of(narrow(book, variables), known, run).gpus)

    assert gpus("measure") == ("0",)
    assert gpus("measure,ci") == ("0", "1")
    # What a step still has to hand on hides none of the others.
    assert gpus("measure,ci,judge") == ("0", "1")


def test_containers_are_known_once_the_run_has_used_them(run: RunFolder) -> None:
    book = runbook(
        places={"bench": PlaceSpec(kind="docker", container="omni", jobs="/results/.omnitui")},
        passes=Passes(place="bench", out="/results/${SERIES}/${PASS}"),
    )
    watched = watched_of(book, state(), run)
    assert (watched.contained, watched.containers, watched.disk) == (True, (), str(run.path))
    (run.places / "broken.json").write_text("{")
    note = ContainerReading(name="omni", id=ID, running=True, mounts={"/results": "/data/bench"})
    (run.places / "omni.json").write_bytes(msgspec.json.encode(note))
    watched = watched_of(book, state(), run)
    assert (watched.containers, watched.disk) == ((ID,), "/data/bench/a/warm")
    assert f"--containers={ID}" in watched.argv(1.0)
