"""Checking WAV files: there, whole, not empty, not silent, finite, and as long as their header says."""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

_STREAMED = 0x7FFFF000
"""From here on the length in a RIFF header stands for "not known"."""


class AudioCheck(Struct, frozen=True):
    """What is wrong with the audio of one workload, and the sample rates seen (Hz)."""

    files: int
    wrong: tuple[str, ...]
    rates: tuple[int, ...]
    empty_or_nan: int


def check_audio(files: Iterable[Path]) -> AudioCheck:
    """Read every file whole; a header alone can claim hours that are not there."""
    wrong: list[str] = []
    rates: set[int] = set()
    count = bad = 0
    for file in files:
        count += 1
        reason, rate = _look(file)
        if rate:
            rates.add(rate)
        if reason:
            wrong.append(f"{file.name} {reason}")
            bad += reason != "is silent"
    return AudioCheck(count, tuple(wrong), tuple(sorted(rates)), bad)


def _look(file: Path) -> tuple[str, int]:
    import numpy as np  # noqa: PLC0415 - 90 ms that only this check needs
    import soundfile as sf  # noqa: PLC0415

    try:
        with sf.SoundFile(file) as sound:
            claimed, rate = len(sound), int(sound.samplerate)
            samples = sound.read(dtype="float32", always_2d=True)
    except (sf.LibsndfileError, RuntimeError, OSError) as error:
        return f"cannot be read ({error})", 0
    if samples.size == 0:
        return "is empty", rate
    if len(samples) != claimed:
        return f"claims {claimed} frames and has {len(samples)}", rate
    if cut := _missing_bytes(file):
        return f"lacks {cut} bytes that its header claims", rate
    if not np.isfinite(samples).all():
        return "has samples that are not finite", rate
    return ("", rate) if samples.any() else ("is silent", rate)


def _missing_bytes(file: Path) -> int:
    """How many bytes of samples a RIFF header claims and the file lacks: libsndfile takes what is there."""
    with file.open("rb") as riff:
        head = riff.read(12)
        if head[:4] != b"RIFF" or head[8:] != b"WAVE":
            return 0
        while len(chunk := riff.read(8)) == 8:
            size = int.from_bytes(chunk[4:], "little")
            if chunk[:4] == b"data":
                # A server that streams cannot know the length, and writes the largest one.
                there = file.stat().st_size - riff.tell()
                return max(0, size - there) if size < _STREAMED else 0
            riff.seek(size + size % 2, 1)
    return 0
