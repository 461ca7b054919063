import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from omnitui import store, supervise
from omnitui.claims import claimed
from omnitui.model import Identity, Passed, ended_attempt
from omnitui.plan import lay_out
from omnitui.runbook.narrow import of_run
from omnitui.ui.app import OmniApp
from omnitui.ui.messages import RunMade
from omnitui.ui.new_run_messages import HostChecked
from omnitui.ui.screens import new_run
from omnitui.ui.screens.help import HelpScreen
from omnitui.ui.screens.home import HomeScreen
from omnitui.ui.screens.new_run import NewRunScreen
from omnitui.ui.screens.references import ReferencesScreen
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.widgets.schedule_pane import SchedulePane
from omnitui.ui.widgets.ticks import Ticks
from omnitui.ui.widgets.variable_field import VariableField
from tests.books import make_book
from textual.pilot import Pilot
from textual.widgets import Button, Input, Select, Static

Until = Callable[[Callable[[], bool]], Awaitable[None]]
DUO = str(Path(__file__).parents[1] / "data" / "runbooks" / "duo")

PORTY = """
schema = 1
title = "Porty"
summary = "Wants a port for itself."
resources = { ports = ["${PORT}"] }
variables.PORT = { default = "8000", help = "The port." }
[[phases]]
id = "all"
title = "All"
steps = [{ id = "one", title = "One", run = "true" }]
"""


@asynccontextmanager
async def opened(
    until: Until, runbook: str = "demo", fields: int = 4, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[tuple[Pilot[Any], OmniApp]]:
    app = OmniApp(runbook=runbook)
    async with app.run_test(size=size) as pilot:
        await until(lambda: isinstance(app.screen, NewRunScreen) and app.screen.checked)
        await until(lambda: len(app.screen.query(VariableField)) == fields)
        yield pilot, app


def duo(until: Until, size: tuple[int, int] = (120, 40)) -> Any:
    return opened(until, DUO, 9, size)


def passes(app: OmniApp) -> str:
    return str(app.screen.query_one("#passes", Static).content)


def field(app: OmniApp, name: str) -> VariableField:
    return next(one for one in app.screen.query(VariableField) if one.variable_name == name)


async def fill(pilot: Pilot[Any], app: OmniApp, name: str, value: str) -> None:
    field(app, name).query_one(Input).value = value
    await pilot.pause()


async def test_a_value_that_does_not_fit_is_refused_beside_its_field(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOKEN", raising=False)
    async with opened(until) as (pilot, app):
        assert [field(app, name).refused for name in ("PORT", "MODE")] == ["", ""]
        assert field(app, "COMMIT").refused == "needs a value"
        assert field(app, "TOKEN").refused == "needed: it is not in the environment"
        assert field(app, "TOKEN").query_one(Input).password
        await until(lambda: isinstance(app.focused, Input))
        await fill(pilot, app, "PORT", "[/")
        assert field(app, "PORT").refused.startswith("must match")
        assert field(app, "PORT").has_class("-refused")
        await pilot.press("ctrl+s")
        assert app.focused is field(app, "PORT").query_one(Input)
        assert not store.runs()


async def test_a_start_that_is_refused_leaves_the_fields_and_no_run(
    fake_runs: Any, until: Until, tmp_path: Path
) -> None:
    book = make_book(tmp_path / "porty", PORTY)
    async with opened(until, book, 1) as (pilot, app):
        await fill(pilot, app, "PORT", "8123")
        with claimed({"port-8123": "port 8123"}, "another"):
            await pilot.press("ctrl+s")
            await until(
                lambda: "port 8123 belongs to run another" in " ".join(n.message for n in app._notifications)
            )
        await pilot.pause()
        assert isinstance(app.screen, NewRunScreen) and not store.runs()
        assert field(app, "PORT").value == "8123"
        await pilot.press("ctrl+s")
        await until(lambda: isinstance(app.screen, RunScreen) and app.screen.snapshot is not None)
        (run,) = store.runs()
        await until(lambda: store.holder(run) is None)


async def test_what_was_given_last_is_in_the_run(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "hunter2")
    async with opened(until) as (_pilot, app):
        screen = app.screen
        assert isinstance(screen, NewRunScreen)
        field(app, "COMMIT").query_one(Input).value = "5ed8a8d"
        field(app, "MODE").query_one(Select).value = "exact"
        screen.query_one("#schedules", Select).value = "one"
        screen.action_make(False)  # before any of them has told of its change
        await until(lambda: isinstance(app.screen, RunScreen))
        (run,) = store.runs()
        state = store.read(run)
        assert (state.variables["COMMIT"], state.variables["MODE"]) == ("5ed8a8d", "exact")
        assert state.schedule == ("main/run1",)


async def test_a_run_that_is_made_takes_the_place_of_its_form_not_of_what_was_opened_over_it(
    fake_runs: Any, until: Until
) -> None:
    run = fake_runs.make("held")
    async with opened(until) as (_pilot, app):
        form = app.screen
        app.action_help()
        await until(lambda: isinstance(app.screen, HelpScreen))
        form.post_message(RunMade(run.path))
        await until(lambda: isinstance(app.screen, RunScreen))
        assert not any(isinstance(one, NewRunScreen | HelpScreen) for one in app.screen_stack)


async def test_a_run_that_is_made_when_its_form_was_left_takes_no_place(fake_runs: Any, until: Until) -> None:
    run = fake_runs.make("held")
    async with opened(until) as (pilot, app):
        # Both are on their way: the run and the key.
        app.screen.post_message(RunMade(run.path))
        app.pop_screen()
        await pilot.pause()
        assert [type(one) for one in app.screen_stack] == [HomeScreen]


async def test_make_without_starting(fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKEN", raising=False)
    async with opened(until) as (pilot, app):
        await fill(pilot, app, "COMMIT", "5ed8a8d")
        await fill(pilot, app, "TOKEN", "hunter2")
        field(app, "MODE").query_one(Select).value = "exact"
        app.screen.query_one("#schedules", Select).value = "one"
        await until(lambda: "One scored run" in str(app.screen.query_one("#passes", Static).content))
        app.screen.query_one("#make", Button).press()
        await until(lambda: isinstance(app.screen, RunScreen) and app.screen.snapshot is not None)
        (run,) = store.runs()
        state = store.read(run)
        assert state.variables == {"PORT": "8000", "MODE": "exact", "COMMIT": "5ed8a8d"}
        assert state.schedule == ("main/run1",)
        assert isinstance(app.screen, RunScreen) and app.screen.snapshot is not None
        assert app.screen.secrets == {"TOKEN": "hunter2"}
        assert not any(b"hunter2" in file.read_bytes() for file in run.path.rglob("*") if file.is_file())
        assert app.screen.snapshot.outcome == "held"
        await pilot.press("escape")
        await until(lambda: not isinstance(app.screen, RunScreen | NewRunScreen))


async def test_who_leaves_before_the_fields_are_there_leaves_no_error(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As when the app ends meanwhile: the fields have gone, and none is one to ask for.
    monkeypatch.setattr(new_run, "asked_for", lambda runbook, given: frozenset())
    async with opened(until) as (_, app):
        await until(lambda: len(app.screen.query(SchedulePane)) == 1)


async def test_a_secret_of_the_environment_need_not_be_typed(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "hunter2")
    async with opened(until) as (_, app):
        assert not field(app, "TOKEN").refused


async def test_a_runbook_cannot_draw_or_write_markup(fake_runs: Any, until: Until, tmp_path: Path) -> None:
    folder = tmp_path / "evil"
    folder.mkdir()
    evil = r"[/] \u001b[2J [bold"
    (folder / "runbook.toml").write_text(
        f'schema = 1\ntitle = "{evil}"\nsummary = "{evil}"\n'
        f'[variables.A]\nhelp = "{evil}"\ndefault = "x"\nchoices = ["x", "{evil}"]\n'
        f"[variables.B]\nhelp = \"{evil}\"\npattern = '\\['\n"
        f'[[schedules]]\nid = "a"\ntitle = "{evil}"\norder = ["main/a"]\n'
        f'[[schedules]]\nid = "b"\ntitle = "{evil}"\norder = ["main/b"]\n'
        f'[passes]\nout = "/nowhere/${{PASS}}"\n[[phases]]\nid = "p"\ntitle = "{evil}"\nper = "pass"\n'
        f'[[phases.steps]]\nid = "s"\ntitle = "{evil}"\nnote = "{evil}"\nrun = "echo \'{evil}\'"\n'
        f'remedies = [{{ say = "{evil}", run = "{evil}" }}]\n'
    )
    app = OmniApp(runbook=str(folder))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: isinstance(app.screen, NewRunScreen) and app.screen.checked)
        await until(lambda: len(app.screen.query(VariableField)) == 2)
        field(app, "A").query_one(Select).expanded = True
        await fill(pilot, app, "B", evil)
        await fill(pilot, app, "B", "[")
        await pilot.press("escape")
        app.screen.query_one("#make", Button).press()
        await until(lambda: isinstance(app.screen, RunScreen) and app.screen.snapshot is not None)
        for key in ("c", "n", "i", "o", "e"):
            await pilot.press(key)
        assert "control characters" in " ".join(one.message for one in app._notifications)
        assert "\x1b[2J" not in app.export_screenshot()


async def test_a_runbook_that_is_wrong_cannot_be_run(fake_runs: Any, until: Until, tmp_path: Path) -> None:
    text = "schema = 1\ntitle = 'Wrong'\nsummary = ''\n[variables.A]\nhelp = ''\npattern = '['\n"
    app = OmniApp(runbook=make_book(tmp_path / "wrong", text))
    async with app.run_test() as pilot:
        await until(lambda: isinstance(app.screen, NewRunScreen) and app.screen.checked)
        await until(lambda: "not a regular expression" in str(app.screen.query_one("#preflight", Static).content))
        await pilot.press("ctrl+s")
        assert isinstance(app.screen, NewRunScreen) and not store.runs()


async def test_what_stands_in_the_way_is_told_before_the_start(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "port 18700 is held by pid 77 (python3)"
    monkeypatch.setattr(NewRunScreen, "preflight", staticmethod(lambda runbook, values: [told]))
    monkeypatch.setenv("TOKEN", "x")
    async with opened(until) as (pilot, app):
        await fill(pilot, app, "COMMIT", "5ed8a8d")
        await until(lambda: f"✘ {told}" in str(app.screen.query_one("#preflight", Static).content))
        # Also where a small screen shows it.
        assert str(app.screen.query_one("#in-the-way", Static).content) == f"✘ {told}"


async def test_a_schedule_tells_its_note_its_series_and_what_counts(fake_runs: Any, until: Until) -> None:
    async with duo(until) as (pilot, app):
        assert "Each commit warms up first" in passes(app)
        assert "a: COMMIT=5ed8a8d, NAME=before" in passes(app)
        lines = [line.split() for line in passes(app).splitlines()]
        assert ["1", "a", "warm", "not", "scored"] in lines and ["4", "b", "1", "scored"] in lines
        # What each series has for itself is not asked for.
        assert not field(app, "COMMIT").display and field(app, "COMMIT_A").display
        await fill(pilot, app, "COMMIT_A", "0b22f67")
        await until(lambda: "a: COMMIT=0b22f67, NAME=before" in passes(app))
        # Two series that would write to one folder are told before the start.
        await fill(pilot, app, "NAME_A", "after")
        pane = app.screen.query_one(SchedulePane)
        await until(lambda: "would share the output folder" in pane.refused)
        await pilot.press("ctrl+s")
        assert isinstance(app.screen, NewRunScreen) and not store.runs()


async def test_an_own_order_is_judged_while_it_is_typed(fake_runs: Any, until: Until) -> None:
    async with duo(until) as (pilot, app):
        pane, line = app.screen.query_one(SchedulePane), app.screen.query_one("#own-order", Input)
        assert not line.display
        await pilot.click("#schedules")
        await pilot.press("end", "enter")
        await until(lambda: line.display)
        assert line.value == "a/warm, b/warm, a/1, b/1"
        for typed, told in (
            ("a/1, c/1", "'c/1' is no series/pass"),
            ("a/1,a/1", "stands 2 times"),
            ("", "at least"),
        ):
            line.value = typed
            await until(lambda told=told: told in pane.refused)  # type: ignore[misc]
            assert pane.has_class("-refused")
        await pilot.press("ctrl+s")
        assert app.focused is line and not store.runs()
        line.value = "b/1, a/3"
        await until(lambda: not pane.refused and "a 3" in passes(app))
        app.screen.query_one("#make", Button).press()
        await until(lambda: len(store.runs()) == 1)
        state = store.read(store.runs()[0])
        assert state.schedule == ("b/1", "a/3")
        assert state.series["b"] == {"COMMIT": "${COMMIT_B}", "NAME": "${NAME_B}"}
        await until(lambda: isinstance(app.screen, RunScreen) and app.screen.snapshot is not None)


async def test_choices_are_ticked_by_keyboard_and_mouse_and_steps_follow(fake_runs: Any, until: Until) -> None:
    async with duo(until, (80, 24)) as (pilot, app):
        models = field(app, "MODELS")
        assert models.value == "qwen3,fun" and "20 steps" in passes(app)
        models.focus_value()
        await pilot.press("down", "space")
        await until(lambda: models.value == "qwen3" and "16 steps" in passes(app))
        await pilot.press("up", "enter")
        await until(
            lambda: models.refused == "must name at least one of qwen3, fun, whisper" or bool(models.refused)
        )
        assert models.has_class("-refused") and "12 steps" in passes(app)
        await pilot.click(Ticks, offset=(6, 2))
        await until(lambda: models.value == "whisper" and not models.refused and "16 steps" in passes(app))
        drawn = [models.query_one(Ticks).render_line(y).text for y in range(3)]
        assert ["✔" in line for line in drawn] == [False, False, True]


async def test_what_earlier_runs_took_is_told_where_it_is_known(fake_runs: Any, until: Until) -> None:
    for seconds in (300.0, 390.0, 480.0):
        run = supervise.make_run(DUO, {}, "two")
        with store.owned(run, Identity(pid=1, start=1, boot="demo")) as owned:
            for planned in lay_out(of_run(run.runbook, owned.state.variables), owned.state.schedule):
                passed = Passed(attempt=1, at=store.now(), evidence=("done",))
                record = ended_attempt(owned.state.step(planned.id), store.now(), seconds, passed)
                owned.commit("step_ended", owned.state.with_step(planned.id, record))
    async with duo(until) as (pilot, app):
        await until(lambda: "earlier runs took 2 h 10 min (3 runs)" in passes(app))
        assert "b 1     scored      26 min" in passes(app)
        # With other steps nothing is known.
        field(app, "MODELS").focus_value()
        await pilot.press("space")
        await until(lambda: "16 steps" in passes(app))
        assert "earlier" not in passes(app) and "26 min" not in passes(app)


async def test_references_open_in_a_dialog(fake_runs: Any, until: Until) -> None:
    async with duo(until, (80, 24)) as (pilot, app):
        assert "Reference results: 3" in str(app.screen.query_one("#references", Static).content)
        await pilot.press("ctrl+r")
        await until(lambda: isinstance(app.screen, ReferencesScreen))
        shown = " ".join(str(static.content) for static in app.screen.query(Static))
        for part in ("WER 0.0123, 14.2 req/s", "One A100", "The page, 2 March 2026"):
            assert part in shown
        await pilot.press("escape")
        assert isinstance(app.screen, NewRunScreen)


async def test_a_look_at_the_host_for_other_values_is_not_shown(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, late, told = set[str](), threading.Event(), list[str]()
    take_in = NewRunScreen.on_host_checked

    def look(runbook: object, values: dict[str, str]) -> list[str]:
        begun.add(values["COMMIT_A"])
        if values["COMMIT_A"] == "aaaaaaa":
            late.wait(60)
        return [f"in the way of {values['COMMIT_A']}"]

    def taken_in(screen: NewRunScreen, message: HostChecked) -> None:
        take_in(screen, message)
        told.append(message.values["COMMIT_A"])

    monkeypatch.setattr(NewRunScreen, "preflight", staticmethod(look))
    monkeypatch.setattr(NewRunScreen, "on_host_checked", taken_in)
    async with duo(until) as (pilot, app):

        def shown() -> str:
            return str(app.screen.query_one("#preflight", Static).content)

        await fill(pilot, app, "COMMIT_A", "aaaaaaa")
        await until(lambda: "aaaaaaa" in begun)
        await fill(pilot, app, "COMMIT_A", "ccccccc")
        await until(lambda: "in the way of ccccccc" in shown())
        late.set()
        await until(lambda: "aaaaaaa" in told)
        assert "in the way of ccccccc" in shown()


async def test_the_host_is_looked_at_when_the_typing_pauses(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def look(runbook: object, values: dict[str, str]) -> list[str]:
        looked.append(values["COMMIT_A"])
        return []

    monkeypatch.setattr(NewRunScreen, "preflight", staticmethod(look))
    async with duo(until) as (pilot, app):
        await until(lambda: looked == ["5ed8a8d"])
        monkeypatch.setattr(new_run, "_TYPING_S", 3600.0)
        await fill(pilot, app, "COMMIT_A", "aaaaaaa")
        monkeypatch.setattr(new_run, "_TYPING_S", 0.0)
        await fill(pilot, app, "COMMIT_A", "ccccccc")
        await until(lambda: looked == ["5ed8a8d", "ccccccc"])


async def test_a_field_that_has_the_focus_is_seen_with_its_name(fake_runs: Any, until: Until) -> None:
    async with duo(until, (80, 24)) as (_, app):
        for name in ("BREAK", "NAME_A", "MODELS", "COMMIT_A"):
            one = field(app, name)
            one.focus_value()
            view = app.screen.query_one("#new").region
            await until(lambda one=one, view=view: view.contains_region(one.region))  # type: ignore[misc]


@pytest.mark.parametrize("runbook", ["asr", "minicpmo-offline", "vllm-minicpmo-serving"])
async def test_it_opens_with_the_name_of_the_field_at_hand_in_sight(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch, runbook: str
) -> None:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setattr(NewRunScreen, "preflight", lambda *_: [])
    app = OmniApp(runbook=str(Path(__file__).parents[2] / "runbooks" / runbook))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: isinstance(app.screen, NewRunScreen) and app.screen.checked)
        await until(lambda: app.screen.focused is not None)
        await pilot.wait_for_animation()
        await pilot.pause()
        at = next(one for one in app.screen.query(VariableField) if one.has_focus_within)
        assert app.screen.query_one("#form").region.contains_region(at.query_one("Label").region)
