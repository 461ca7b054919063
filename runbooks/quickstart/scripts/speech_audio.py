"""WAV bytes in, the 16 kHz samples that a recogniser wants out."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile

RECOGNISER_RATE_HZ = 16_000
LONGEST_AUDIO_S = 120.0
DITHER_LSB = 10.0

Samples = npt.NDArray[np.float64]


class UnusableAudio(ValueError):
    """The bytes are no audio, hold no sample, hold NaN, or are too long; the message says which."""


def read_audio(data: bytes) -> tuple[Samples, int]:
    """Decode an audio file to mono samples in -1..1 and its rate in Hz.

    Reads at most `LONGEST_AUDIO_S` seconds, whatever the header claims; raises `UnusableAudio`.
    """
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as file:
            rate_hz = int(file.samplerate)
            limit = int(LONGEST_AUDIO_S * rate_hz)
            frames: Any = file.read(limit + 1, dtype="float64", always_2d=True)
    except (soundfile.SoundFileError, ValueError) as error:
        raise UnusableAudio(f"the file is not audio that libsndfile reads: {error}") from error
    samples: Samples = np.asarray(frames, dtype=np.float64).mean(axis=1) if len(frames) else np.zeros(0)
    if not len(samples):
        raise UnusableAudio("the file holds no audio samples")
    if len(samples) > limit:
        raise UnusableAudio(f"the audio is longer than {LONGEST_AUDIO_S:g} s")
    if not np.isfinite(samples).all():
        raise UnusableAudio("the audio holds NaN or infinite samples")
    return samples, rate_hz


def resample(samples: Samples, from_hz: int, to_hz: int) -> Samples:
    """Change the rate by cutting or extending the spectrum, which limits the band by construction.

    The input is padded with silence until the ratio of lengths is exactly `to_hz / from_hz`, so time is
    not stretched; the result has `ceil(len(samples) * to_hz / from_hz)` samples.
    """
    if from_hz == to_hz:
        return samples
    divisor = math.gcd(from_hz, to_hz)
    up, down = to_hz // divisor, from_hz // divisor
    # One period more than needed, because the transform joins the end to the beginning.
    padded = (len(samples) // down + 2) * down
    spectrum = np.fft.rfft(samples, padded)
    length = padded * up // down
    kept = np.zeros(length // 2 + 1, dtype=np.complex128)
    shared = min(len(kept), len(spectrum)) - 1
    kept[:shared] = spectrum[:shared]
    wanted = math.ceil(len(samples) * up / down)
    result: Samples = np.fft.irfft(kept, length)[:wanted] * (up / down)
    return result


def to_recogniser_pcm(samples: Samples, rate_hz: int) -> bytes:
    """Turn samples in -1..1 into 16 kHz 16-bit PCM with a floor of noise.

    The model was trained on recordings. A synthesiser's silence is digital zero, which no recording has,
    and whole utterances are lost on it; noise of `DITHER_LSB` (70 dB below full scale) restores a floor. The
    noise is the same for every request, so that a file always becomes the same PCM.
    """
    wide = resample(samples, rate_hz, RECOGNISER_RATE_HZ) * 32767.0
    noise = np.random.default_rng(0).normal(0.0, DITHER_LSB, len(wide))
    pcm: bytes = np.clip(np.rint(wide + noise), -32768, 32767).astype("<i2").tobytes()
    return pcm
