from omnitui.gates import Green, Moot, Red, Unknown
from omnitui.live import kind_of
from omnitui.model import Asking, Crashed, Failed, Passed, Running, Skipped, Status, Stopped, Waiting
from omnitui.ui.signs import GATES, OUTCOMES, ago, clock_span, span
from omnitui.ui.statuses import of_status
from omnitui.ui.themes import DARK, LIGHT
from textual.color import Color
from textual.theme import Theme

AT = "2026-03-02T12:00:00.000Z"
STATUSES: tuple[Status, ...] = (
    Waiting(),
    Running(attempt=1, since=AT),
    Passed(attempt=1, at=AT, evidence=()),
    Failed(attempt=1, at=AT, reason="no"),
    Stopped(attempt=1, at=AT, reason="no"),
    Crashed(attempt=1, at=AT, reason="no"),
    Skipped(at=AT, reason="no"),
    Asking(at=AT, question="?"),
)


def test_every_state_has_a_symbol_and_a_word_of_its_own() -> None:
    signs = [*map(of_status, STATUSES), of_status(STATUSES[1], alive=False)]
    assert all(len(sign.symbol) == 1 and sign.word for sign in signs)
    assert len({(sign.symbol, sign.word) for sign in signs}) == len(signs)
    assert len({(sign.symbol, sign.word) for sign in OUTCOMES.values()}) == len(OUTCOMES)
    assert {kind_of(verdict) for verdict in (Green(""), Red(""), Unknown(""), Moot(""))} <= set(GATES)


def test_times_in_words() -> None:
    spans = [0.42, 59.9, 365, 3960, 273600, -1]
    assert [span(seconds) for seconds in spans] == ["0.4s", "59s", "6m 05s", "1h 06m", "3d 04h", "0s"]
    assert [ago(s) for s in (3, 60, 7200, 200_000)] == ["just now", "1 min ago", "2 h ago", "2 d ago"]
    assert clock_span(2467) == "00:41:07"


def test_text_can_be_read_on_what_it_stands_on() -> None:
    for theme in (DARK, LIGHT):
        for text, ground in _pairs(theme):
            ratio = _contrast(Color.parse(text), Color.parse(ground))
            assert ratio >= 4.5, f"{theme.name}: {text} on {ground} is {ratio:.2f}"


def _pairs(theme: Theme) -> list[tuple[str, str]]:
    v = theme.variables
    texts = ["text-muted", "text-primary", "text-accent", "text-success", "text-warning", "text-error"]
    surfaces = [str(theme.background), str(theme.surface), str(theme.panel)]
    pairs = [(v[text], ground) for text in texts for ground in surfaces]
    pairs += [(v[f"text-{kind}"], v[f"{kind}-muted"]) for kind in ("error", "warning", "success", "primary")]
    pairs += [(v["text-muted"], v[f"{kind}-muted"]) for kind in ("error", "warning", "success")]
    cursors = [v["block-cursor-background"], v["block-cursor-blurred-background"]]
    pairs += [(v[text], ground) for text in texts for ground in cursors]
    return [*pairs, *((str(theme.foreground), ground) for ground in surfaces)]


def _contrast(one: Color, other: Color) -> float:
    """WCAG 2.2, contrast ratio."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
