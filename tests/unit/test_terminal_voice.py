"""The control strings that tell the terminal something, and that nothing else gets in between."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from omnitui.notices import Notice
from omnitui.ui.terminal_voice import notification, title, told, understands

XTERM = {"TERM": "xterm-256color"}
NINE = "\x1b]9;OmniTUI: red\x1b\\"
SEVEN = "\x1b]777;notify;OmniTUI;red\x1b\\"


@pytest.mark.parametrize(
    ("environ", "written"),
    [
        (XTERM, NINE + SEVEN),
        ({"TERM": "xterm-kitty"}, NINE),
        ({**XTERM, "TERM_PROGRAM": "WezTerm"}, NINE),
        ({**XTERM, "WT_SESSION": "x"}, NINE),
        ({"TERM": "foot"}, SEVEN),
        ({**XTERM, "VTE_VERSION": "7600"}, SEVEN),
        (
            {"TERM": "tmux-256color", "TMUX": "/tmp/tmux"},
            "\x1bPtmux;\x1b\x1b]9;OmniTUI: red\x1b\x1b\\\x1b\\"
            "\x1bPtmux;\x1b\x1b]777;notify;OmniTUI;red\x1b\x1b\\\x1b\\",
        ),
        ({"TERM": "screen", "VTE_VERSION": "7600"}, "\x1bP\x1b]777;notify;OmniTUI;red\x07\x1b\\"),
    ],
)
def test_each_terminal_is_told_in_its_own_way(environ: dict[str, str], written: str) -> None:
    assert notification("red", environ) == written


@pytest.mark.parametrize("term", ["", "dumb", "linux"])
def test_some_terminals_read_none_of_it(term: str) -> None:
    assert not understands({"TERM": term})
    assert understands(XTERM)


@given(st.text(), st.sampled_from([XTERM, {"TERM": "tmux", "TMUX": "x"}, {"TERM": "screen"}]))
def test_nothing_that_a_terminal_obeys_gets_through(text: str, environ: dict[str, str]) -> None:
    body = r"[^\x00-\x1f\x7f-\x9f]*"
    osc = rf"\x1b\](?:2|9|777);{body}(?:\x1b\\|\x07)"
    inner = rf"\x1b\x1b\](?:9|777);{body}\x1b\x1b\\"
    whole = rf"(?:{osc}|\x1bPtmux;{inner}\x1b\\|\x1bP{osc}\x1b\\)*"
    assert re.fullmatch(whole, title(text) + notification(text, environ))


def test_long_texts_are_cut() -> None:
    assert title("x" * 500) == f"\x1b]2;{'x' * 79}…\x1b\\"
    assert len(notification("x" * 5000, {"TERM": "foot"})) < 250


def test_a_notice_in_one_line() -> None:
    assert told(Notice("red", "_/_/venv", "VENV_OK: exit status 1"), "asr") == (
        "asr: a gate is red: venv: VENV_OK: exit status 1"
    )
    assert told(Notice("asks", "a/1/agree", "Well?"), "asr") == "asr: the run needs you: a/1/agree: Well?"
    assert told(Notice("ended", "", "complete"), "asr") == "asr: the run has ended: complete"
