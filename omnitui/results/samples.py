"""The samples of a pass: one record for each id, put together from the files of its folder."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from omnitui.errors import UsageError
from omnitui.results.files import ResultError, read_json, search
from omnitui.runbook.schema import Runbook
from omnitui.runbook.variables import expand

_REFERENCE = ("ref_norm", "expected_normalized", "target_text", "expected_text", "reference", "expected", "text")
_HYPOTHESIS = ("hyp_norm", "result_normalized", "whisper_text", "result_text", "hypothesis", "predicted")
_ERROR_RATE = ("wer", "cer_no_spk", "cer")
_SOUND = ("wav_path", "audio_path")
_TOKENS = ("completion_tokens", "output_tokens")


class Sample(Struct, frozen=True):
    """One sample. A figure that nobody wrote is None; `rate` is its WER, or CER, and may exceed 1."""

    id: str
    rate: float | None
    latency_s: float | None
    tokens: float | None
    audio_s: float | None
    failed: str
    """Why it has no result; empty when it has one."""
    reference: str
    hypothesis: str
    wav: str
    """Where its sound lies here, or where it lay when it was measured."""
    there: bool
    fields: Mapping[str, str]
    """Everything else that the files tell of it."""


class SampleSet(Struct, frozen=True):
    """The samples of one folder of results, with why a file of them cannot be read."""

    name: str
    samples: tuple[Sample, ...]
    unread: tuple[str, ...] = ()


class _Source(Struct, frozen=True):
    file: str
    rows: str
    key: str
    audio: str = ""


def sample_sets(runbook: Runbook, out: Path, values: Mapping[str, str]) -> tuple[SampleSet, ...]:
    """The samples of a pass whose output is in `out`, by the folder in which their files lie."""
    folders: dict[str, list[_Source]] = {}
    for one in _sources(runbook, values):
        folders.setdefault(str(Path(one.file).parent), []).append(one)
    return tuple(_read(name, sources, out) for name, sources in folders.items())


def _sources(runbook: Runbook, values: Mapping[str, str]) -> Iterator[_Source]:
    seen: set[str] = set()
    for workload in runbook.workloads:
        if workload.rows:
            file = _expanded(workload.file, values)
            seen.add(file)
            yield _Source(file, workload.rows, workload.key, _expanded(workload.audio, values))
    for samples in runbook.samples:
        file = _expanded(samples.file, values)
        if file not in seen:
            seen.add(file)
            yield _Source(file, samples.rows, samples.key)


def _expanded(text: str, values: Mapping[str, str]) -> str:
    try:
        return expand(text, values)
    except UsageError:
        # What is not known of a pass that was taken in: the file is then not found, and that is told.
        return text


def _read(name: str, sources: list[_Source], out: Path) -> SampleSet:
    merged: dict[str, dict[str, Any]] = {}
    unread: list[str] = []
    for one in sources:
        try:
            rows = search(one.rows, read_json(out / one.file))
        except ResultError as error:
            unread.append(str(error))
            continue
        if not isinstance(rows, list):
            unread.append(f"{one.file}: {one.rows} is no list")
            continue
        for row in rows:
            if isinstance(row, dict) and row.get(one.key) is not None:
                known = merged.setdefault(str(row[one.key]), {})
                # A file that lacks a field, or has it empty, takes nothing from another that tells it.
                known.update(
                    {key: value for key, value in row.items() if value not in (None, "") or key not in known}
                )
    folder = out / name
    # Known by its stem: the path in the file is of the machine that measured.
    sounds = {wav.stem: wav for pattern in {s.audio for s in sources if s.audio} for wav in out.glob(pattern)}
    sounds = sounds or {wav.stem: wav for wav in folder.glob("audio/*.wav")}
    samples = tuple(_sample(ident, row, sounds.get(ident)) for ident, row in merged.items())
    return SampleSet(name, samples, tuple(unread))


def _sample(ident: str, row: Mapping[str, Any], sound: Path | None) -> Sample:
    reference, hypothesis = _first(row, _REFERENCE), _first(row, _HYPOTHESIS)
    used = {*_REFERENCE, *_HYPOTHESIS, *_SOUND, "error", "is_success"}
    wav = str(sound or _first(row, _SOUND))
    return Sample(
        id=ident,
        rate=_number(row, _ERROR_RATE),
        latency_s=_number(row, ("latency_s",)),
        tokens=_number(row, _TOKENS),
        audio_s=_number(row, ("audio_duration_s",)),
        failed=_failed(row),
        reference=reference,
        hypothesis=hypothesis,
        wav=wav,
        there=bool(wav) and Path(wav).is_file(),
        fields={key: _told(value) for key, value in row.items() if key not in used},
    )


def _failed(row: Mapping[str, Any]) -> str:
    if row.get("is_success") is False or row.get("error"):
        return str(row.get("error") or "failed")
    return ""


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((str(row[name]) for name in names if isinstance(row.get(name), str)), "")


def _number(row: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    for name in names:
        value = row.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    return None


def _told(value: object) -> str:
    return "–" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)[:400]
