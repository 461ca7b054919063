"""A schedule as a text to read before a run: its passes, what each series sets, and what it took before."""

from collections.abc import Iterator, Mapping

from textual.content import Content

from omnitui.errors import UsageError
from omnitui.history import Times, Took
from omnitui.plan import Plan
from omnitui.runbook.schema import Runbook, Schedule
from omnitui.runbook.variables import BUILT_IN, resolved
from omnitui.sanitise import plain
from omnitui.ui.signs import spoken


def schedule_text(
    runbook: Runbook, schedule: Schedule, plan: Plan, values: Mapping[str, str], times: Times
) -> Content:
    """All that is known of a schedule with these values; `plan` holds the steps that they leave."""
    lines = [Content.styled(plain(schedule.title) if schedule.order else "No passes", "bold")]
    lines += [Content.styled(plain(line), "$text-muted") for line in schedule.note.strip().splitlines()]
    lines += _series(runbook, schedule, values)
    lines += _passes(runbook, schedule, times)
    passes = len(schedule.order)
    steps = f"{len(plan)} steps in {passes} pass{'es' * (passes != 1)} and what comes once"
    steps = steps if passes else f"{len(plan)} steps, each once"
    lines.append(Content.styled(steps, "$text-muted"))
    if times.run:
        lines.append(Content(f"earlier runs took {_told(times.run)}"))
    return Content("\n").join(lines)


def _series(runbook: Runbook, schedule: Schedule, values: Mapping[str, str]) -> Iterator[Content]:
    # What a step hands on, and what is not given yet, stays a name.
    names = {name: f"${{{name}}}" for name in (*BUILT_IN, *runbook.variables) if not values.get(name)}
    given = {name: value for name, value in values.items() if value}
    for series, own in schedule.series.items():
        try:
            known = resolved({**given, **own}, {name: text for name, text in names.items() if name not in own})
        except UsageError:
            known = dict(own)
        told = ", ".join(f"{name}={known[name]}" for name in own)
        yield Content.assemble((f"{plain(series)}: ", "bold"), plain(told))


def _passes(runbook: Runbook, schedule: Schedule, times: Times) -> Iterator[Content]:
    several = len({entry.partition("/")[0] for entry in schedule.order}) > 1
    names = {entry: entry.replace("/", " ", 1) if several else entry.partition("/")[2] for entry in schedule.order}
    width = max(map(len, names.values()), default=0)
    for number, (entry, name) in enumerate(names.items(), 1):
        unscored = entry.partition("/")[2] in runbook.passes.unscored
        scored = ("not scored", "$text-muted") if unscored else ("scored    ", "")
        took = f"  {spoken(times.passes[entry].seconds)}" if entry in times.passes else ""
        yield Content.assemble(
            (f"{number:>3}  ", "$text-muted"), plain(name).ljust(width), "  ", scored, (took, "$text-muted")
        )


def _told(took: Took) -> str:
    return f"{spoken(took.seconds)} ({took.runs} run{'s' * (took.runs != 1)})"
