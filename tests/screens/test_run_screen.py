import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from omnitui import decisions, live, store, supervise
from omnitui.model import PINNED, Asking, Failed, Identity, Passed, Skipped, StepRecord, Waiting
from omnitui.plan import lay_out
from omnitui.runbook import load
from omnitui.store import RunFolder
from omnitui.ui.app import OmniApp
from omnitui.ui.run_messages import SnapshotRead
from omnitui.ui.screens import remedy_keys
from omnitui.ui.screens.dialogs import PromptScreen
from omnitui.ui.screens.help import HelpScreen
from omnitui.ui.screens.home import HomeScreen
from omnitui.ui.screens.run import RunScreen
from omnitui.ui.step_notes import notes_text
from omnitui.ui.widgets.banner import Banner
from omnitui.ui.widgets.checklist import Checklist
from omnitui.ui.widgets.flow import Flow
from omnitui.ui.widgets.gates_pane import GatesPane
from omnitui.ui.widgets.log_view import LogView
from omnitui.ui.widgets.row_list import RowList
from omnitui.ui.widgets.rows import RowLine
from omnitui.ui.widgets.server_logs import ServerLogs
from tests.screens.conftest import NOW
from textual.css.query import NoMatches
from textual.pilot import Pilot
from textual.widgets import Button, Input, OptionList, Static, TextArea

Until = Callable[[Callable[[], bool]], Awaitable[None]]
TINY = Path(__file__).parents[1] / "data" / "runbooks" / "tiny"
DUO = TINY.with_name("duo")


class Opened:
    """An app on the Run screen of a run."""

    def __init__(self, pilot: Pilot[Any], app: OmniApp, run: RunFolder) -> None:
        self.pilot = pilot
        self.app = app
        self.run = run

    @property
    def screen(self) -> RunScreen:
        (found,) = (one for one in self.app.screen_stack if isinstance(one, RunScreen))
        return found

    def status(self, step_id: str) -> object:
        return store.read(self.run).step(step_id).status

    def bar(self) -> str:
        return text_of(self.screen.query_one("#gates", Flow))

    def banner(self) -> str:
        return str(self.screen.query_one(Banner).query_one(Static).content)


def text_of(flow: Flow) -> str:
    return "  ".join("".join(cell.text for cell in chip.cells) for chip in flow.chips)


@asynccontextmanager
async def opened(run: RunFolder, until: Until, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Opened]:
    app = OmniApp(run)
    async with app.run_test(size=size) as pilot:
        await until(lambda: isinstance(app.screen, RunScreen) and app.screen.snapshot is not None)
        await until(lambda: app.screen.query_one(Checklist).key != "")
        yield Opened(pilot, app, run)


async def test_no_gate_is_green_without_evidence_and_no_reading_outlives_its_step(
    fake_runs: Any, until: Until
) -> None:
    run: RunFolder = fake_runs.make("failed")
    stop, server = "main/run1/stop", "main/run1/server"
    with store.owned(run, Identity(pid=1, start=1, boot="demo")) as owned:
        passed = Passed(attempt=1, at="2026-03-02T11:00:00.000Z", evidence=("PORT_FREE: nobody listens",))
        owned.commit("step_ended", owned.state.with_step(stop, StepRecord(status=passed)))
    async with opened(run, until) as on:
        assert "✔ PORT_FREE" in on.bar()
        assert "– GPU_FREE" in on.bar()
        assert "✘ READY" in on.bar()
        with store.owned(run, Identity(pid=1, start=1, boot="demo")) as owned:
            owned.commit("skipped", owned.state.with_step(stop, StepRecord(status=Skipped(at="", reason="no"))))
        await until(lambda: "– PORT_FREE" in on.bar())
        with store.owned(run, Identity(pid=1, start=1, boot="demo")) as owned:
            owned.commit("redo", owned.state.with_step(server, StepRecord()))
        await until(lambda: "○ READY" in on.bar())
        assert "✘" not in on.bar()


async def test_the_bar_tells_of_threads_only_where_they_stray(fake_runs: Any, until: Until) -> None:
    run: RunFolder = fake_runs.make("running")
    server, client = "main/run1/server", "main/run1/client"
    kept = live.Shown(PINNED, server, "green", "8 threads of 2 processes keep to CPUs 2-15", NOW - 3600)
    strays = live.Shown(PINNED, client, "red", "pid 7 (python3) may run on CPUs 0-63, not only on 2-15", NOW - 40)
    store.replace_file(run.live, msgspec.json.encode([*live.read(run), kept, strays]), durable=False)
    async with opened(run, until, size=(200, 60)) as on:
        assert "✘ (pinned) pid 7 (python3)" in on.bar() and "STALE" not in on.bar()
        assert "keep to" not in on.bar() and "✔ READY" in on.bar()
        await on.pilot.press("4")
        pane = on.screen.query_one(GatesPane)
        await until(lambda: any("8 threads of 2 processes" in str(row) for row in pane.rows))


async def test_a_run_that_will_hold_says_so_until_it_does(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until, size=(120, 40)) as on:
        title = on.screen.query_one("#title", RowLine)
        assert "holds" not in str(title.row)
        await on.pilot.press("h")
        await until(lambda: "holds after this step" in str(title.row))
        assert (on.run.requests / "hold").exists()


async def test_a_running_run_shows_its_gates_its_logs_and_the_current_step(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        assert on.screen.query_one(Checklist).key == "main/run1/client"
        assert "✔ READY 127.0.0.1:8000 tiny 3 ms" in on.bar()
        assert "○ PORT_FREE" in on.bar() and "STALE" not in on.bar()
        server = on.screen.query_one(ServerLogs).query_one(LogView)
        assert server.path == on.run.job("main/run1/server", 1) / "log"
        output = on.screen.query_one("#output", LogView)
        await until(lambda: output.path == on.run.job("main/run1/client", 1) / "log")
        assert not on.screen.query_one(Banner).display
        before = on.run.state.read_bytes()
        await on.pilot.press("r", "a", "e", "s", "y", "R")
        await on.pilot.press("x")
        await until(lambda: isinstance(on.app.focused, Button))
        await on.pilot.press("escape", "escape")
        await until(lambda: isinstance(on.app.screen, HomeScreen))
        assert on.run.state.read_bytes() == before
        assert not list(on.run.requests.iterdir())


async def test_a_word_and_what_became_of_its_step_stand_apart(fake_runs: Any, until: Until) -> None:
    run = fake_runs.make("running")
    fake_runs.let_go()
    async with opened(run, until) as on:
        checklist = on.screen.query_one(Checklist)
        lines = [checklist.render_line(y).text for y in range(checklist.size.height)]
        assert any("evaluat… no runner" in line for line in lines), "\n".join(lines)


async def test_a_polled_gate_that_is_old_is_stale(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = RunScreen.clock()
    monkeypatch.setattr(RunScreen, "clock", staticmethod(lambda: now + 30))
    async with opened(fake_runs.make("running"), until) as on:
        assert "◌ READY STALE 32s" in on.bar()


async def test_a_red_gate_shows_why_what_helps_and_what_going_on_does(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until, size=(80, 24)) as on:
        await until(
            lambda: on.screen.query_one("#output").display and not on.screen.query_one("#checklist").display
        )
        assert "exit status 1" in on.banner() and "use the next pair of GPUs" in on.banner()
        assert "Begin pass main/run1 again" in on.banner()
        output = on.screen.query_one("#output", LogView)
        await until(lambda: "out of memory" in output.render_line(1).text)
        await on.pilot.press("escape")
        assert on.screen.query_one("#checklist").display
        await on.pilot.press("escape")
        await until(lambda: isinstance(on.app.screen, HomeScreen))


async def test_going_on_shows_both_plans_first(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[bool, str | None]] = []
    monkeypatch.setattr(supervise, "start", lambda run, secrets, *, one, where: asked.append((one, where)))
    async with opened(fake_runs.make("failed"), until) as on:
        await on.pilot.press("a")
        await until(lambda: isinstance(on.app.focused, Button))
        shown = " ".join(str(static.content) for static in on.app.screen.query(Static))
        assert "Begin pass main/run1 again" in shown and "left out of the averages" in shown
        await on.pilot.press("escape")
        assert not asked
        await on.pilot.press("r")
        await until(lambda: isinstance(on.app.focused, Button))
        on.app.screen.query_one("#choice-place", Button).press()
        await until(lambda: asked == [(True, "place")])


async def test_a_plan_that_is_no_longer_true_is_not_done(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []
    monkeypatch.setattr(supervise, "start", lambda run, secrets, *, one, where: asked.append(where))
    async with opened(fake_runs.make("failed"), until) as on:
        await on.pilot.press("a")
        await until(lambda: isinstance(on.app.focused, Button))
        before = on.screen.snapshot
        decisions.skip(on.run, "main/run1/server", "known")
        await until(lambda: on.screen.snapshot is not before)
        await on.pilot.press("enter")
        await until(lambda: any("gone on meanwhile" in note.message for note in on.app._notifications))
        assert not asked


async def test_a_question_is_answered_with_y(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[bool] = []
    monkeypatch.setattr(supervise, "start", lambda run, secrets, *, one, where: started.append(one))
    async with opened(fake_runs.make("asking"), until) as on:
        assert "Have you read the licence" in on.banner()
        await on.pilot.press("y")
        await until(lambda: isinstance(on.app.focused, Button))
        await on.pilot.press("escape")
        assert isinstance(on.status("_/_/agree"), Asking)
        await on.pilot.press("y")
        await until(lambda: isinstance(on.app.focused, Button))
        await on.pilot.press("enter")
        await until(lambda: started == [False])
        assert isinstance(on.status("_/_/agree"), Passed)


async def test_a_step_is_skipped_with_a_reason(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        await on.pilot.press("s")
        await until(lambda: isinstance(on.app.focused, Input))
        await on.pilot.press("enter")
        assert isinstance(on.app.screen, PromptScreen)
        on.app.screen.query_one(Input).value = "known [/ bad card"
        await on.pilot.press("enter")
        await until(lambda: isinstance(on.status("main/run1/server"), Skipped))
        await until(lambda: on.screen.snapshot is not None and on.screen.snapshot.current is not None)
        await until(lambda: on.screen.query_one(Checklist).key == "main/run1/client")
        # What it printed when it failed can still be read.
        await on.pilot.press("up")
        output = on.screen.query_one("#output", LogView)
        await until(lambda: output.path == on.run.job("main/run1/server", 1) / "log")


async def test_a_command_is_edited(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        await on.pilot.press("e")
        await until(lambda: isinstance(on.app.focused, TextArea))
        editor = on.app.screen.query_one(TextArea)
        assert editor.text == 'exec serve --port "$PORT"'
        await on.pilot.press("escape")
        assert not store.read(on.run).step("main/run1/server").edited
        await on.pilot.press("e")
        await until(lambda: isinstance(on.app.focused, TextArea))
        on.app.screen.query_one(TextArea).text = "exec serve --small"
        await on.pilot.press("ctrl+s")
        await until(lambda: store.read(on.run).step("main/run1/server").edited == "exec serve --small")
        assert store.read(on.run).passes["main/run1"].marks


async def test_a_pass_is_begun_again(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        results = on.run.path / "results" / "main" / "run1"
        results.mkdir(parents=True)
        await on.pilot.press("R")
        await until(lambda: isinstance(on.app.focused, Button))
        await on.pilot.press("left", "enter")
        await until(lambda: isinstance(on.status("main/run1/server"), Waiting))
        assert results.with_name("run1-incomplete").is_dir()


async def test_secrets_are_asked_before_the_start(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, str]] = []
    monkeypatch.setattr(supervise, "start", lambda run, secrets, *, one, where: given.append(dict(secrets)))
    monkeypatch.delenv("TOKEN", raising=False)
    run = supervise.make_run("demo", {"COMMIT": "5ed8a8d"}, None)
    async with opened(run, until) as on:
        await on.pilot.press("a")
        await until(lambda: isinstance(on.app.focused, Input))
        assert on.app.screen.query_one(Input).password
        on.app.screen.query_one(Input).value = "hunter2"
        await on.pilot.press("enter")
        await until(lambda: given == [{"TOKEN": "hunter2"}])


async def test_the_current_step_is_followed_until_the_user_moves(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        checklist = on.screen.query_one(Checklist)
        await on.pilot.press("down")
        assert checklist.key == "main/run1/client"
        decisions.skip(on.run, "main/run1/server", "to see")
        await until(lambda: on.screen.snapshot is not None and len(on.screen.snapshot.state.passes) == 1)
        decisions.skip(on.run, "main/run1/client", "to see")
        await until(lambda: "PORT_FREE" in on.bar() and checklist.rows != ())
        assert checklist.key == "main/run1/client"
        await on.pilot.press("f")
        await until(lambda: checklist.key == "main/run1/stop")


async def test_what_is_read_while_the_user_moves_does_not_go_back(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        checklist, snapshot = on.screen.query_one(Checklist), on.screen.snapshot
        assert snapshot is not None and checklist.key == "main/run1/server"
        checklist.action_move(1)
        checklist.show(snapshot, NOW)  # before any message of the move is handled
        assert checklist.key == "main/run1/client"
        assert getattr(on.screen.selected_step(), "id", "") == "main/run1/client"
        assert not checklist.following


async def test_a_chapter_stands_for_its_first_step(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        await on.pilot.press("home")
        await until(lambda: getattr(on.screen.selected_step(), "id", "") == "_/_/packages")


async def test_chapters_fold(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        checklist = on.screen.query_one(Checklist)
        assert any(row.key == "main/run1/client" for row in checklist.rows)
        await on.pilot.press("space")
        assert not any(row.key == "main/run1/client" for row in checklist.rows)
        await on.pilot.press("enter")
        assert any(row.key == "main/run1/client" for row in checklist.rows)


async def test_panes_are_tabs_where_there_is_little_room(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until, size=(80, 24)) as on:
        tabs = on.screen.query_one("#tabs", Flow)
        assert "Steps" in text_of(tabs) and "Log" in text_of(tabs)
        assert not on.screen.query_one("#right").display
        await on.pilot.press("l")
        assert on.screen.query_one(ServerLogs).display and not on.screen.query_one("#checklist").display
        await on.pilot.press("n")
        assert on.screen.query_one("#notes").display
        await on.pilot.click("#tabs", offset=(2, 0))
        assert on.screen.query_one("#checklist").display
        await on.pilot.resize_terminal(120, 40)
        await until(lambda: on.screen.query_one("#right").display and on.screen.query_one(ServerLogs).display)
        assert on.screen.query_one("#checklist").display


async def test_attempts_open_their_own_output(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        await on.pilot.press("i")
        attempts = on.screen.query_one("#attempts", RowList)
        assert [row.key for row in attempts.rows] == ["main/run1/server 1"]
        await on.pilot.press("enter")
        assert on.screen.query_one("#output").display and not attempts.display


async def test_the_help_lists_every_key(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("failed"), until) as on:
        await on.pilot.press("question_mark")
        await until(lambda: isinstance(on.app.screen, HelpScreen))
        text = "\n".join(str(static.content) for static in on.app.screen.query(Static))
        for meaning in ("Run the next step and stop", "Stop the step at work", "A shell in the step", "Go back"):
            assert meaning in text
        await on.pilot.press("escape")
        assert isinstance(on.app.screen, RunScreen)


async def test_a_corrupt_run_is_told_as_such(fake_runs: Any, until: Until) -> None:
    app = OmniApp(fake_runs.make("corrupt"))
    async with app.run_test():
        await until(lambda: any(banner.display for banner in app.screen.query(Banner)))
        assert "omnitui repair" in str(app.screen.query_one(Banner).query_one(Static).content)


async def test_a_run_that_cannot_be_read_any_more_is_not_shown_as_at_work(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        title = on.screen.query_one("#title", RowLine)
        assert "runner alive" in str(title.row)
        aside = on.run.state.rename(on.run.path / "aside")
        await until(lambda: "unreadable" in str(title.row) and "omnitui repair" in on.banner())
        assert "alive" not in str(title.row)
        aside.rename(on.run.state)
        await until(lambda: "runner alive" in str(title.row))


async def test_a_real_run_is_driven_by_keys(fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(supervise.make_run(str(TINY), {}, None), until) as on:
        await on.pilot.press("r")
        await until(lambda: isinstance(on.status("_/_/hello"), Passed) and store.holder(on.run) is None)
        await until(lambda: on.screen.snapshot is not None and on.screen.snapshot.outcome == "held")
        assert isinstance(on.status("_/_/again"), Waiting)
        await on.pilot.press("a")
        await until(lambda: on.screen.snapshot is not None and on.screen.snapshot.outcome == "failed")
        assert isinstance(on.status("_/_/fail"), Failed)
        assert "DONE not printed" in on.banner()
        await until(lambda: not supervise._CHILDREN)


# -- notes and remedies ----------------------------------------------------------------------------------------


async def test_notes_tell_the_phase_the_gates_the_remedies_and_the_deviations(
    fake_runs: Any, until: Until
) -> None:
    run = supervise.make_run(str(DUO), {}, "one")
    for size in ((80, 24), (120, 40)):
        async with opened(run, until, size=size) as on:
            await on.pilot.press("n")
            notes = on.screen.query_one("#notes-text", Static)
            await until(lambda: "Once for each commit, before its first pass." in str(notes.content))  # noqa: B023
            await on.pilot.press("escape", "down", "down", "n")
            await until(lambda: "Safer than the page" in str(notes.content))  # noqa: B023
            lines = str(notes.content).splitlines()
            assert "  page     rm -rf results/$NAME" in lines
            assert "  instead  Moves what is there aside." in lines
            assert "  because  A result that was measured is never deleted." in lines
            assert "The server is shared by all models of a pass." in " ".join(lines)
            assert max(map(len, lines)) < notes.size.width


def test_what_is_indented_stays_so_when_it_is_wrapped() -> None:
    book = load.load(DUO)
    (planned,) = (one for one in lay_out(book, ("a/1",)) if one.step.id == "mended")
    lines = str(notes_text(book, planned, 30)).splitlines()
    assert lines[lines.index("  1. Or call the caretaker,") + 1] == "     whose number is on the"
    assert "  3. Hit it. It may hit back." in lines
    assert all(len(line) <= 30 for line in lines)


async def test_a_red_steps_remedies_are_offered_and_one_is_taken(
    fake_runs: Any, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[list[str]] = []

    def lend_terminal(app: object, argv: list[str], environment: object, *, until_read: bool) -> int:
        assert until_read
        taken.append(argv[-4:])
        return 0

    monkeypatch.setattr(remedy_keys, "lend_terminal", lend_terminal)
    run = supervise.make_run(str(DUO), {}, "one")
    with store.owned(run, Identity(pid=1, start=1, boot="demo")) as owned:
        for planned in lay_out(load.load(DUO), ("a/1",)):
            if planned.step.id == "mended":
                break
            done = Passed(attempt=1, at=store.now(), evidence=("done",))
            owned.commit("step_ended", owned.state.with_step(planned.id, StepRecord(status=done)))
        failed = Failed(attempt=1, at=store.now(), reason="MENDED not printed")
        owned.commit("step_ended", owned.state.with_step("_/_/mended", StepRecord(status=failed)))
    async with opened(run, until, size=(80, 24)) as on:
        await until(lambda: getattr(on.screen.selected_step(), "id", "") == "_/_/mended")
        await on.pilot.press("m")
        await until(lambda: isinstance(on.app.focused, OptionList))
        # What has no command is told, and nothing is run.
        await on.pilot.press("enter")
        await until(lambda: any("It has no command" in one.message for one in on.app._notifications))
        await on.pilot.press("m")
        await until(lambda: isinstance(on.app.focused, OptionList))
        await on.pilot.press("down", "enter")
        await until(lambda: isinstance(on.app.focused, Button))
        shown = " ".join(str(static.content) for static in on.app.screen.query(Static))
        assert "Mend it." in shown and 'touch "$RUN_DIR/mended"' in shown
        await on.pilot.press("escape")
        for keys in (("9", "2"), ("down", "tab", "enter")):
            await on.pilot.press("m")
            await until(lambda: isinstance(on.app.focused, OptionList))
            await on.pilot.press(*keys)
            await until(lambda: isinstance(on.app.focused, Button))
            await on.pilot.press("escape")
        assert not taken
        await on.pilot.press("m")
        await until(lambda: isinstance(on.app.focused, OptionList))
        await on.pilot.click(OptionList, offset=(4, 1))
        await until(lambda: isinstance(on.app.focused, Button))
        await on.pilot.press("left", "enter")
        await until(lambda: taken == [["remedy", str(run.path), "_/_/mended", "2"]])


async def test_only_a_red_step_can_be_mended(fake_runs: Any, until: Until) -> None:
    async with opened(fake_runs.make("running"), until) as on:
        await on.pilot.press("m", "y")
        assert isinstance(on.app.screen, RunScreen)
        told = {note.message for note in on.app._notifications}
        assert told == {"A runner is at work: h holds it, x stops it."}
    async with opened(fake_runs.make("failed", "20260302-116000-demo"), until) as on:
        await on.pilot.press("down", "m")
        assert isinstance(on.app.screen, RunScreen)
        await on.pilot.press("h", "l")
        told = {note.message for note in on.app._notifications}
        assert told == {"The step is not red.", "Nothing is at work.", "No server is at work."}
        await on.pilot.press("up", "m")
        await until(lambda: isinstance(on.app.focused, OptionList))


async def change(screen: RunScreen) -> None:
    """Show it other states of its run for as long as it is there."""
    for second in count():
        if not screen.is_running:
            return
        if screen.snapshot:
            screen.post_message(SnapshotRead(msgspec.structs.replace(screen.snapshot, since=second)))
        await asyncio.sleep(0)


async def left(run: RunFolder, key: str, until: Until) -> None:
    async with opened(run, until) as on:
        app, screen = on.app, on.screen
        changing = asyncio.create_task(change(screen))
        app.simulate_key(key)
        await until(lambda: not (app.is_running and screen.is_running))
    await changing


@pytest.mark.parametrize("key", ["escape", "q"])
async def test_a_run_that_changes_while_its_screen_is_left_ends_nothing(
    key: str, fake_runs: Any, until: Until
) -> None:
    run: RunFolder = fake_runs.make("failed")
    for _ in range(10):
        await left(run, key, until)


async def test_what_is_missing_on_an_open_screen_is_a_bug(fake_runs: Any, until: Until) -> None:
    run: RunFolder = fake_runs.make("failed")
    with pytest.raises(NoMatches):
        async with opened(run, until) as on:
            on.screen.set_timer(0.001, lambda: on.screen.query_one("#no-such-widget"))
            await until(lambda: not on.app.is_running)
