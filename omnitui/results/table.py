"""The table over the passes, as text, Markdown, CSV or JSON."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from omnitui.results.statistics import Row, Summary
from omnitui.sanitise import plain

Format = Literal["table", "md", "csv", "json"]
ARROWS = {"higher": "↑", "lower": "↓"}
"""Which way is better; none for a metric that only describes."""
_LONG = 120
_MARKUP = re.compile(r"[\\`*<&|\[~]|(?<!\w)_|_(?!\w)")
"""What Markdown would read as more than a character; a `_` within a word is none of it."""
REHEARSAL = "REHEARSAL: stand-ins made these figures up; none is a measurement."


def one_line(text: str) -> str:
    """A text from outside as one line, without what a terminal would obey."""
    return plain(text.replace("\n", " ⏎ "))


def written(text: str, *, md: bool) -> str:
    """A text as a line or cell of a report; in Markdown no markup of it is read."""
    return _MARKUP.sub(r"\\\g<0>", one_line(text)) if md else one_line(text)


def render(
    run: str, title: str, summaries: Sequence[Summary], form: Format, not_measured: Sequence[str] = ()
) -> str:
    """The summaries of one run in the format that was asked for; JSON names the workloads that it left out."""
    if form == "json":
        series = [_with_complete(one) for one in summaries]
        body = {"run": run, "title": title, "series": series, "not_measured": not_measured}
        return msgspec.json.format(msgspec.json.encode(body), indent=2).decode()
    if form == "csv":
        return _csv(run, summaries)
    text = _markdown if form == "md" else _text
    head = f"# {written(title, md=True)} ({run})" if form == "md" else f"{one_line(title)} · {run}"
    told = [REHEARSAL] if any(summary.rehearsal for summary in summaries) else []
    return "\n\n".join([head, *told, *(text(s) for s in summaries)])


def _with_complete(summary: Summary) -> dict[str, object]:
    return {**msgspec.to_builtins(summary), "complete": summary.complete}


def _csv(run: str, summaries: Sequence[Summary]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = ["run", "series", "metric", "unit", "direction", "mean", "stdev", "min", "max", "n", "values"]
    writer.writerow([*head, "rehearsal", "unlike", "left_out"])
    for summary in summaries:
        for row in summary.rows:
            shown = [
                row.mean,
                row.stdev,
                row.minimum,
                row.maximum,
                len(row.values),
                " ".join(map(str, row.values)),
                str(summary.rehearsal).lower(),
                " ".join(one.key for one in summary.unlike),
                joined(summary.left_out),
            ]
            writer.writerow([run, summary.series, row.metric, row.unit, row.direction, *shown])
    return out.getvalue().rstrip("\n")


def joined(left_out: Iterable[tuple[str, str]]) -> str:
    """Who is left out and why, in one cell of CSV."""
    return " | ".join(f"{label}: {one_line(reason)}" for label, reason in left_out)


def _cells(row: Row) -> list[str]:
    return [
        f"{row.metric} {ARROWS.get(row.direction, '')}".rstrip(),
        row.unit,
        number(row.mean),
        number(row.stdev),
        number(row.minimum),
        number(row.maximum),
        "  ".join(number(value) for value in row.values),
    ]


def number(value: float | None) -> str:
    """A figure with up to six significant digits; a missing one is a dash, never 0."""
    return "–" if value is None else f"{value:.6g}"


_HEAD = ["metric", "unit", "mean", "std dev", "min", "max", "values"]
_RIGHT = range(2, 6)


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], *, md: bool, right: Sequence[int] = ()) -> str:
    """A table with aligned columns, or in Markdown; columns in `right` are of numbers."""
    table = [[written(cell, md=md) for cell in row] for row in (head, *rows)]
    if md:
        ruler = "|".join("---:" if index in right else "---" for index in range(len(head)))
        lines = ["| " + " | ".join(row) + " |" for row in table]
        return "\n".join([lines[0], f"|{ruler}|", *lines[1:]])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(c.rjust(widths[i]) if i in right else c.ljust(widths[i]) for i, c in enumerate(row)).rstrip()
        for row in table
    ]
    lines.insert(1, "─" * max(map(len, lines)))
    return "\n".join(lines)


def heading(summary: Summary) -> str:
    """The series, and which passes are averaged."""
    count = len(summary.averaged)
    names = ", ".join(summary.averaged) or "none"
    name = f"{summary.series} (rehearsal)" if summary.rehearsal else summary.series
    passes = f"{count} scored pass{'es' if count != 1 else ''}"
    if summary.unlike:
        return f"Series {name}: no mean: {passes} ({names}) were not measured alike"
    return f"Series {name}: {passes} averaged ({names})"


def unlikes(summary: Summary) -> list[str]:
    """What forbids one average over the passes: a line for each key, with the values and who has them."""
    lines = []
    for one in summary.unlike:
        told = values_of([value for value, _ in one.values])
        who = (", ".join(labels) for _, labels in one.values)
        lines.append(f"{one.key} differs: " + "; ".join(map(": ".join, zip(who, told, strict=True))))
    return lines


def values_of(values: Sequence[str | None], most: int = _LONG) -> list[str]:
    """Values of one key of provenance as cells. Long ones are cut, also before the place where they differ."""
    told = [one_line("not known" if one is None else one or "(empty)") for one in values]
    long = {one for one in told if len(one) > most}
    differ = next((at for at, seen in enumerate(zip(*long, strict=False)) if len(set(seen)) > 1), 0)
    if (begin := differ - most // 4) > 0:
        told = [f"…{one[begin:]}" if one in long else one for one in told]
    return [one if len(one) <= most else f"{one[: most - 1]}…" for one in told]


def _notes(summary: Summary) -> list[str]:
    return [f"{label} is left out: {reason}" for label, reason in summary.left_out]


def _text(summary: Summary) -> str:
    table = columns(_HEAD, [_cells(row) for row in summary.rows], md=False, right=_RIGHT)
    unlike = (f"  {line}" for line in unlikes(summary))
    return "\n".join([heading(summary), *unlike, "", table, *map(one_line, _notes(summary))])


def _markdown(summary: Summary) -> str:
    table = columns(_HEAD, [_cells(row) for row in summary.rows], md=True, right=_RIGHT)
    unlike = unlikes(summary)
    above = ["", *(f"- {written(line, md=True)}" for line in unlike)] if unlike else []
    head = [f"**{written(heading(summary), md=True)}**", *above, ""]
    return "\n".join([*head, table, "", *(f"- {written(note, md=True)}" for note in _notes(summary))])
