"""What the operator names: a run, a series, a pass, or whatever the catalog finds; as one group of passes."""

import re
from collections.abc import Sequence
from pathlib import Path

from omnitui.errors import UsageError
from omnitui.results import catalog
from omnitui.results.catalog.rows import column_of
from omnitui.results.judging.compare import Group
from omnitui.results.sources import IMPORTS, Source, find, measured_in, of_folder, of_import
from omnitui.runbook.schema import Runbook
from omnitui.store import RunFolder

_SELECTOR = re.compile(r"[a-z_]+=")


def group(text: str) -> Group:
    """`RUN`, `RUN/SERIES`, `RUN/SERIES/PASS`, or selectors: `runbook=asr,commit=5ed8a8d`. Raises `UsageError`."""
    if _SELECTOR.match(text):
        return _selected(text)
    if Path(text).is_dir():
        return _of_source(find(text), "", "", text)
    name, _, rest = text.partition("/")
    series, _, label = rest.partition("/")
    return _of_source(find(name), series, label, text)


def _of_source(source: Source, series: str, label: str, text: str) -> Group:
    names = series_of(source)
    if not series and len(names) > 1:
        ways = " or ".join(f"{source.name}/{name}" for name in names)
        raise UsageError(f"{text} has {len(names)} series; name one: {ways}")
    chosen = series or (names[0] if names else "")
    fits = [one for one in source.passes if one.result.series == chosen and label in ("", one.result.label)]
    if not fits:
        what = f"pass {chosen}/{label}" if label else f"series {chosen}" if chosen else "pass"
        there = ", ".join(f"{one.result.series}/{one.result.label}" for one in source.passes) or "none"
        raise UsageError(f"{source.name} has no {what}; its passes: {there}")
    return Group(f"{source.name}/{chosen}" + (f"/{label}" if label else ""), source.runbook, tuple(fits))


def series_of(source: Source) -> list[str]:
    """The series of a run, in order."""
    return list(dict.fromkeys(one.result.series for one in source.passes))


def two_series(text: str, otherwise: str) -> tuple[Group, Group]:
    """The two series of a run. Raises `UsageError` when it has another number of them: what to do `otherwise`."""
    source = find(text)
    names = series_of(source)
    if len(names) != 2:
        raise UsageError(f"{source.name} has {len(names)} series, not two; {otherwise}")
    first, second = (_of_source(source, name, "", text) for name in names)
    return first, second


def _selected(text: str) -> Group:
    wanted = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not value:
            raise UsageError(f"{part!r} is no selector; write for example runbook=asr,commit=5ed8a8d")
        column_of(name)
        wanted.append((name, value))
    rows = catalog.select(wanted)
    for name, value in wanted:
        # The catalog finds beginnings; series=a is another one than ab where there is an a.
        exact = [row for row in rows if getattr(row, column_of(name)) == value]
        rows = exact or rows
    if not rows:
        raise UsageError(f"no pass has {text}; `omnitui runs` lists the runs")
    folders = [Path(row.folder) for row in rows]
    passes = tuple(measured_in(folder, row.run) for folder, row in zip(folders, rows, strict=True))
    return Group(text, _runbook(folders, text, [row.runbook for row in rows]), passes)


def _runbook(folders: Sequence[Path], text: str, names: Sequence[str]) -> Runbook:
    if len(set(names)) > 1:
        raise UsageError(f"{text} finds passes of {', '.join(sorted(set(names)))}; add runbook=...")
    newest = folders[-1].parents[2]
    source = of_import(newest) if newest.parent.name == IMPORTS else of_folder(RunFolder(newest))
    return source.runbook
