"""WAV files: what the header says, whether the data is all there, and whether anything can be heard.

The standard library's `wave` reads no float samples and believes the header's length; servers stream WAVs whose
header does not know it.
"""

from __future__ import annotations

import math
import struct
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

INPUT_RATE_HZ = 16_000
OUTPUT_RATE_HZ = 24_000
_PCM, _FLOAT, _EXTENSIBLE = 1, 3, 0xFFFE
_UNKNOWN_LENGTHS = (0, 0x7FFFFFFF, 0xFFFFFFFF)


class UnreadableWav(ValueError):
    """The file is no WAV, or is cut off. The message says which."""


class Wav(NamedTuple):
    """What a WAV holds. `peak` is 0 to 1, NaN when a sample is no number, None for sample formats not decoded."""

    rate_hz: int
    channels: int
    bits: int
    pcm: bool
    frames: int
    peak: float | None

    @property
    def seconds(self) -> float:
        """How long it plays."""
        return self.frames / self.rate_hz if self.rate_hz else 0.0


def read_wav(path: Path) -> Wav:
    """Read a WAV file whole. Raises `UnreadableWav`, or OSError when the file cannot be read."""
    data = path.read_bytes()
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise UnreadableWav("is no WAV file")
    header: tuple[int, int, int, int] | None = None
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], struct.unpack_from("<I", data, at + 4)[0]
        body = data[at + 8 : at + 8 + size]
        if name == b"fmt " and len(body) >= 16:
            header = _header(body)
        elif name == b"data" and header:
            # A streamed WAV is written before its length is known.
            body = data[at + 8 :] if size in _UNKNOWN_LENGTHS else body
            if size not in _UNKNOWN_LENGTHS and len(body) < size:
                raise UnreadableWav(
                    f"is cut off: its header promises {size} bytes of sound, {len(body)} are there"
                )
            return _wav(header, body)
        at += 8 + size + size % 2
    raise UnreadableWav("holds no sound")


def _header(body: bytes) -> tuple[int, int, int, int]:
    kind, channels, rate_hz, _, _, bits = struct.unpack_from("<HHIIHH", body)
    if kind == _EXTENSIBLE and len(body) >= 26:
        kind = struct.unpack_from("<H", body, 24)[0]
    return kind, channels, rate_hz, bits


def _wav(header: tuple[int, int, int, int], body: bytes) -> Wav:
    kind, channels, rate_hz, bits = header
    width = channels * bits // 8
    if kind not in (_PCM, _FLOAT) or not width or not rate_hz:
        raise UnreadableWav(f"has a sample format that is not known here ({kind}, {bits} bits)")
    frames = len(body) // width
    peak = _peak(kind, bits, body[: frames * width])
    return Wav(rate_hz, channels, bits, kind == _PCM, frames, peak)


def _peak(kind: int, bits: int, body: bytes) -> float | None:
    code = {(_PCM, 16): "h", (_FLOAT, 32): "f", (_FLOAT, 64): "d"}.get((kind, bits))
    if code is None:
        return None
    samples: array[float] = array(code)
    samples.frombytes(body)
    if sys.byteorder == "big":
        samples.byteswap()
    if not samples:
        return 0.0
    if any(map(math.isnan, samples)):
        return math.nan
    full = 32768.0 if code == "h" else 1.0
    return max(abs(min(samples)), abs(max(samples))) / full


def input_problems(path: Path) -> list[str]:
    """Why a WAV cannot be streamed to the duplex endpoint, which takes 16 kHz mono 16-bit PCM."""
    try:
        wav = read_wav(path)
    except (OSError, UnreadableWav) as error:
        return [_unread(path, error)]
    found = []
    if wav.rate_hz != INPUT_RATE_HZ:
        found.append(f"{wav.rate_hz} Hz instead of {INPUT_RATE_HZ}")
    if wav.channels != 1:
        found.append(f"{wav.channels} channels instead of 1")
    if not wav.pcm or wav.bits != 16:
        found.append(f"{wav.bits}-bit {'PCM' if wav.pcm else 'float'} instead of 16-bit PCM")
    if not wav.frames:
        found.append("no sound")
    return [f"{path} must be 16 kHz mono 16-bit PCM: it has {', '.join(found)}"] if found else []


def speech_problems(paths: Sequence[Path]) -> list[str]:
    """What is wrong with the 24 kHz mono WAVs of one answer. A pause may be silent, a whole answer may not."""
    problems = []
    loudest = 0.0
    for path in paths:
        try:
            wav = read_wav(path)
        except (OSError, UnreadableWav) as error:
            problems.append(_unread(path, error))
            continue
        if (wav.rate_hz, wav.channels) != (OUTPUT_RATE_HZ, 1):
            problems.append(f"{path.name} is {wav.rate_hz} Hz with {wav.channels} channels, not 24 kHz mono")
        if not wav.frames:
            problems.append(f"{path.name} is empty")
        if wav.peak is not None and not math.isfinite(wav.peak):
            problems.append(f"{path.name} has samples that are no numbers")
        loudest = max(loudest, 1.0 if wav.peak is None else wav.peak)
    if paths and not problems and not loudest:
        problems.append(f"nothing can be heard in {', '.join(path.name for path in paths[:3])}")
    return problems


def _unread(path: Path, error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{path} cannot be read: {error.strerror or error}"
    return f"{path} {error}"
