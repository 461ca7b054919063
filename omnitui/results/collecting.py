"""What a pass's output folder holds, read once: coverage, metrics, audio. Used for runs and for imports alike."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from omnitui.gates import Green, judge_coverage
from omnitui.readings import CoverageReading
from omnitui.results.audio import AudioCheck
from omnitui.results.coverage import read_coverage, told
from omnitui.results.files import content_of
from omnitui.results.passes import read_metrics
from omnitui.results.table import number, one_line
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import expand, names_in


class Collected(Struct, frozen=True):
    """All that was read of one pass."""

    coverage: CoverageReading
    metrics: Mapping[str, float]
    audio: Mapping[str, AudioCheck]
    reasons: tuple[str, ...]
    """Why it is not complete; empty when it is."""

    @property
    def complete(self) -> bool:
        """Whether every workload has all its samples and every metric a number."""
        return not self.reasons

    @property
    def rates(self) -> tuple[int, ...]:
        """Sample rates of the audio, Hz."""
        return tuple(sorted({rate for check in self.audio.values() for rate in check.rates}))

    @property
    def page(self) -> dict[str, object]:
        """The pages' own `metrics.json`: the same keys, so that their scripts go on working."""
        return {"metrics": dict(self.metrics), "rates": list(self.rates), "complete": self.complete}

    def lines(self) -> list[str]:
        """What a collect step prints."""
        said = [f"{name} {number(value)}" for name, value in self.metrics.items()]
        for name, check in self.audio.items():
            rates = f", {', '.join(map(str, check.rates))} Hz" if check.rates else ""
            said.append(f"audio.{name} {check.files} files{rates}")
        said += [f"coverage.{one.id} {told(one)}" for one in self.coverage.workloads]
        said += [f"wrong: {reason}" for reason in self.reasons]
        why = f"{len(self.reasons)} wrong, told above" if self.reasons else judge_coverage(self.coverage).reason
        said.append(f"coverage.complete {self.complete}: {why}")
        # An id from a file is no word on a line of its own, which a gate would take for one.
        return [one_line(line) for line in said]


def read_output(runbook: Runbook, out: Path, values: Mapping[str, str], not_before: float = 0.0) -> Collected:
    """Read the output of a pass; `not_before` (epoch seconds) is when it began, if that is known."""
    coverage, audio = read_coverage(runbook, out, values, not_before)
    metrics, missing = read_metrics(runbook, out, values, coverage, not_before)
    coverage = msgspec.structs.replace(coverage, missing=missing)
    if audio:
        metrics["audio.files"] = sum(check.files for check in audio.values())
        metrics["audio.empty_or_nan"] = sum(check.empty_or_nan for check in audio.values())
    verdict = judge_coverage(coverage)
    reasons = () if isinstance(verdict, Green) else tuple(verdict.reason.split("; "))
    return Collected(coverage, metrics, audio, reasons)


def sha256_of(whole: Runbook, out: Path, values: Mapping[str, str]) -> str:
    """The SHA-256 of all result files in a pass's output folder; empty when it has none that can be read.

    Of the whole runbook, whatever its variables leave of it: a folder that is taken in for fewer of its parts, or
    a copy of it, is the same measurement.
    """
    files = dict.fromkeys((*(one.file for one in whole.workloads), *(one.file for one in whole.metrics)))
    # A variable that nobody has told leads to no file.
    return content_of(out / expand(file, {**dict.fromkeys(names_in(file), "?"), **values}) for file in files)
