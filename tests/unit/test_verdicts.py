"""Which events are notices, and how the verdicts of gates changed: both from the journal's lines."""

from typing import Any

import pytest
from omnitui.model import PINNED
from omnitui.notices import WITH_SERVER, Listener, Notice
from omnitui.verdicts import Change, History


def gate(
    kind: str, reason: str = "why", word: str = "READY", step: str = "a/1/serve", **more: Any
) -> dict[str, Any]:
    at = more.pop("t", "2026-03-02T12:00:00.000Z")
    return {"t": at, "event": "gate", "step": step, "word": word, "verdict": {"is": kind, "reason": reason}}


def begun(attempt: int, step: str = "a/1/serve") -> dict[str, Any]:
    return {"t": "2026-03-02T12:00:00.000Z", "event": "step_started", "step": step, "attempt": attempt}


def heard(*events: dict[str, Any]) -> list[Notice]:
    listener = Listener()
    told = (listener.heard(event["event"], event, event.get("status", {})) for event in events)
    return [notice for notice in told if notice]


def test_a_red_gate_and_its_red_step_are_one_notice() -> None:
    ended = {"event": "step_ended", "step": "a/1/serve", "status": {"is": "failed", "reason": "READY: died"}}
    assert heard(gate("unknown"), gate("red", "died"), gate("red", "dead"), ended) == [
        Notice("red", "a/1/serve", "READY: died")
    ]
    assert heard(ended) == [Notice("red", "a/1/serve", "READY: died")]


def test_a_server_that_dies_and_the_step_that_it_ends_are_one_notice() -> None:
    client = "a/1/client"
    reason = f"CLIENT_OK: running; (cut short): server tts died {WITH_SERVER}"
    ended = {"event": "step_ended", "step": client, "status": {"is": "failed", "reason": reason}}
    died = Notice("red", "a/1/serve", "READY: died")
    cut = gate("red", "exit status 143", "CLIENT_OK", client)
    assert heard(begun(1), gate("green"), begun(1, client), gate("red", "died"), cut, ended) == [died]
    # Nobody was told of a server; and a failure that has nothing to do with one that died before.
    assert heard(begun(1), gate("green"), begun(1, client), ended) == [Notice("red", client, reason)]
    alone = {"event": "step_ended", "step": client, "status": {"is": "failed", "reason": "exit status 1"}}
    assert heard(gate("red", "died"), begun(1, client), cut, alone) == [
        died,
        Notice("red", client, "exit status 1"),
    ]


def test_of_cpus_that_are_not_kept_to_only_what_comes_of_it_is_told() -> None:
    spoiled = {"event": "contaminated", "step": "a/1/client", "reason": "not pinned: pid 7"}
    ended = {"event": "step_ended", "step": "a/1/client", "status": {"is": "failed", "reason": "exit status 1"}}
    assert heard(gate("red", "pid 7", PINNED, "a/1/client"), spoiled, ended) == [
        Notice("spoiled", "a/1/client", "not pinned: pid 7"),
        Notice("red", "a/1/client", "exit status 1"),
    ]


def test_the_next_attempt_is_told_again() -> None:
    assert len(heard(begun(1), gate("red"), begun(2), gate("red"))) == 2


def test_a_gate_that_was_green_again_may_be_red_again() -> None:
    assert len(heard(gate("red"), gate("green"), gate("red"))) == 2


@pytest.mark.parametrize(
    ("event", "notice"),
    [
        (
            {"event": "asking", "step": "_/_/agree", "status": {"is": "asking", "question": "Well?"}},
            Notice("asks", "_/_/agree", "Well?"),
        ),
        (
            {"event": "contaminated", "step": "a/1/client", "kind": "throttled", "reason": "throttled: GPU 0"},
            Notice("spoiled", "a/1/client", "throttled: GPU 0"),
        ),
        ({"event": "runner_ended", "outcome": "complete"}, Notice("ended", "", "complete")),
        ({"event": "runner_ended", "outcome": "asking"}, None),
        ({"event": "step_ended", "step": "x", "status": {"is": "passed"}}, None),
        ({"event": "step_ended", "step": "x", "status": {"is": "stopped", "reason": "r"}}, None),
        ({"event": "gate", "step": "x", "word": "W", "verdict": "nonsense"}, None),
        ({"event": "request", "request": "hold"}, None),
    ],
)
def test_what_is_a_notice(event: dict[str, Any], notice: Notice | None) -> None:
    assert heard(event) == ([notice] if notice else [])


def test_history_keeps_changes_and_the_last_reason() -> None:
    history = History()
    assert history.take([begun(2), gate("unknown", "no answer"), gate("unknown", "503")])
    assert history.take([gate("green", "200", t="2026-03-02T12:00:09.500Z")])
    assert not history.take([{"event": "request"}])
    at = 1772452800.0
    assert history.gates == {
        ("a/1/serve", "READY"): (Change(at, 2, "unknown", "503"), Change(at + 9.5, 2, "green", "200"))
    }


def test_another_attempt_is_another_change() -> None:
    history = History()
    history.take([begun(1), gate("red"), begun(2), gate("red")])
    assert [change.attempt for change in history.gates["a/1/serve", "READY"]] == [1, 2]


@pytest.mark.parametrize(
    "line",
    [
        {"t": "yesterday", "event": "gate", "step": "x", "word": "W", "verdict": {"is": "red", "reason": "r"}},
        {"event": "gate", "step": "x", "word": "W", "verdict": {"is": "purple"}},
        {"event": "gate", "step": "x", "word": 3, "verdict": {"is": "red"}},
        {"event": "gate", "step": "x", "verdict": None},
    ],
)
def test_nonsense_is_left_out(line: dict[str, Any]) -> None:
    history = History()
    assert not history.take([line])
    assert history.gates == {}


def test_a_gate_that_flaps_is_bounded() -> None:
    history = History()
    history.take([gate(kind) for _ in range(1000) for kind in ("red", "green")])
    assert len(history.gates["a/1/serve", "READY"]) == 200
