"""Checking WAV files: there, whole, not empty, not silent, finite, and as long as their header says."""

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

_STREAMED = 0x7FFFF000
"""From here on the length in a RIFF header stands for "not known"."""
_BLOCK = 1 << 20
"""Frames that are looked at together: a header that claims hours then takes no memory."""


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
            # A name may be no UTF-8, and could not be stored.
            wrong.append(f"{os.fsencode(file.name).decode(errors='replace')} {reason}")
            bad += reason != "is silent"
    return AudioCheck(count, tuple(wrong), tuple(sorted(rates)), bad)


def _look(file: Path) -> tuple[str, int]:
    import numpy as np  # noqa: PLC0415 - 90 ms that only this check needs
    import soundfile as sf  # noqa: PLC0415

    if file.exists() and not file.is_file():
        return "cannot be read (it is no file)", 0
    there, finite, loud = 0, True, False
    try:
        with sf.SoundFile(os.fsencode(file)) as sound:
            claimed, rate = len(sound), int(sound.samplerate)
            block = np.empty((min(claimed, _BLOCK), sound.channels), dtype="float32")
            while len(samples := sound.read(out=block)):
                there += len(samples)
                finite = finite and bool(np.isfinite(samples).all())
                loud = loud or bool(samples.any())
    except (sf.LibsndfileError, RuntimeError, OSError) as error:
        return f"cannot be read ({error})", 0
    if not there:
        return "is empty", rate
    if there != claimed:
        return f"claims {claimed} frames and has {there}", rate
    if cut := _missing_bytes(file):
        return f"lacks {cut} bytes that its header claims", rate
    if not finite:
        return "has samples that are not finite", rate
    return ("", rate) if loud else ("is silent", rate)


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
