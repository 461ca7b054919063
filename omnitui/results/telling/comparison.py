"""A comparison as text, Markdown, CSV or JSON: what differs first, then the numbers, then what they are worth."""

import csv
import io
from collections.abc import Sequence

import msgspec

from omnitui.results.judging.accept import Outcome
from omnitui.results.judging.compare import Comparison, Side
from omnitui.results.judging.lock import Difference
from omnitui.results.judging.paired import Paired
from omnitui.results.judging.verdicts import Judged
from omnitui.results.table import ARROWS, REHEARSAL, Format, columns, joined, number, values_of, written

SIGNS = {"better": "▲", "worse": "▼", "no difference shown": "=", "cannot be compared": "✘", "described": " "}
RULING_SIGNS = {"accepted": "✔", "refused": "✘", "cannot be judged": "◌"}
_KINDS = {
    "blocks": "✘ no verdict",
    "despite": "! waved through",
    "subject": "● compared",
    "told": "· told",
}
HEAD = ["metric", "unit", "A mean", "A sd", "n", "B mean", "B sd", "n", "B − A", "rel.", "p", "verdict"]
PRIMARY = "* primary: only these have a verdict. The others describe: of twenty, two differ by chance."
_LONG = 60


def render(found: Comparison, form: Format) -> str:
    """The comparison in the format that was asked for."""
    if form == "json":
        return msgspec.json.format(msgspec.json.encode(as_data(found)), indent=2).decode()
    if form == "csv":
        return _csv(found)
    md = form == "md"
    parts = [_head(found, md=md), _differences(found, md=md), _metrics(found, md=md), _reasons(found, md=md)]
    parts += [_rules(found, md=md), _samples(found.samples, md=md)]
    return "\n\n".join(filter(None, parts))


def as_data(found: Comparison) -> dict[str, object]:
    """Everything, for JSON. `accepted` is null where nothing was asked."""
    body: dict[str, object] = msgspec.to_builtins(found)
    return {**body, "accepted": found.accepted if found.rules else None}


def _head(found: Comparison, *, md: bool) -> str:
    lines = [found.title, f"A  {side(found.a)}", f"B  {side(found.b)}"]
    for one, name in ((found.a, "A"), (found.b, "B")):
        lines += [f"{name}: {which} is left out: {reason}" for which, reason in one.left_out]
    lines = [written(line, md=md) for line in lines]
    lines[0] = f"# {lines[0]}" if md else lines[0]
    rehearsed = [REHEARSAL] if found.a.rehearsal or found.b.rehearsal else []
    return ("\n\n" if md else "\n").join([*rehearsed, *lines])


def side(one: Side) -> str:
    """One group in one line: its name, how many passes are averaged, what they measured."""
    facts = [f"commit {one.commit}" if one.commit else "", one.gpu]
    count = f"{len(one.passes)} pass{'' if len(one.passes) == 1 else 'es'}"
    return ", ".join(filter(None, [f"{one.name}: {count}", *facts]))


def _differences(found: Comparison, *, md: bool) -> str:
    if not found.differences:
        return "Provenance: nothing differs." if found.a.passes and found.b.passes else ""
    return columns(["", "what differs", "A", "B", "why"], difference_rows(found.differences), md=md)


def difference_rows(found: Sequence[Difference]) -> list[list[str]]:
    """The rows of what differs: what it is to the comparison, the key, both sides, why it stands there."""
    rows = []
    for one in found:
        told = values_of([*one.a, *one.b], _LONG)
        a, b = (" | ".join(mine) for mine in (told[: len(one.a)], told[len(one.a) :]))
        rows.append([_KINDS[one.kind], one.key, a, b, one.why])
    return rows


def despites(found: Sequence[Difference]) -> str:
    """The keys that were waved through, for a line under every verdict."""
    waved = [one.key for one in found if one.kind == "despite"]
    return f"Compared despite: {', '.join(waved)}." if waved else ""


def _metrics(found: Comparison, *, md: bool) -> str:
    return columns(HEAD, [cells(one) for one in found.metrics], md=md, right=range(2, 11))


def cells(one: Judged) -> list[str]:
    """The row of a metric under `HEAD`."""
    return [
        f"{one.metric} {ARROWS.get(one.direction, '')}{' *' if one.primary else ''}".strip(),
        one.unit,
        *(number(one.a.mean), number(one.a.stdev), str(len(one.a.values))),
        *(number(one.b.mean), number(one.b.stdev), str(len(one.b.values))),
        "–" if one.difference is None else f"{one.difference:+.4g}",
        percent(one.relative),
        "–" if one.p is None else f"{one.p:.2g}",
        f"{SIGNS[one.verdict]} {one.verdict}".strip(),
    ]


def percent(share: float | None) -> str:
    """A share as per cent; a missing one is a dash."""
    return "–" if share is None else f"{share:+.2%}"


def reason_of(one: Judged) -> str:
    """Why a primary metric has its verdict, what would decide, and what may explain it."""
    parts = [f"{one.metric}: {one.verdict}: {one.reason}"]
    if one.floor is not None:
        parts.append(f"noise floor ±{number(one.floor)} {one.unit}".rstrip())
    if one.more:
        parts.append(f"{one.more} more pass{'es' * (one.more > 1)} of each could bring p to 0.05 or below")
    if one.guards:
        told = ", ".join(f"{g.metric} {percent(g.relative)}{' (ranges apart)' * g.moved}" for g in one.guards)
        parts.append(f"beside it: {told}")
    return "; ".join(parts)


def _reasons(found: Comparison, *, md: bool) -> str:
    lines = [f"Cannot be compared: {found.locked}."] if found.locked else []
    lines += filter(None, [despites(found.differences)])
    lines += [reason_of(one) for one in found.metrics if one.primary and not found.locked]
    lines += [PRIMARY, found.noise]
    return "\n".join(("- " if md else "") + written(line, md=md) for line in lines)


def _samples(found: Sequence[Paired], *, md: bool) -> str:
    if not found:
        return ""
    table = columns(SAMPLES_HEAD, sample_rows(found), md=md, right=range(2, 8))
    notes = (("- " if md else "") + written(note, md=md) for note in sample_notes(found))
    return "\n".join([table, *([""] if md else []), *notes])


SAMPLES_HEAD = ["sample by sample", "unit", "pairs", "B lower", "equal", "B higher", "median B − A", "sign p"]


def sample_rows(found: Sequence[Paired]) -> list[list[str]]:
    """The rows of the paired samples, under `SAMPLES_HEAD`."""
    return [
        [
            *(one.id, one.unit, str(one.pairs), str(one.lower), str(one.equal), str(one.higher)),
            "–" if one.median is None else f"{one.median:+.3g}",
            "–" if one.p is None else f"{one.p:.2g}",
        ]
        for one in found
    ]


def sample_notes(found: Sequence[Paired]) -> list[str]:
    """What of the samples has no pair or cannot be read, and what they are worth."""
    notes = [
        f"{one.id}: only in A {one.only_a}, only in B {one.only_b}" for one in found if one.only_a or one.only_b
    ]
    notes += [f"{one.id}: {reason}" for one in found for reason in one.unread[:3]]
    return [*notes, "Descriptive: the samples of one pass share its server and its moment."]


def _rules(found: Comparison, *, md: bool) -> str:
    if not found.rules:
        return ""
    gap = "\n\n" if md else "\n"
    return f"{written(ruling(found), md=md)}{gap}{columns(RULES_HEAD, rule_rows(found.rules), md=md)}"


RULES_HEAD = ["", "rule", "B against it"]


def ruling(found: Comparison) -> str:
    """All rules in one line: whether B is accepted, by how many of them, and which file has them; or nothing."""
    if not found.rules:
        return ""
    counts = [(word, sum(one.ruling == word for one in found.rules)) for word in RULING_SIGNS]
    told = ", ".join(f"{count} {word}" for word, count in counts if count)
    whole = "✔ B is accepted" if found.accepted else "✘ B is not accepted"
    return f"{whole}: {told}, by the rules in {found.rules_from}"


def rule_rows(found: Sequence[Outcome]) -> list[list[str]]:
    """The rows of the operator's rules, under `RULES_HEAD`."""
    return [
        [
            f"{RULING_SIGNS[one.ruling]} {one.ruling}",
            f"{one.metric} {one.rule}",
            one.reason + (f"; {one.why}" if one.why else ""),
        ]
        for one in found
    ]


def _csv(found: Comparison) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    head = ["metric", "unit", "direction", "primary", "verdict", "reason", "difference", "relative", "p"]
    for side in "ab":
        head += [f"{side}_{name}" for name in ("mean", "stdev", "min", "max", "n", "values")]
    head += ["rehearsal", "left_out"]
    writer.writerow([*head, "noise_floor", "locked", "despite", "rules"])
    rehearsal = str(found.a.rehearsal or found.b.rehearsal).lower()
    sides = (("A", found.a), ("B", found.b))
    left_out = joined((f"{name} {which}", why) for name, one in sides for which, why in one.left_out)
    waved = " ".join(one.key for one in found.differences if one.kind == "despite")
    for one in found.metrics:
        line: list[object] = [
            one.metric,
            one.unit,
            one.direction,
            str(one.primary).lower(),
            one.verdict,
            one.reason,
        ]
        line += [one.difference, one.relative, one.p]
        for row in (one.a, one.b):
            line += [row.mean, row.stdev, row.minimum, row.maximum, len(row.values)]
            line.append(" ".join(map(str, row.values)))
        line += [rehearsal, left_out]
        writer.writerow([*line, one.floor, found.locked, waved, _told_rules(found.rules, one.metric)])
    for name in dict.fromkeys(one.metric for one in found.rules):
        if name not in {one.metric for one in found.metrics}:
            writer.writerow([name, *[""] * (len(head) + 2), _told_rules(found.rules, name)])
    return out.getvalue().rstrip("\n")


def _told_rules(rules: Sequence[Outcome], metric: str) -> str:
    return "; ".join(f"{one.rule}: {one.ruling}: {one.reason}" for one in rules if one.metric == metric)
