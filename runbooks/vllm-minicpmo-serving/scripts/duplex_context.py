"""What a duplex session costs of the model's context, and whether a clip of some length fits.

The page's figures, for 960x540 frames: 79 tokens a second with one frame a second, 277 with stacked frames; of
these 66 and 264 are the pictures'. What is left, 13 a second, is the audio's in both. A session cannot drop old
units, so one that outgrows the context ends with an error.
"""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

CONTEXT_TOKENS = 40_960
SINGLE_FRAME_RATE = 79
STACKED_RATE = 277
FRAME_TOKENS = 66
AUDIO_RATE = SINGLE_FRAME_RATE - FRAME_TOKENS

_PYAV = "import av, sys; c = av.open(sys.argv[1]); print((c.duration or 0) / av.time_base)"


def tokens_per_second(*, video: bool, stack_frames: int = 1, video_fps: float = 1.0) -> float:
    """How fast the prompt grows. Stacked sub-frames share one picture, so their number does not matter."""
    if not video:
        return AUDIO_RATE
    if stack_frames > 1:
        return STACKED_RATE
    # The page gives a rate for one frame a second; more of them cannot cost less than their own tokens.
    return AUDIO_RATE + FRAME_TOKENS * max(1.0, video_fps)


def context_problems(seconds: float, rate: float) -> list[str]:
    """Why a clip does not fit into the context; empty when it does."""
    if not (math.isfinite(seconds) and seconds > 0):
        return [f"{seconds} s is no length of a clip"]
    tokens = math.ceil(seconds * rate)
    if tokens <= CONTEXT_TOKENS:
        return []
    return [
        f"{seconds:.0f} s at {rate:g} tokens a second are {tokens} tokens; the context has {CONTEXT_TOKENS}, "
        f"so at most {math.floor(CONTEXT_TOKENS / rate)} s fit"
    ]


def clip_seconds(path: Path, python: str, given: str) -> float | None:
    """How long a clip is, from ffprobe or PyAV (in vLLM-Omni's Python), else as given; None when nobody knows."""
    ffprobe = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(path)]
    for command in (ffprobe, [python, "-c", _PYAV, str(path)]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
            seconds = float(done.stdout)
        except (OSError, ValueError, subprocess.SubprocessError):
            continue
        if seconds > 0:
            return seconds
    return float(given) if given else None
