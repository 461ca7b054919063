"""A sound as the loudest moment of each of so many stretches."""

import os
from pathlib import Path

from msgspec import Struct

_BLOCK = 1 << 16
_MOST_S = 3600


class Waveform(Struct, frozen=True):
    """`peaks` are from 0 to 1; `error` says why there are none."""

    peaks: tuple[float, ...] = ()
    seconds: float = 0.0
    rate: int = 0
    error: str = ""


def waveform(file: Path, columns: int) -> Waveform:
    """Read a sound block by block."""
    import numpy as np  # noqa: PLC0415 - 90 ms that only a waveform needs
    import soundfile as sf  # noqa: PLC0415

    try:
        with sf.SoundFile(os.fsencode(file)) as sound:
            rate, frames = int(sound.samplerate), min(len(sound), _MOST_S * int(sound.samplerate))
            # A header may claim hours that are not there: what is read decides.
            loud = np.zeros(max(1, columns))
            read = 0
            each = max(1, -(-frames // max(1, columns)))
            for block in sound.blocks(blocksize=min(each, _BLOCK), dtype="float32", always_2d=True):
                column = min(read // each, columns - 1)
                loud[column] = max(loud[column], float(np.nan_to_num(np.abs(block)).max(initial=0.0)))
                read += len(block)
                if read >= frames:
                    break
    except (sf.LibsndfileError, RuntimeError, OSError) as error:
        return Waveform(error=f"{file.name} cannot be read ({error})")
    if not read:
        return Waveform(rate=rate, error=f"{file.name} is empty")
    return Waveform(tuple(float(one) for one in loud), read / rate, rate)
