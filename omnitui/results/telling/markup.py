"""Pieces of a self-contained HTML page: no script, no request. Every text from outside passes `safe`."""

from collections.abc import Iterable, Sequence
from html import escape

from omnitui.results.table import one_line

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem;
overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .5rem; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0 1rem; overflow-wrap: normal; }
th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: left; vertical-align: top; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; }
th { white-space: nowrap; } td { max-width: 40rem; overflow-wrap: break-word; }
.warn { border-left: .3rem solid #c60; padding: .3rem .8rem; background: var(--soft); }
svg { max-width: 100%; height: auto; } svg text { font-size: 11px; fill: currentColor; }
.axis { stroke: var(--line); } .mean { stroke: currentColor; stroke-width: 2; } .floor { fill: var(--soft); }
.g0 { fill: #2a78d6; } .g1 { fill: #d6632a; } .g2 { fill: #2a9d5c; } .g3 { fill: #8a4fd0; }
figure { display: inline-block; max-width: 100%; margin: .5rem 1rem .5rem 0; } figcaption { font-weight: 600; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Whatever a text might bring in, a browser loads nothing and runs nothing."""


def safe(text: str) -> str:
    """A text as the page shows it: no markup of it is read, and no control or direction character is left."""
    return escape(one_line(text))


def page(title: str, body: Iterable[str]) -> str:
    """A whole page."""
    head = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{safe(title)}</title><style>{_STYLE}</style></head>"
    )
    return f"{head}<body><h1>{safe(title)}</h1>{''.join(body)}</body></html>\n"


def heading(text: str) -> str:
    """The head of a part."""
    return f"<h2>{safe(text)}</h2>"


def line(text: str) -> str:
    """A line of text."""
    return f"<p>{safe(text)}</p>"


def warning(text: str) -> str:
    """A line that must not be missed."""
    return f'<p class="warn">{safe(text)}</p>'


def items(lines: Sequence[str]) -> str:
    """Lines as a list; nothing without any."""
    return f"<ul>{''.join(f'<li>{safe(line)}</li>' for line in lines)}</ul>" if lines else ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table that scrolls where it is too wide; `numbers` are its columns of figures."""

    def cells(tag: str, row: Sequence[str]) -> str:
        kinds = (' class="n"' if index in numbers else "" for index in range(len(row)))
        return "".join(f"<{tag}{kind}>{safe(cell)}</{tag}>" for kind, cell in zip(kinds, row, strict=True))

    lines = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    top = f"<thead><tr>{cells('th', head)}</tr></thead>"
    return f'<div class="scroll"><table>{top}<tbody>{lines}</tbody></table></div>'


def figure(caption: str, plot: str) -> str:
    """A plot below its caption; nothing without a plot."""
    return f"<figure><figcaption>{safe(caption)}</figcaption>{plot}</figure>" if plot else ""
