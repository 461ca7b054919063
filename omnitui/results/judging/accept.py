"""An operator's rules on the numbers: `accept.toml`, evaluated by a comparison.

    [[accept]]
    metric = "seedtts.throughput_qps"
    at_least = "1.02x"             # of the base's mean

    [[accept]]
    metric = "seedtts.wer.wer_corpus"
    at_most = "base + 0.0002"      # or a plain number

What cannot be compared, or has no number, meets no rule: that is told apart from a rule that is broken.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from omnitui import store
from omnitui.errors import UsageError
from omnitui.results.judging.verdicts import Judged, is_number
from omnitui.results.sources import Measured
from omnitui.runbook.load import load

FILE = "accept.toml"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_FACTOR = re.compile(rf"({_NUMBER})\s*x")
_OFFSET = re.compile(rf"base\s*([-+])\s*({_NUMBER})")
_PLAIN = re.compile(_NUMBER)


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule: the mean of B must be at least, or at most, so much."""

    metric: str
    at_least: str = ""
    at_most: str = ""
    why: str = ""


class Rules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole file."""

    accept: tuple[Rule, ...]


Ruling = Literal["accepted", "refused", "cannot be judged"]


class Outcome(Struct, frozen=True):
    """What one rule says of the numbers, and by which of them."""

    metric: str
    rule: str
    ruling: Ruling
    reason: str
    why: str = ""
    """What the rule is for, as its file says."""


class RuleBook(Struct, frozen=True):
    """The rules that are asked, and the file that has them; none without a file."""

    file: str = ""
    rules: tuple[Rule, ...] = ()


def rules_for(passes: Sequence[Measured], given: Path | None = None) -> RuleBook:
    """The rules of a file, else the operator's for the runbook, else those beside it. Raises `OmniError`."""
    names = sorted({str(one.known.get("runbook", "")) for one in passes})
    folders = [one.folder.parents[2] / "runbook" for one in passes]
    own = [*(store.home() / "accept" / f"{name}.toml" for name in names if name), *(f / FILE for f in folders)]
    file = given or next((one for one in own if one.is_file()), None)
    if file is None:
        return RuleBook()
    # The whole runbook: a rule on what this run leaves out is no mistake.
    metrics = [metric.id for metric in load(folders[-1]).metrics] if folders else None
    return RuleBook(str(file), read_rules(file, metrics))


def read_rules(file: Path, metrics: Iterable[str] | None) -> tuple[Rule, ...]:
    """The rules of a file, for metrics that exist, if these are known. Raises `UsageError`."""
    try:
        rules = msgspec.toml.decode(file.read_bytes(), type=Rules).accept
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: {error}; a rule has {', '.join(Rule.__struct_fields__)}") from error
    if not rules:
        raise UsageError(f"{file} has no rule: what nothing asks of, nothing accepts")
    known = None if metrics is None else list(metrics)
    for rule in rules:
        if known is not None and rule.metric not in known:
            near = get_close_matches(rule.metric, known, n=1)
            raise UsageError(f"{file}: no metric {rule.metric}" + (f"; did you mean {near[0]}?" if near else ""))
        if bool(rule.at_least) == bool(rule.at_most):
            raise UsageError(f"{file}: {rule.metric} needs at_least or at_most, and not both")
        try:
            limit(rule.at_least or rule.at_most, 1.0)
        except UsageError as error:
            raise UsageError(f"{file}: {rule.metric}: {error}") from error
    return rules


def limit(text: str, base: float) -> float:
    """The limit that `1.02x`, `base + 0.0002` or a number means for this base. Raises `UsageError`."""
    words = text.strip()
    if match := _FACTOR.fullmatch(words):
        found = float(match[1]) * base
    elif match := _OFFSET.fullmatch(words):
        found = base + float(match[2]) * (1 if match[1] == "+" else -1)
    else:
        found = float(words) if _PLAIN.fullmatch(words) else math.nan
    if not math.isfinite(found):
        raise UsageError(f"the limit {text!r} is not one of: 1.02x, base + 0.0002, a number")
    return found


def evaluate(rules: Sequence[Rule], judged: Sequence[Judged]) -> tuple[Outcome, ...]:
    """Every rule; one that has no figure to look at cannot be judged."""
    found: Mapping[str, Judged] = {one.metric: one for one in judged}
    return tuple(_evaluate(rule, found.get(rule.metric)) for rule in rules)


def _evaluate(rule: Rule, judged: Judged | None) -> Outcome:
    ruling, reason = _ruled(rule, judged)
    text = f"at least {rule.at_least}" if rule.at_least else f"at most {rule.at_most}"
    return Outcome(rule.metric, text, ruling, reason, rule.why)


def _ruled(rule: Rule, judged: Judged | None) -> tuple[Ruling, str]:
    if judged is None:
        return "cannot be judged", "not measured here"
    if judged.verdict == "cannot be compared":
        return "cannot be judged", judged.reason
    base, mean = judged.a.mean, judged.b.mean
    if base is None or mean is None or not is_number(base) or not is_number(mean):
        return "cannot be judged", "there is no number"
    bound = limit(rule.at_least or rule.at_most, base)
    if base <= 0 and _FACTOR.fullmatch((rule.at_least or rule.at_most).strip()):
        return "cannot be judged", f"a share of {base:.6g} says nothing; write base + a number"
    # Written so that a NaN meets nothing.
    met = mean >= bound if rule.at_least else mean <= bound
    sign = ("≥" if met else "<") if rule.at_least else ("≤" if met else ">")
    return "accepted" if met else "refused", f"{mean:.6g} {sign} {bound:.6g}"
