"""The clipboard of the operator's terminal, also over SSH."""

from textual.app import App

CLIPBOARD_BYTES = 64 * 1024
"""Terminals drop a longer OSC 52 sequence, or cut it."""


def to_clipboard(app: App[object], text: str, rest: str, *, cut: bool = False) -> None:
    """Send a text, or its beginning, and tell how much that is; `rest` says how to have what is left out."""
    kept = text.encode(errors="replace")[:CLIPBOARD_BYTES].decode(errors="ignore")
    app.copy_to_clipboard(kept)
    more = f"; only the first {CLIPBOARD_BYTES // 1024} KiB: {rest}" if cut or kept != text else ""
    lines = kept.count("\n") + (not kept.endswith("\n"))
    app.notify(f"{lines:,} line{'s' * (lines != 1)} sent to the terminal's clipboard{more}", markup=False)
