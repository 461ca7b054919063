"""A home for rehearsals, and a loud word where none can be made."""

import io
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from omnitui import store
from omnitui.actions.patience import DEFAULT, VARIABLE
from omnitui.cli import run_cli
from omnitui.errors import Blocked
from omnitui.model import REHEARSAL
from omnitui.places import Local
from omnitui.rehearsal import sandbox
from omnitui.store import RunFolder

DATA = Path(__file__).parents[1] / "data" / "runbooks"


@dataclass(frozen=True)
class Told:
    """How a rehearsal ended, and what it said."""

    code: int
    out: str
    run: RunFolder | None = None


WAITED_OUT = {"slow-start", "memory-kept"}
"""Faults that end red only when the time is up; with all others nothing may fail because a machine is busy."""


@pytest.fixture
def rehearse(
    home: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Told]]:
    """`omnitui rehearse ... --headless --yes`; nothing of it may be left when the test ends."""
    try:
        sandbox.check()
    except Blocked as error:
        pytest.skip(f"NO REHEARSAL IS TESTED HERE: {error}")

    def run(*arguments: str) -> Told:
        said = io.StringIO()
        monkeypatch.setenv(VARIABLE, str(DEFAULT if WAITED_OUT & {*arguments} else 1.0))
        with redirect_stdout(said), redirect_stderr(said):
            code = run_cli(["rehearse", *arguments, "--headless", "--yes"])
        captured = capfd.readouterr()
        runs = store.runs()
        return Told(code, said.getvalue() + captured.out + captured.err, runs[0] if runs else None)

    yield run
    left = [
        process.command
        for process in Local().processes()
        if not process.zombie and (Local().environ(process.pid) or {}).get(REHEARSAL, "").startswith(str(home))
    ]
    assert not left
