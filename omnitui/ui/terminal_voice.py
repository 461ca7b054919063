"""What the terminal itself is told: its bell, the window's title, a desktop notification. Pure: texts to write.

The title is OSC 2, between the pushing and popping of xterm's stack of titles (CSI 22 and 23 t). A notification is
OSC 9 (iTerm2, kitty, WezTerm, Ghostty, Windows Terminal) or OSC 777 (rxvt, foot, VTE). tmux has a title of its own
and hands on what stands in its DCS with every ESC doubled; GNU screen hands on what stands in a bare DCS.
"""

from collections.abc import Mapping

from omnitui.notices import WORDS, Notice
from omnitui.sanitise import plain

BELL = "\x07"
PUSH_TITLE, POP_TITLE = "\x1b[22;2t", "\x1b[23;2t"
_ST = "\x1b\\"
_LONGEST_TITLE, _LONGEST_TEXT = 80, 200
_SILENT = ("", "dumb", "linux", "unknown")
_NINE_PROGRAMS = ("iTerm.app", "WezTerm", "ghostty")
_NINE_TERMS = ("xterm-kitty", "xterm-ghostty", "wezterm")
_SEVENS = ("foot", "rxvt")


def understands(environ: Mapping[str, str]) -> bool:
    """Whether the terminal reads control strings at all."""
    return environ.get("TERM", "") not in _SILENT


def title(text: str) -> str:
    """Set the window's title; tmux takes it as its pane's."""
    return f"\x1b]2;{_short(text, _LONGEST_TITLE)}{_ST}"


def notification(text: str, environ: Mapping[str, str]) -> str:
    """Show a text on the desktop, once in any terminal that is known by its name."""
    # ConEmu reads a number behind OSC 9 as something else: the text begins with a word.
    body = _short(f"OmniTUI: {text}", _LONGEST_TEXT)
    nine, seven = f"]9;{body}", f"]777;notify;OmniTUI;{_short(text, _LONGEST_TEXT)}"
    return "".join(_wrapped(one, environ) for one in _chosen(nine, seven, environ))


def _chosen(nine: str, seven: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    term = environ.get("TERM", "")
    if environ.get("TERM_PROGRAM") in _NINE_PROGRAMS or term in _NINE_TERMS or "WT_SESSION" in environ:
        return (nine,)
    if "VTE_VERSION" in environ or term.startswith(_SEVENS):
        return (seven,)
    return nine, seven


def _wrapped(body: str, environ: Mapping[str, str]) -> str:
    term = environ.get("TERM", "")
    if "TMUX" in environ or term.startswith("tmux"):
        return f"\x1bPtmux;\x1b\x1b{body}\x1b{_ST}{_ST}"
    if term.startswith("screen"):
        return f"\x1bP\x1b{body}\x07{_ST}"
    return f"\x1b{body}{_ST}"


def _short(text: str, most: int) -> str:
    clean = " ".join(plain(text.replace("\n", " ")).split())
    return clean if len(clean) <= most else f"{clean[: most - 1]}…"


def told(notice: Notice, runbook: str) -> str:
    """A notice as one line."""
    if notice.event == "ended":
        return f"{runbook}: the run has ended: {notice.reason}"
    step = notice.step.removeprefix("_/").removeprefix("_/")
    return f"{runbook}: {WORDS[notice.event]}: {step}: {notice.reason}"
